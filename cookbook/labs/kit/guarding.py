"""Keeps a check alive whatever the learner hands in: a stub, None, an exception, an endless loop.

A check is written for candidates that work more or less. ``@guard()`` turns everything else into a
verdict that names the learner's function and the line to look at.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import linecache
import sys
import sysconfig
import threading
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from cookbook.errors import ConfigError
from cookbook.labs.kit.stub import learner_function
from cookbook.labs.kit.verdict import LabVerdict, failed

R = TypeVar("R")
Candidate = Callable[..., Any]

TIME_LIMIT = 60.0
"""Seconds for a whole check. A check takes one or two; what reaches the limit runs for ever."""

_NOT_THEIRS = (str(Path(__file__).resolve().parents[2]), *sysconfig.get_paths().values())


class TooLong(BaseException):
    """Raised inside code that reached the time limit. No Exception, so that a learner's except lets it pass."""


class _Stop(Exception):
    """Ends a check from inside the wrapped candidate, with the verdict to give."""

    def __init__(self, verdict: LabVerdict) -> None:
        self.verdict = verdict


def guard(returns: str = "") -> Callable[[Callable[[Any], LabVerdict]], Callable[[Any], LabVerdict]]:
    """Decorate a lab's ``check``. It then never raises, and its verdict carries the lab's slug.

    ``returns`` says what the candidate must return ("a compiled graph"); a None is then explained
    and never reaches the check. Leave it out where None is a value like any other.
    """

    def decorate(check: Callable[[Any], LabVerdict]) -> Callable[[Any], LabVerdict]:
        slug = check.__module__.rpartition(".")[2]

        @functools.wraps(check)
        def guarded(candidate: Any) -> LabVerdict:
            wanted = learner_function(sys.modules[check.__module__])
            verdict = _verdict_of(check, candidate, wanted, returns)
            return LabVerdict(verdict.passed, verdict.diagnosis, verdict.message, slug)

        return guarded

    return decorate


def _verdict_of(
    check: Callable[[Any], LabVerdict], candidate: Any, wanted: Candidate, returns: str
) -> LabVerdict:
    name = wanted.__name__
    if not callable(candidate):
        return failed(
            "not_a_function",
            f"the check wants the function `{name}` itself and got {_kind(candidate)}. "
            f"Pass `{name}`, without brackets behind it.",
        )
    try:
        return run_limited(lambda: check(_watched(candidate, wanted, returns)), TIME_LIMIT)
    except _Stop as stop:
        return stop.verdict
    except NotImplementedError as error:
        return failed(
            "not_written",
            f"`{name}` is still the stub{_where(error, candidate)}. Write its body, run its cell, "
            "then run this one again.",
        )
    except TooLong:
        return failed(
            "endless",
            f"`{name}` did not come to an end within {TIME_LIMIT:.0f} s and was stopped. What ends its loop?",
        )
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:300] or 'no message'}"
        if where := _where(error, candidate):
            return failed("raised", f"`{name}` ended in {said}{where}.")
        if isinstance(error, ConfigError):  # our own words, which say what to do
            return failed("unusable_result", f"{error}.")
        return failed(
            "unusable_result", f"what `{name}` returned cannot be used ({said}). {_doc(wanted)}".rstrip()
        )


def _doc(wanted: Candidate) -> str:
    """The first sentence of the stub's docstring, as a reminder of what it returns."""
    said = (inspect.getdoc(wanted) or "").partition("\n\n")[0]
    return f"It should be: {' '.join(said.split())}" if said else ""


def _watched(candidate: Candidate, wanted: Candidate, returns: str) -> Candidate:
    """The candidate, called as the stub is: wrong parameters and a forgotten return are explained."""
    name = wanted.__name__

    @functools.wraps(candidate)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            inspect.signature(candidate).bind(*args, **kwargs)
        except TypeError as error:
            takes = ", ".join(inspect.signature(wanted).parameters)
            raise _Stop(failed("wrong_parameters", f"`{name}` must take ({takes}): {error}.")) from error
        except ValueError:  # some built-in functions have no signature: let the call tell
            pass
        result = _python(candidate(*args, **kwargs))
        if returns and result is None:
            raise _Stop(
                failed(
                    "returned_nothing",
                    f"`{name}` returned None; it must return {returns}. Is a `return` missing?",
                )
            )
        return result

    return call


def _python(value: Any) -> Any:
    """The value itself; of a numpy scalar the Python number or bool: a comparison of numpy numbers is a right answer."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy and isinstance(value, numpy.generic) else value


def _kind(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


# ---------------------------------------------------------------- where it happened


def _where(error: BaseException, candidate: Candidate) -> str:
    """`` at line 3, `return table[reply]` ``: the last line of the learner's own code, if it can be found."""
    code = getattr(inspect.unwrap(candidate), "__code__", None)
    own = code.co_filename if code else None
    found = None
    for file, line in _frames(error.__traceback__):
        if file == own or (own is None and not file.startswith(_NOT_THEIRS)):
            found = (file, line)
    if found is None:
        return ""
    text = linecache.getline(*found).strip()
    return f" at line {found[1]}" + (f", `{text}`" if text else "")


def _frames(traceback: TracebackType | None) -> list[tuple[str, int]]:
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    return frames


# ---------------------------------------------------------------- time


def run_limited(body: Callable[[], R], seconds: float) -> R:
    """``body()`` in a thread of its own; TooLong when it takes more than ``seconds``.

    The thread is told to stop; one that sits in foreign code (a long sleep) is left behind and does
    not keep the process alive.
    """
    results: list[R] = []
    errors: list[BaseException] = []
    context = copy_context()

    def target() -> None:
        try:
            results.append(context.run(body))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    try:
        thread.join(seconds)
    finally:  # at the limit, and when somebody interrupts the wait
        if late := thread.is_alive():
            assert thread.ident is not None
            stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
            stop(ctypes.c_ulong(thread.ident), ctypes.py_object(TooLong))
            thread.join(1.0)
    if late:
        raise TooLong
    if errors:
        raise errors[0]
    return results[0]
