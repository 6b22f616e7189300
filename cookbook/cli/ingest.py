"""``cookbook ingest``: read files and folders into an index, and say what became of each file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cookbook.cli.output import JsonFlag, command, print_json, working
from cookbook.show import screen

if TYPE_CHECKING:
    from cookbook.embedders import Embedder
    from cookbook.ingest import FileReport, Report

LISTED = 40
"""How many files of one state are listed by name; --json has them all."""

EmbedderOption = Annotated[
    str | None,
    typer.Option(help="all-minilm-l6-v2, or a litellm id. [default: the one that belongs to PROVIDER]"),
]


@command
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", metavar="PATH...")],
    embedder: EmbedderOption = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="Read names that begin with a dot too.")] = False,
    max_mb: Annotated[int, typer.Option(min=1, help="Pass over larger files.")] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Read documents into an index that `ask --path` searches. Run again, it reads what changed."""
    with working("starting"):
        from cookbook.embedders import get_embedder

        found = get_embedder(embedder)
    report = brought_up_to_date(paths, found, hidden=hidden, max_mb=max_mb)
    if as_json:
        print_json(report.to_dict())
    else:
        for line in listing(report.files):
            print(line)
        print(report)
    if not report.passages:
        raise typer.Exit(1)


def brought_up_to_date(
    paths: Sequence[Path], embedder: Embedder, *, hidden: bool = False, max_mb: int = 20
) -> Report:
    """The report of a run, with a progress bar on stderr while somebody watches."""
    from cookbook.ingest import ingest

    columns = (
        TextColumn("reading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(
        *columns, console=screen(sys.stderr), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task("", total=None)
        return ingest(
            paths,
            embedder,
            hidden=hidden,
            max_bytes=max_mb * 1_000_000,
            progress=lambda done, total, name: bar.update(
                task, completed=done, total=total, description=name[-40:]
            ),
        )


def listing(files: Sequence[FileReport]) -> list[str]:
    """A line for each file, the first of each state by name where there are many."""
    from cookbook.ingest.text import counted

    width = min(max((len(file.name) for file in files), default=0), 60)
    lines = []
    for state in ("indexed", "unchanged", "removed", "skipped"):
        some = [file for file in files if file.state == state]
        for file in some[:LISTED]:
            passages = counted(file.passages, "passage") if state in ("indexed", "unchanged") else ""
            said = ", ".join(filter(None, (passages, file.format, file.note, file.why)))
            lines.append(f"{state:9}  {file.name:{width}}  {said}".rstrip())
        if len(some) > LISTED:
            lines.append(f"{state:9}  and {len(some) - LISTED:,} more (--json lists them)")
    return lines
