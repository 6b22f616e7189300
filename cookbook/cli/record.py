"""``cookbook record``: real replies and embeddings into recordings/, and a check that they still hold.

A call that is recorded already is answered from there, so a run that was broken off, even killed, goes on
where it stopped, and two systems that make the same call record it once. Of an eval set a row goes through
every system before the next one comes, the kinds of question in turn: wherever the run stops, the rows so far
can be compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cookbook.cli.output import JsonFlag, aside, command, counting, print_json
from cookbook.errors import ConfigError

if TYPE_CHECKING:
    from cookbook.providers.recording import Agreement

MUST_AGREE = 0.95
"""The share of recorded replies that a live run has to give again: llama.cpp's last bits differ by machine."""


@command
def record(
    notebook: Annotated[str | None, typer.Option(help="Record what a notebook asks.")] = None,
    eval_set: Annotated[str | None, typer.Option("--set", help="Record an eval set, with --systems.")] = None,
    systems: Annotated[str, typer.Option(help="Names from `cookbook systems`, with commas.")] = "",
    rows: Annotated[
        int | None, typer.Option(min=1, help="Only this many of the set, the kinds of question in turn.")
    ] = None,
    verify: Annotated[int | None, typer.Option(min=1, help="Ask this many recorded calls again.")] = None,
    clock: Annotated[
        bool, typer.Option("--clock", help="Keep the speed of the calls asked again, to time comparisons by.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Record real replies for everyone else, or verify them.

    They come from the model that PROVIDER names, the local one if it names none.
    """
    if clock and not verify:
        raise ConfigError("--clock times the calls that are asked again; say how many, such as --verify 40")
    if not (notebook or eval_set or verify) or (notebook and eval_set):
        raise ConfigError("say what to record: --notebook NAME, or --set NAME --systems A,B; or --verify N")
    report: dict[str, Any] = {}
    if notebook:
        report |= _recorded(notebook, lambda: _notebook(notebook))
    elif eval_set:
        report |= _recorded(eval_set, lambda: _set(eval_set, systems, rows))
    if report:
        print(f"{report['new']:,} new replies in {report['file']}, {report['entries']:,} recorded in all")
    agreed = 1.0
    if verify:
        found = _verify(verify)
        agreed = found.agreed / found.asked
        report |= {"verified": found.asked, "differences": [asdict(d) for d in found.differences]}
        report["recorded_by_another_build"] = list(found.elsewhere)
        print(str(found))
        for each in found.differences[:5]:
            print(f"  {each.key[:12]}: recorded {each.recorded!r}, now {each.live!r}")
        if clock:
            print(_clock(found))
    if as_json:
        print_json(report)
    if agreed < MUST_AGREE:
        raise typer.Exit(1)


def _recorded(name: str, work: Callable[[], None]) -> dict[str, Any]:
    """Do ``work`` with recording on, and say what that added."""
    from cookbook import paths
    from cookbook.providers.replies import ReplyStore

    stem = name.removesuffix(".ipynb").rpartition("/")[2]
    before = len(ReplyStore(paths.RECORDINGS))
    with environment(COOKBOOK_RECORD=stem, PROVIDER=os.environ.get("PROVIDER") or "local"):
        work()
    # Opened afresh, because a notebook writes from a process of its own.
    entries = len(ReplyStore(paths.RECORDINGS))
    return {"file": f"recordings/{stem}.jsonl", "new": entries - before, "entries": entries}


def _set(name: str, systems: str, limit: int | None) -> None:
    from cookbook.assemble import parts_for
    from cookbook.eval.run import attempt
    from cookbook.eval.sets import in_turn, load_eval_set
    from cookbook.schema import Status
    from cookbook.systems import build, entry

    names = [part.strip() for part in systems.split(",") if part.strip()]
    if not names:
        raise ConfigError("say which systems to record, such as --systems vanilla,handbook_graph")
    rows = in_turn(load_eval_set(name))[:limit]
    parts = parts_for(name, needs_model=any(entry(system).needs_model for system in names))
    built = {system: build(system, parts) for system in names}
    with counting(len(rows) * len(built)) as done:
        for row in rows:
            for system, each in built.items():
                # One request that breaks must not end a run of hours; what it lacks is asked for the next time.
                answer = attempt(each, row.question, system)
                if answer and answer.status is Status.FAILED:
                    aside(f"{system} failed on {row.id}: {answer.trace.steps[-1].note}")
                done(f"{system} on {row.id}")


def _notebook(name: str) -> None:
    from cookbook import notebooks
    from cookbook.cli.notebooks import select

    (found,) = select([name])
    notebooks.execute(notebooks.read(found.path), found.path)


def _verify(n: int) -> Agreement:
    from cookbook.providers.recording import verify

    found = verify(n)
    if not found.asked:
        raise ConfigError("nothing is recorded yet; record something first")
    return found


def _clock(found: Agreement) -> str:
    """Fit the clock of the model that most of the calls were of, and keep it."""
    from collections import Counter
    from datetime import date

    from cookbook.eval.clock import fit, keep
    from cookbook.providers import local
    from cookbook.providers.recording import machine

    ((model, _),) = Counter(reply.model for reply in found.replies).most_common(1)
    engine = local.build() if model.startswith("local/") else ""
    replies = [reply for reply in found.replies if reply.model == model]
    fitted = fit(replies, model=model, machine=machine(), engine=engine, date=date.today().isoformat())
    return f"{fitted}; off by {fitted.error:.0%} in the middle; kept in recordings/{keep(fitted).name}"


@contextmanager
def environment(**settings: str) -> Iterator[None]:
    """Set environment variables for a block, and put back what was there."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
