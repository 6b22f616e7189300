"""``cookbook bench``: systems against the clock, live, on the same questions in turn."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cookbook.cli.output import JsonFlag, command, counting, print_json
from cookbook.cli.record import environment
from cookbook.errors import ConfigError
from cookbook.show import screen, show_table

if TYPE_CHECKING:
    from cookbook.eval.timing import Timed


@command
def bench(
    eval_set: Annotated[
        str, typer.Option("--set", help="The eval set whose questions are asked, or squad.")
    ] = "larkspur",
    systems: Annotated[str, typer.Option(help="Names from `cookbook systems`; the first is the base.")] = (
        "vanilla,handbook_graph,lean"
    ),
    questions: Annotated[int, typer.Option(min=1, help="How many, spread over the kinds of question.")] = 16,
    k: Annotated[int, typer.Option(min=1, help="Passages per retrieval.")] = 5,
    out: Annotated[
        Path | None, typer.Option(help="Keep every timing in this JSON file, and go on from it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Time systems on a live model and print the ratios of their medians."""
    from cookbook.eval.run import open_setup
    from cookbook.eval.sets import in_turn
    from cookbook.eval.timing import alternate, keep, kept, ratios, report, setting_of
    from cookbook.providers import LLMClient
    from cookbook.systems import build, entry

    # What is named wrongly is said before anything is opened.
    names = [name.strip() for name in systems.split(",") if name.strip()]
    if not names:
        raise ConfigError("say which systems to time, such as --systems vanilla,lean")
    for name in names:
        entry(name)
    if out and (out.is_dir() or not out.parent.is_dir()):
        raise ConfigError(f"cannot write {out}; name a file in a folder that exists")
    # A reply from a recording or a cache has no time of its own.
    live = {
        "PROVIDER": os.environ.get("PROVIDER") or "local",
        "COOKBOOK_RECORD": "",
        "COOKBOOK_CACHE_LLM": "",
    }
    with environment(**live):
        client = LLMClient()
        if client.provider in ("replay", "scripted"):
            raise ConfigError("a benchmark needs a live model: set PROVIDER, for example PROVIDER=local")
        here = setting_of(client, eval_set, k)
        timings = {timed.key: timed for timed in (kept(out, here) if out else ())}
        setup = open_setup(eval_set, client=client, k=k)
        rows = in_turn(setup.rows)[:questions]
        screen(sys.stderr).print(f"{client.describe()}; {setup.parts.retriever.describe()}")
        # The first call loads the weights.
        client.complete([{"role": "user", "content": "Say hello."}], max_tokens=1)
        with counting(len(rows) * len(names)) as progress:

            def done(timed: Timed) -> None:
                timings[timed.key] = timed
                if out:
                    keep(out, report(here, list(timings.values())))
                progress(f"{timed.system} {timed.seconds:.1f} s")

            asked = set(timings)
            alternate({name: build(name, setup.parts) for name in names}, rows, asked=asked, done=done)
    found = report(here, list(timings.values()))
    table = ratios(list(timings.values()), names[0])
    if as_json:
        print_json(found | {"ratios": table})
    else:
        show_table(table, f"{found['model']} on {found['machine']}, {found['date']}")
