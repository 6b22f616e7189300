"""What every command shares: where text goes, what ``--json`` means, and how an error looks.

stdout carries the result. Progress, notes and errors go to stderr, so that a pipe sees results only;
with ``--json`` stdout is one JSON document, and the story that a person would read goes to stderr.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import Annotated, Any, ParamSpec, TextIO, TypeVar

import typer

from cookbook.errors import CookbookError
from cookbook.show import screen

P = ParamSpec("P")
R = TypeVar("R")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout.")]

_stdout: ContextVar[TextIO] = ContextVar("stdout")  # the real one, while --json sends prints to stderr


def print_json(data: Any) -> None:
    """The one document that ``--json`` prints."""
    print(json.dumps(data, ensure_ascii=False, indent=2), file=_stdout.get())


def aside(text: str) -> None:
    """One line to stderr."""
    print(text, file=sys.stderr)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A spinner with ``text`` while something slow runs; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield
        return
    with screen(sys.stderr).status(text):
        yield


@contextmanager
def counting(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar over ``total`` pieces of work; call what it gives with a word on the piece just done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    watched = sys.stderr.isatty()
    with Progress(*columns, console=screen(sys.stderr), transient=True, disable=not watched) as bar:
        task = bar.add_task("", total=total)
        yield lambda word: bar.update(task, advance=1, description=word)


def command(body: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command: our errors end in one line and exit 2, Ctrl-C in 130, anything else in exit 1.

    ``COOKBOOK_DEBUG=1`` lets every error through with its traceback. When the command's ``as_json`` is
    set, whatever is printed goes to stderr, a library's progress bar too; only print_json reaches stdout.
    """

    @functools.wraps(body)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        warnings.showwarning = _warn
        _stdout.set(sys.stdout)
        try:
            with redirect_stdout(sys.stderr if kwargs.get("as_json") else sys.stdout):
                return body(*args, **kwargs)
        except (typer.Exit, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            aside("stopped")
            raise typer.Exit(130) from None
        except Exception as error:
            if os.environ.get("COOKBOOK_DEBUG"):
                raise
            if isinstance(error, CookbookError):
                aside(f"error: {error}")
                raise typer.Exit(2) from error
            said = " ".join(str(error).split())[:200]
            aside(f"error: {type(error).__name__}: {said}; run again with COOKBOOK_DEBUG=1 for the traceback")
            raise typer.Exit(1) from error

    return guarded


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one line, without the file and the source line it came from."""
    aside(f"note: {message}")
