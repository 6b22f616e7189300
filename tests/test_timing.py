"""Timings beside each other, on a clock that the test holds: order, ratios, and what counts as right."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cookbook.errors import ConfigError
from cookbook.eval.sets import load_eval_set
from cookbook.eval.timing import (
    Timed,
    alternate,
    keep,
    kept,
    load_timings,
    outcomes,
    ratios,
    report,
    setting_of,
)
from cookbook.reflect.refuse import refusal
from cookbook.schema import Answer, Provenance, Reason, Status, Trace

ROWS = load_eval_set("larkspur")
ANSWERABLE = [row for row in ROWS if row.behaviour == "answer"]
UNANSWERABLE = [row for row in ROWS if row.behaviour == "refuse"]


CLIENT = SimpleNamespace(chat_model="openai/m", provider="openai")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow:
    """Takes ``seconds`` on the clock, and says the reference answer or refuses."""

    def __init__(self, clock: Clock, seconds: float, *, refuses: bool = False, log: list[str] | None = None):
        self.clock, self.seconds, self.refuses = clock, seconds, refuses
        self.log = [] if log is None else log

    def answer(self, question: str) -> Answer:
        self.clock.now += self.seconds
        self.log.append(f"{self.seconds:g}")
        trace = Trace(question, "slow")
        if self.refuses:
            return refusal(question, Reason.NO_RELEVANT_PASSAGE, trace)
        trace.stop_reason = "said"
        text = next(row.answer for row in ROWS if row.question == question)
        return Answer(question, text, Status.ANSWERED, Provenance.PASSAGES, trace)


def test_systems_take_turns_in_a_turning_order():
    clock, log = Clock(), []
    systems = {name: Slow(clock, s, log=log) for name, s in (("a", 1), ("b", 2), ("c", 3))}
    timings = alternate(systems, ANSWERABLE[:3], clock=clock)
    assert log == ["1", "2", "3", "2", "3", "1", "3", "1", "2"]
    assert [t.seconds for t in timings if t.system == "b"] == [2, 2, 2]


def test_the_ratio_of_medians():
    clock = Clock()
    systems = {"vanilla": Slow(clock, 4), "lean": Slow(clock, 3)}
    base, lean = ratios(alternate(systems, ANSWERABLE[:5], clock=clock), "vanilla")
    assert (base["of vanilla"], base["low"], base["high"]) == (1, 1, 1)
    assert (lean["of vanilla"], lean["low"], lean["high"]) == (0.75, 0.75, 0.75)
    assert lean["questions"] == 5


def test_only_questions_that_all_were_asked_are_compared():
    one = Timed("vanilla", "q1", "answer", 2.0, 1, 10, "answered", True)
    timings = [one, replace(one, row="q2", seconds=90.0), replace(one, system="lean", seconds=1.0)]
    assert [row["of vanilla"] for row in ratios(timings, "vanilla")] == [1.0, 0.5]
    with pytest.raises(ConfigError, match="no timings of 'closed_book'"):
        ratios(timings, "closed_book")


@pytest.mark.parametrize(("rows", "refuses", "right"), [
    (ANSWERABLE[:2], False, True),
    (ANSWERABLE[:2], True, False),
    (UNANSWERABLE[:2], False, False),
    (UNANSWERABLE[:2], True, True),
])  # fmt: skip
def test_what_counts_as_right(rows, refuses, right):
    clock = Clock()
    timings = alternate({"a": Slow(clock, 1, refuses=refuses)}, rows, clock=clock)
    assert [t.right for t in timings] == [right, right]


def test_outcomes_weigh_both_kinds_of_question_alike():
    def said(system, right):
        kinds = ["answer"] * 3 + ["refuse", "direct"]
        return [
            Timed(system, f"q{n}", kind, 1.0, 1, 10, "answered", bool(right[n]))
            for n, kind in enumerate(kinds)
        ]

    base, mine = outcomes([*said("a", [1, 1, 0, 0, 1]), *said("b", [1, 0, 0, 1, 0])], "a")
    assert base["right behaviour"].startswith("33%")
    assert mine["right behaviour"].startswith("67%")
    assert (mine["answered right"][:3], mine["refused rightly"][:4]) == ("33%", "100%")
    assert mine["more than a"].startswith("+33 points")
    assert base["more than a"] == ""
    with pytest.raises(ValueError, match="at least one row"):
        outcomes(said("a", [1] * 5)[:3], "a")


def test_a_question_that_all_were_asked_is_passed_over_and_one_asked_in_part_is_asked_anew():
    clock, log = Clock(), []
    systems = {name: Slow(clock, s, log=log) for name, s in (("a", 1), ("b", 2))}
    first, second, third = ANSWERABLE[:3]
    asked = {("a", first.id), ("b", first.id), ("b", second.id)}
    timings = alternate(systems, [first, second, third], asked=asked, clock=clock)
    assert [timed.key for timed in timings] == [
        ("b", second.id), ("a", second.id), ("a", third.id), ("b", third.id)
    ]  # fmt: skip


def test_what_is_kept_is_read_as_it_was(tmp_path):
    timings = alternate({"a": Slow(Clock(), 1)}, ANSWERABLE[:2], clock=Clock())
    path, here = tmp_path / "kept.json", setting_of(CLIENT, "larkspur", 5)
    assert kept(path, here) == []
    keep(path, report(here, timings))
    assert load_timings(path) == kept(path, here) == timings


def test_a_file_goes_on_in_its_own_setting_only(tmp_path):
    path, here = tmp_path / "kept.json", setting_of(CLIENT, "larkspur", 5)
    keep(path, report(here, []))
    for name, other in {
        "model": "openai/n",
        "k": 3,
        "corpus": "squad",
        "engine": "x",
        "machine": "y",
    }.items():
        with pytest.raises(
            ConfigError, match=f"kept.json was timed with {name} {here[name]!r}; name another file"
        ):
            kept(path, here | {name: other})


def test_a_kill_while_timings_are_written_leaves_the_ones_before(tmp_path, monkeypatch):
    path, here = tmp_path / "kept.json", setting_of(CLIENT, "larkspur", 5)
    timings = alternate({"a": Slow(Clock(), 1)}, ANSWERABLE[:2], clock=Clock())
    keep(path, report(here, timings[:1]))

    def killed(self, text, **_):
        self.write_bytes(text.encode()[:40])
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        keep(path, report(here, timings))
    assert load_timings(path) == timings[:1]


@pytest.mark.parametrize("text", ["", "{bad", "[]", "{}", '{"timings": [{"system": "a"}]}'])
def test_what_is_no_file_of_timings_is_named(tmp_path, text):
    (tmp_path / "kept.json").write_text(text)
    with pytest.raises(ConfigError, match=r"kept\.json is no file of timings .* restore it"):
        load_timings(tmp_path / "kept.json")
