"""How answers, traces and score tables look to a person, the same in a terminal and in a notebook.

A terminal gets colour and its own width; a notebook, a pipe or a file gets plain text of 100 columns,
so that a committed output never depends on who made it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cookbook.schema import Answer, Provenance, Status, Step, Trace, Verdict

if TYPE_CHECKING:
    import pandas as pd

PLAIN_WIDTH = 100
_COLOURS = {Status.ANSWERED: "bold green", Status.REFUSED: "bold yellow", Status.FAILED: "bold red"}
_RESTS_ON = {
    Provenance.PASSAGES: "from passages",
    Provenance.MODEL_MEMORY: "from the model's memory, no passage was read",
}


def screen(stream: TextIO | None = None) -> Console:
    """A console on ``stream`` (stdout if none). Texts are printed as they are, never read as markup."""
    stream = stream or sys.stdout
    literal: dict[str, Any] = {"file": stream, "markup": False, "highlight": False, "emoji": False}
    if stream.isatty():
        return Console(**literal)
    return Console(**literal, width=PLAIN_WIDTH, color_system=None, force_terminal=False, force_jupyter=False)


# ---------------------------------------------------------------- for reading


def show(answer: Answer, *, to: Console | None = None) -> None:
    """Print an answer: its status and reason, the text, what it cites, its trace, the totals."""
    to = to or screen()
    to.print(Text(headline(answer), style=_COLOURS[answer.status]))
    to.print(Text(answer.text))
    if answer.found:
        to.print(Text(f"Supported, and judged not to resolve the question: {answer.found}"))
    if answer.citations:
        to.print(_citations(answer))
    if answer.attributed and answer.citations:
        to.print(Text("  (found by shared words: the writer cited nothing)"))
    if answer.uncited:
        to.print(Text(f"  read and not cited: {', '.join(answer.uncited)}"))
    to.print()
    show_trace(answer.trace, to=to)


def show_trace(trace: Trace, *, to: Console | None = None) -> None:
    """Print a trace as a table, a row for each node in the order they ran, and its totals below."""
    to = to or screen()
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("node", no_wrap=True)
    for name in ("calls", "tokens", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what it saw", overflow="fold", ratio=1)
    for step in trace.steps:
        tokens = step.prompt_tokens + step.completion_tokens
        cells = (step.node, str(step.calls), f"{tokens:,}", f"{step.seconds:.1f}", _seen(step))
        table.add_row(*(Text(cell) for cell in cells))
    to.print(table)
    to.print()
    to.print(Text(totals(trace)))


def show_table(rows: Sequence[Mapping[str, Any]], title: str = "", *, to: Console | None = None) -> None:
    """Print rows with the same keys as a table; a column that holds a number is aligned to the right."""
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=title or None, title_justify="left"
    )
    for name in rows[0] if rows else ():
        numeric = any(isinstance(row[name], int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    (to or screen()).print(table)


def headline(answer: Answer) -> str:
    """``ANSWERED from passages``, ``REFUSED: not_supported``, ``FAILED: grader_failed``."""
    status = answer.status.value.upper()
    return f"{status}: {answer.reason}" if answer.reason else f"{status} {_RESTS_ON[answer.provenance]}"


def totals(trace: Trace) -> str:
    """One sentence: calls, embeddings, tokens, seconds, cost and why the request stopped."""
    parts = [
        _count(trace.calls, "call"),
        _count(trace.embeddings, "embedding"),
        _count(trace.tokens, "token"),
        f"{trace.seconds:.1f} s",
    ]
    if cached := sum(step.cached for step in trace.steps):
        parts.insert(1, f"{cached:,} from the cache")
    if trace.cost is None:
        parts.append("cost unknown")
    elif trace.cost:
        parts.append(f"${trace.cost:.4f}")
    return f"{', '.join(parts)}; stopped: {trace.stop_reason or 'not said'}"


def verdicts(seen: Sequence[Verdict[Any]]) -> str:
    """Verdicts in a line, ``relevant .82 / irrelevant .91 / failed``; the number is the label's probability."""
    return " / ".join(_verdict(verdict) for verdict in seen)


def _verdict(verdict: Verdict[Any]) -> str:
    if verdict.failed:
        return "failed"
    if verdict.probability is None:
        return str(verdict.label)
    return f"{verdict.label} {verdict.probability:.2f}".replace(" 0.", " .")


def _seen(step: Step) -> str:
    return "\n".join(filter(None, (verdicts(step.verdicts), step.note)))


def _citations(answer: Answer) -> Table:
    """A line for each cited passage: its id and the section titles above it."""
    table = Table.grid(padding=(0, 2))
    headings = {hit.chunk_id: hit.chunk.headings for hit in answer.contexts}
    for chunk_id in answer.citations:
        table.add_row(Text(f"  [{chunk_id}]"), Text(" > ".join(headings[chunk_id])))
    return table


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


# ---------------------------------------------------------------- for working on


def trace_table(trace: Trace) -> pd.DataFrame:
    """A row for each step: node, calls, tokens, seconds, verdicts (as in ``show``) and note."""
    import pandas as pd

    rows = [
        (s.node, s.calls, s.prompt_tokens + s.completion_tokens, s.seconds, verdicts(s.verdicts), s.note)
        for s in trace.steps
    ]
    return pd.DataFrame(rows, columns=["node", "calls", "tokens", "seconds", "verdicts", "note"])


def answers_table(answers: Sequence[Answer]) -> pd.DataFrame:
    """A row for each answer: system, question, status, reason ("" if answered), answer, citations, cost in
    calls, tokens and seconds."""
    import pandas as pd

    rows = [
        {
            "system": answer.trace.system,
            "question": answer.question,
            "status": answer.status.value,
            "reason": answer.reason.value if answer.reason else "",
            "answer": answer.text,
            "citations": ", ".join(answer.citations),
            "calls": answer.trace.calls,
            "tokens": answer.trace.tokens,
            "seconds": round(answer.trace.seconds, 2),
        }
        for answer in answers
    ]
    columns = ["system", "question", "status", "reason", "answer", "citations", "calls", "tokens", "seconds"]
    return pd.DataFrame(rows, columns=columns)
