"""A comparison as something to pass on: a page of HTML that is complete in itself, and the table of the README."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cookbook.errors import ConfigError
from cookbook.eval.compare import Comparison
from cookbook.eval.judged import Judging
from cookbook.eval.plots import pictures
from cookbook.eval.report import heading, scoreboard, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def page(comparison: Comparison, judging: Judging | None = None) -> str:
    """One HTML page with every table and picture, complete in itself."""
    title = f"{comparison.eval_set}: {', '.join(comparison.systems)}"
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(heading(comparison))}</p>"]
    for table in tables(comparison, judging):
        parts += [f"<h2>{escape(table.title)}</h2>", _html(table.rows), f"<p>{escape(table.note)}</p>"]
    for name, figure in pictures(comparison).items():
        parts += [f"<h2>{escape(name.capitalize())}</h2>", _image(figure)]
    return _PAGE.format(title=escape(title), body="\n".join(parts))


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #22303c; max-width: 62em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse; font-size: 13px }} td, th {{ padding: .25em .8em; text-align: left }}
th {{ border-bottom: 2px solid #22303c }} td {{ border-bottom: 1px solid #dde3e8 }} img {{ max-width: 100% }}
div {{ overflow-x: auto }}
</style></head><body>
{body}
</body></html>
"""


def _html(rows: Sequence[Mapping[str, Any]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(v))}</td>' for v in row.values())}</tr>\n" for row in rows
    )
    return f"<div><table><tr>{head}</tr>\n{body}</table></div>"


def _image(figure: Figure) -> str:
    """The picture, with its title and what it rests on for those who do not see it."""
    alt = f"{figure.get_suptitle()}. {figure.axes[0].get_title('left')}"
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{b64encode(buffer.getvalue()).decode()}">'


def readme_block(comparison: Comparison) -> str:
    """The scoreboard for the README: what was compared, on how many rows, by which model and when."""
    table = scoreboard(comparison)
    names = list(table.rows[0])
    lines = [_row(names), _row("---" for _ in names), *(_row(row.values()) for row in table.rows)]
    return "\n".join([heading(comparison), "", *lines, "", table.note])


def _row(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def with_block(text: str, name: str, block: str) -> str:
    """``text`` with ``block`` between its markers for ``name``; ConfigError when it has none."""
    start, end = f"<!-- {name}: made by cookbook compare --readme -->\n", f"<!-- end of {name} -->"
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ConfigError(f"put the lines {start.strip()!r} and {end!r} where the table of {name} belongs")
    return f"{before}{start}{block}\n{end}{after}"
