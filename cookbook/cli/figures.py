"""``cookbook figures``: do the published numbers still hold, measured here and now?"""

from __future__ import annotations

from typing import Any

import typer

from cookbook.cli.output import JsonFlag, command, print_json, working
from cookbook.show import show_table


@command
def figures(as_json: JsonFlag = False) -> None:
    """Measure every published figure again. Exit 1 if any differs."""
    from cookbook.published.figures import FIGURES, measure_all

    with working("measuring"):
        results = measure_all(FIGURES)
    rows = [
        {
            "source": result.figure.source,
            "figure": result.figure.name,
            "what": result.figure.what,
            "published": result.figure.published,
            "measured": result.measured,
            "equal": result.equal,
        }
        for result in results
    ]
    different = sum(not result.equal for result in results)
    if as_json:
        print_json(rows)
    else:
        show_table([{name: _text(value) for name, value in row.items()} for row in rows])
        print(f"\n{len(rows)} figures measured, {different} differ from what was published")
    if different:
        raise typer.Exit(1)


def _text(value: Any) -> str:
    """A value as it is written in prose: ``1, 6, 7``, ``0.198``, ``yes``."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return str(value)
