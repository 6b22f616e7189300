"""Recorded replies of a real model: why notebooks and tests need no key and no weights.

A recording answers exactly the call that was made, or not at all.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cookbook import paths
from cookbook.errors import ConfigError, ReplayMiss
from cookbook.providers.call import Call, Reply, reply_of
from cookbook.providers.replies import ReplyStore


@cache
def _open(folder: Path) -> ReplyStore:
    return ReplyStore(folder)


def recordings() -> ReplyStore:
    """The store over ``recordings/*.jsonl``, opened once per process."""
    return _open(paths.RECORDINGS)


def require_recorded(model: str) -> None:
    """ConfigError, naming the models that are recorded, when this one is not among them.

    Without any recordings there is nothing to name; then the first call is a ReplayMiss.
    """
    recorded: dict[str, None] = {}
    for entry in recordings():
        if entry["model"] == model:
            return
        recorded[entry["model"]] = None
    if recorded:
        raise ConfigError(
            f"nothing is recorded of {model}; recorded: {', '.join(recorded)}; set PROVIDER=replay/ and one of these"
        )


def answer(call: Call, timeout: float = 0.0) -> Reply:
    """The recorded reply to this exact call; ReplayMiss when there is none."""
    entry = recordings().get(call.key)
    if entry is None:
        raise ReplayMiss(_how_to_go_live(call))
    return reply_of(entry)


def recorded_dates(model: str) -> str:
    """``2026-11-30``, or ``2026-11-02 to 2026-11-30``; empty when nothing of this model is recorded."""
    dates = sorted(_said("date", model))
    return " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else ""


def recorded_on(model: str) -> str:
    """The machines whose seconds the replies of this model carry; empty when nothing of it is recorded."""
    return " and ".join(sorted(_said("machine", model)))


def _said(field: str, model: str) -> set[str]:
    return {entry[field] for entry in recordings() if entry["model"] == model}


def _how_to_go_live(call: Call) -> str:
    start = " ".join(call.prompt.split())[:120]
    provider, _, name = call.model.partition("/")
    fetch = f" after `cookbook models fetch {name}`" if provider == "local" else ""
    return (
        f"no recording of {call.model} for the prompt {start!r}; "
        f"to go live set PROVIDER={call.model}{fetch}, or record it with `cookbook record`"
    )
