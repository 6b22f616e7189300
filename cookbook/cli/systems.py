"""``cookbook systems``: what ``--system`` may say."""

from __future__ import annotations

from cookbook.cli.output import JsonFlag, command, print_json


@command
def systems(as_json: JsonFlag = False) -> None:
    """Every system that can answer a question, in one line each."""
    from cookbook.systems import REGISTRY

    if as_json:
        print_json(
            [{"name": n, "summary": e.summary, "needs_model": e.needs_model} for n, e in REGISTRY.items()]
        )
        return
    width = max(map(len, REGISTRY))
    for name, entry in REGISTRY.items():
        print(f"{name:{width}}  {entry.summary}")
