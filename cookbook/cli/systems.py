"""``cookbook systems``: what ``--system`` may say."""

from __future__ import annotations

from cookbook.cli.output import JsonFlag, command, print_json, story


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
    to = story(as_json)
    for name, entry in REGISTRY.items():
        to.print(f"{name:{width}}  {entry.summary}", soft_wrap=True)
