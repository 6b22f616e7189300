"""``cookbook systems``: what ``--system`` may say, and what each may cost at most."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cookbook.cli.output import JsonFlag, command, print_json


@command
def systems(
    k: Annotated[int, typer.Option(min=1, help="Passages per retrieval.")] = 5, as_json: JsonFlag = False
) -> None:
    """Every system that can answer a question, in one line each, with its call ceiling."""
    from cookbook.systems import REGISTRY, system_class

    rows: list[dict[str, Any]] = []
    for name, entry in REGISTRY.items():
        found = system_class(name)
        caps = getattr(found, "default_caps", None)
        rows.append(
            {
                "name": name,
                "summary": entry.summary,
                "needs_model": entry.needs_model,
                "k": k,
                "most_calls": found.most_calls(k),
                "formula": caps.formula if caps else str(found.most_calls(k)),
                "supersteps": caps.supersteps() if caps else None,
            }
        )
    if as_json:
        print_json(rows)
        return
    width = max(map(len, REGISTRY))
    print(f"{'':{width}}  calls at most, with k = {k}")
    for row in rows:
        print(f"{row['name']:{width}}  {row['most_calls']:3}  {row['summary']}")
