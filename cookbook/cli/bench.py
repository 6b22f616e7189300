"""``cookbook bench``: systems against the clock, live, on the same questions in turn."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cookbook.cli.output import JsonFlag, command, print_json
from cookbook.cli.record import environment
from cookbook.errors import ConfigError
from cookbook.show import screen, show_table

if TYPE_CHECKING:
    from cookbook.eval.timing import Timed


@command
def bench(
    eval_set: Annotated[
        str, typer.Option("--set", help="The eval set whose questions are asked.")
    ] = "larkspur",
    systems: Annotated[str, typer.Option(help="Names from `cookbook systems`; the first is the base.")] = (
        "vanilla,handbook_graph,lean"
    ),
    questions: Annotated[int, typer.Option(min=1, help="How many, spread over the kinds of question.")] = 16,
    k: Annotated[int, typer.Option(min=1, help="Passages per retrieval.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Keep every timing in this JSON file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Time systems on a live model and print the ratios of their medians."""
    from cookbook.assemble import parts_for
    from cookbook.eval.sets import in_turn, load_eval_set
    from cookbook.eval.timing import alternate, ratios, report
    from cookbook.providers import LLMClient
    from cookbook.systems import build

    names = [name.strip() for name in systems.split(",") if name.strip()]
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
        parts = parts_for(eval_set, client=client, k=k)
        rows = in_turn(load_eval_set(eval_set))[:questions]
        screen(sys.stderr).print(f"{client.describe()}; {parts.retriever.describe()}")
        # The first call loads the weights.
        client.complete([{"role": "user", "content": "Say hello."}], max_tokens=1)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=screen(sys.stderr)) as progress:
            task = progress.add_task("timing", total=len(rows) * len(names))

            timings: list[Timed] = []

            def done(timed: Timed) -> None:
                progress.update(task, advance=1, description=f"{timed.system} {timed.seconds:.1f} s")
                timings.append(timed)
                if out:  # each time, so that a run that is broken off leaves what it measured
                    out.write_text(json.dumps(report(parts, eval_set, timings), indent=1) + "\n", "utf-8")

            alternate({name: build(name, parts) for name in names}, rows, done=done)
    found = report(parts, eval_set, timings)
    table = ratios(timings, names[0])
    if as_json:
        print_json(found | {"ratios": table})
    else:
        show_table(table, f"{found['model']} on {found['machine']}, {found['date']}")
