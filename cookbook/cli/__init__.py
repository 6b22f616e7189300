"""The command line, one file per group of commands. Importing it loads typer and rich, nothing heavy."""

from __future__ import annotations

import os
import sys

import typer

from cookbook.cli import (
    ask,
    bench,
    compare,
    demo,
    doctor,
    evalset,
    figures,
    ingest,
    judges,
    labs,
    models,
    notebooks,
    record,
    systems,
    train,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Self-reflective retrieval: ask, look inside, measure.",
)
app.command()(ask.ask)
app.command()(ingest.ingest)
app.command()(systems.systems)
app.command()(bench.bench)
app.command()(compare.compare)
app.command()(demo.demo)
app.command()(doctor.doctor)
app.command()(figures.figures)
app.add_typer(evalset.app, name="evalset")
app.add_typer(labs.app, name="labs")
app.add_typer(models.app, name="models")
app.add_typer(notebooks.app, name="notebooks")
app.command()(judges.judges)
app.command()(record.record)
app.add_typer(train.app, name="train")


def main() -> None:
    """The entry point ``cookbook``."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal cannot show must not end a run
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as end:
        if end.code:
            # A run that was stopped or timed out can leave a local model computing; an orderly end of
            # Python would wait for its next token, and under load that is a minute.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        raise
