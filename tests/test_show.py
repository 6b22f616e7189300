"""What a person sees: every line of an answer, in plain text where nobody has a terminal."""

from __future__ import annotations

import io

import pytest

from cookbook.schema import (
    Answer,
    Chunk,
    Decision,
    Hit,
    Provenance,
    Reason,
    Relevance,
    ScoreKind,
    Status,
    Step,
    Trace,
    Verdict,
)
from cookbook.show import (
    answers_table,
    headline,
    screen,
    show,
    show_table,
    show_trace,
    totals,
    trace_table,
    verdicts,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def graded(label: Relevance | None, probability: float | None = None) -> Verdict[Relevance]:
    return Verdict(Decision.RELEVANCE, label, probability=probability)


def trace() -> Trace:
    grades = [graded(Relevance.RELEVANT, 0.824), graded(Relevance.IRRELEVANT, 0.911), graded(None)]
    steps = [
        Step("retrieve", embeddings=1, note="2 passages for: Can I export [bold]my[/bold] data?"),
        Step("grade", 2, 0, 0, 1200, 2, 1.26, verdicts=grades, note="kept 1 of 2, 1 not graded"),
    ]
    return Trace("Can I?", "handbook_graph", steps=steps, stop_reason="supported_and_useful")


def answered() -> Answer:
    hits = [
        Hit(
            Chunk("export.md#1", "export.md", "Text.", 0, 5, ("Data export", "After cancelling")),
            0.7,
            ScoreKind.COSINE,
        ),
        Hit(Chunk("billing.md#0", "billing.md", "Text.", 0, 5, ("Billing",)), 0.6, ScoreKind.COSINE),
    ]
    return Answer(
        "Can I?",
        "Yes, for 30 days [1].",
        Status.ANSWERED,
        Provenance.PASSAGES,
        trace(),
        citations=("export.md#1",),
        contexts=tuple(hits),
    )


def refused(reason: Reason = Reason.NOT_SUPPORTED) -> Answer:
    status = Status.FAILED if reason is Reason.GRADER_FAILED else Status.REFUSED
    return Answer("Can I?", "I looked.", status, Provenance.NOTHING, trace(), reason=reason)


def shown(answer: Answer) -> list[str]:
    stream = io.StringIO()
    show(answer, to=screen(stream))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_an_answer_in_full():
    assert shown(answered()) == [
        "ANSWERED from passages",
        "Yes, for 30 days [1].",
        "  [export.md#1]  Data export > After cancelling",
        "  read and not cited: billing.md#0",
        "",
        "node       calls   tokens   seconds   what it saw",
        "─" * 88,
        "retrieve       0        0       0.0   2 passages for: Can I export [bold]my[/bold] data?",
        "grade          2    1,202       1.3   relevant .82 / irrelevant .91 / failed",
        "                                      kept 1 of 2, 1 not graded",
        "",
        "2 calls, 1 embedding, 1,202 tokens, 1.3 s; stopped: supported_and_useful",
    ]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (refused(), "REFUSED: not_supported"),
        (refused(Reason.GRADER_FAILED), "FAILED: grader_failed"),
        (
            Answer("Hi", "Hello.", Status.ANSWERED, Provenance.MODEL_MEMORY, trace()),
            "ANSWERED from the model's memory, no passage was read",
        ),
    ],
)
def test_the_first_line_says_status_and_reason(answer: Answer, line: str):
    assert headline(answer) == line
    assert shown(answer)[0] == line


def test_a_notebook_gets_no_escape_codes_and_a_terminal_gets_colour(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    show(answered())
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("TERM", "xterm-256color")
    terminal = Terminal()
    show(answered(), to=screen(terminal))
    assert "\x1b[" in terminal.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(width: int, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    long = trace()
    long.steps[0].note = "passages for: " + "a rather long question " * 12
    long.steps[1].verdicts *= 4
    show_trace(long, to=screen(terminal))
    assert max(map(len, terminal.getvalue().splitlines())) <= width


def test_totals_tell_free_from_unknown_and_calls_from_cache_hits():
    spent = trace()
    assert "$" not in totals(spent)
    spent.cost = 0.01234
    spent.steps[0].cached = 3
    assert totals(spent).startswith("2 calls, 3 from the cache, 1 embedding, 1,202 tokens, 1.3 s, $0.0123;")
    spent.cost = None
    assert "cost unknown" in totals(spent)


def test_verdicts_in_a_line():
    seen = [graded(Relevance.RELEVANT, 0.999), graded(Relevance.RELEVANT), graded(None, None)]
    assert verdicts(seen) == "relevant 1.00 / relevant / failed"
    assert verdicts([]) == ""


def test_tables_for_working_on():
    table = trace_table(trace())
    assert list(table.columns) == ["node", "calls", "tokens", "seconds", "verdicts", "note"]
    assert table.loc[1, "verdicts"] == "relevant .82 / irrelevant .91 / failed"
    assert table["calls"].sum() == 2
    answers = answers_table([answered(), refused()])
    assert answers["status"].tolist() == ["answered", "refused"]
    assert answers["reason"].tolist() == ["", "not_supported"]
    assert answers["citations"].tolist() == ["export.md#1", ""]
    assert list(answers_table([]).columns) == list(answers.columns)


def test_rows_as_a_table():
    stream = io.StringIO()
    rows = [
        {"system": "vanilla", "calls": 1.0, "tokens": 12345, "says": "text"},
        {"system": "extractive", "calls": None, "tokens": 0, "says": "more text"},
    ]
    show_table(rows, to=screen(stream))
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == [
        "system       calls   tokens   says",
        "─" * 39,
        "vanilla       1.00   12,345   text",
        "extractive       -        0   more text",
    ]
    show_table([], to=screen(stream))
