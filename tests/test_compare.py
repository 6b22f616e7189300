"""The comparison: who wins, on which rows, and who must never win."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from eval_stubs import Stub, answer, hit, row, setup
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cookbook.cli import app
from cookbook.errors import ConfigError, ReplayMiss
from cookbook.eval import run as running
from cookbook.eval.clock import Clock
from cookbook.eval.compare import ALL, Comparison, compare
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.judges import Judged, report
from cookbook.eval.page import page, readme_block, with_block
from cookbook.eval.plots import PLOTS, _apart, reliability
from cookbook.eval.report import heading, scoreboard, tables
from cookbook.eval.run import open_setup
from cookbook.paths import ROOT
from cookbook.providers import gateway, replay
from cookbook.providers.meter import open_meters
from cookbook.reflect.entailment import Entailment
from cookbook.schema import Status, Step

ROWS = [row(name) for name in "abcdef"] + [row(name, "refuse") for name in "uvwxyz"]
HITS = [hit(name, "It is 5.") for name in "abcdef"]


def perfect(question: str):
    steps = [Step("retrieve"), Step("generate", calls=1, seconds=1.0)]
    if question[0] in "abcdef":
        found = [hit(question[0], "It is 5.")]
        return answer(question, contexts=found, citations=[found[0].chunk_id], steps=steps)
    return answer(question, "", Status.REFUSED, steps=steps)


def breaks_on(letters: str):
    """Perfect, but on these questions it crashes."""

    def reply(question: str):
        if question[0] in letters:
            raise RuntimeError("too hard")
        return perfect(question)

    return reply


def lazy(question: str):
    """Perfect on what is easy, wrong on c to f."""
    return answer(question, "It is 6.") if question[0] in "cdef" else perfect(question)


def unrecorded_on(letters: str):
    def reply(question: str):
        if question[0] in letters:
            raise ReplayMiss("not recorded")
        return perfect(question)

    return reply


@pytest.fixture
def comparing(monkeypatch):
    """compare() over twelve rows, six of each kind, with stubs under the names of real systems."""

    def go(**stubs) -> Comparison:
        def make(name, parts):
            return DUMMIES[name](parts) if name in DUMMIES else Stub(stubs[name])

        monkeypatch.setattr(running, "make", make)
        return compare(setup(*ROWS, hits=HITS), list(stubs))

    return go


def headline(comparison: Comparison, system: str) -> float:
    return comparison.estimate("right behaviour", system).value


def test_systems_are_ordered_by_right_behaviour(comparing):
    found = comparing(vanilla=lazy, extractive=perfect)
    assert found.ranking == ["extractive", "vanilla", "always_refuse", "first_passage", "copy_question"]
    assert headline(found, "extractive") == 1.0
    assert headline(found, "vanilla") == pytest.approx((2 / 6 + 1) / 2)
    assert headline(found, "first_passage") == 0.5
    assert found.not_above_dummies == ["vanilla"]  # +17 points on six rows of each kind: not seen


def test_a_system_that_crashes_on_the_hard_half_is_not_shown_as_better(comparing):
    """It answers every easy row right. The honest one has the same rows right and tries the rest."""
    found = comparing(vanilla=lazy, extractive=breaks_on("cdefx"))
    assert found.common == 12  # the rows on which it broke stay in
    assert headline(found, "extractive") < headline(found, "vanilla")
    assert found.ranked
    assert found.ranking[0] == "vanilla"
    assert str(found.coverage("extractive")) == "7 of 12"
    assert found.coverage("extractive").failed == 5
    assert "extractive 5 failed" in scoreboard(found).note
    assert "extractive broke, most often with: RuntimeError: too hard" in scoreboard(found).note
    assert found.to_dict()["broke"] == {"extractive": {"RuntimeError: too hard": 5}}


@pytest.mark.parametrize("figure", ["right, if it answers", "exact match", "token F1", "citation recall"])
def test_no_figure_of_right_answers_is_better_for_a_crash(comparing, figure):
    """Of what it tried the honest one has two of six right, and so has the one that breaks on the four others."""
    found = comparing(vanilla=lazy, extractive=breaks_on("cdefx"))
    honest, breaking = (found.estimate(figure, name) for name in ("vanilla", "extractive"))
    assert breaking.value <= honest.value
    assert breaking.n == honest.n == 6


def test_where_it_looked_is_not_known_of_one_that_broke(comparing):
    found = comparing(vanilla=breaks_on("ab"), extractive=perfect)
    rates = found.to_dict()["systems"]["vanilla"]["retrieves"]
    assert (rates["answer"]["value"], rates["answer"]["n"]) == (1.0, 4)


@pytest.mark.parametrize(
    ("system", "ranked", "why"),
    [
        (breaks_on("abcdef"), True, ""),
        (unrecorded_on("abcde"), True, ""),
        (breaks_on("abcdefx"), False, "fewer than 50% of the rows came to an end for extractive 5 of 12."),
        (
            unrecorded_on("abcxyzu"),
            False,
            "fewer than 50% of the rows came to an end for extractive 5 of 12.",
        ),
    ],
)
def test_nothing_is_ranked_below_the_floor(comparing, system, ranked, why):
    """Half of the rows is enough; one less, and the systems stand as they were named, with the reason."""
    found = comparing(vanilla=lazy, extractive=system)
    assert (found.ranked, found.below_floor) == (ranked, [] if ranked else ["extractive"])
    assert ("Not ranked" in scoreboard(found).note) is not ranked
    assert why in scoreboard(found).note
    if not ranked:
        assert found.ranking == ["vanilla", "extractive", *DUMMIES]
        assert found.to_dict()["ordered_by"] is None


def test_rows_that_only_each_alone_has_run_are_no_ground_for_an_order(comparing):
    """Each has eight of twelve rows, and both together have four."""
    found = comparing(vanilla=unrecorded_on("abuv"), extractive=unrecorded_on("cdwx"))
    assert (found.common, found.below_floor, found.ranked) == (4, [], False)
    assert "came to an end for all together 4 of 12" in scoreboard(found).note


def test_seconds_say_on_which_machine_they_were_measured(comparing):
    found = replace(comparing(vanilla=perfect), machine="an old laptop, 2 cores")
    assert heading(found).endswith("Seconds are those of its calls on an old laptop, 2 cores.")
    assert "an old laptop, 2 cores" in PLOTS["latency"](found).axes[0].get_xlabel()
    assert "an old laptop, 2 cores" in page(found)
    assert found.to_dict()["machine"] == "an old laptop, 2 cores"


def test_seconds_of_a_replay_say_by_which_clock_they_were_computed(comparing):
    clock = Clock("local/small", "a desk, 2 cores", "llama", "2026-11-30", 9, 0.5, 0.013, 0.07, 0.02)
    found = replace(comparing(vanilla=perfect), machine="two laptops", clock=clock)
    assert heading(found).endswith(
        "Seconds are computed from calls and tokens: a desk, 2 cores, 13 ms a prompt token and 70 ms a reply token."
    )
    assert (
        PLOTS["latency"](found).axes[0].get_xlabel() == "seconds in LLM calls, computed for a desk, 2 cores"
    )
    assert found.to_dict()["clock"]["a_reply_token"] == 0.07


def looks_up(everything: bool):
    return lambda question: answer(
        question, steps=[Step("retrieve")] if everything or question[0] != "g" else []
    )


def test_a_system_that_never_decides_whether_to_search_is_named(comparing, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROWS", [*ROWS, row("g", "direct")])
    found = comparing(vanilla=looks_up(True), extractive=looks_up(False), closed_book=lambda q: answer(q))
    assert found.undecided == {"vanilla": 1.0, "closed_book": 0.0}
    [note] = [table.note for table in tables(found) if table.title.startswith("How often it retrieves")]
    assert note == "No decision is to be seen: vanilla looks up everything, closed_book looks up nothing."
    monkeypatch.setattr(sys.modules[__name__], "ROWS", ROWS[:-1])
    assert (
        comparing(vanilla=looks_up(True)).undecided == {}
    )  # every question wants a passage: nothing to decide


def test_nothing_is_ranked_where_one_kind_of_row_is_gone(comparing):
    """Half of the rows is left, and all are to be refused: a dummy would be crowned."""
    found = comparing(vanilla=unrecorded_on("abcdef"), extractive=perfect)
    assert (found.ranked, found.below_floor, found.not_above_dummies) == (False, [], [])
    assert found.ranking == ["vanilla", "extractive", *DUMMIES]
    assert "all to answer, or all to refuse" in scoreboard(found).note


def test_rows_that_one_system_never_ran_are_left_out_for_all_and_that_is_said(comparing):
    found = comparing(vanilla=perfect, extractive=unrecorded_on("abcx"))
    assert (found.rows, found.common) == (12, 8)
    assert found.estimate("calls", "vanilla").n == 8
    assert found.coverage("vanilla").not_recorded == 0
    assert heading(found).startswith("Compared on only 8 of the 12 questions of made_up")
    assert "extractive 4 not recorded" in scoreboard(found).note
    assert "Without extractive the others could be compared on 12 rows." in scoreboard(found).note
    whole = comparing(vanilla=perfect)
    assert (
        heading(whole)
        == "Compared on all 12 questions of made_up, split all: 6 to answer, 6 to refuse. Model: no model."
    )
    assert whole.holding_back == {}


def test_a_selection_of_early_ends_is_not_to_be_trusted(comparing):
    """What is recorded of vanilla are the requests it refuses; where it would have written, a call is missing."""

    def refuses_or_breaks_off(question: str):
        for meter in open_meters():
            meter.add_call(prompt_tokens=1, completion_tokens=1, seconds=0.0, cost=0.0)
        if question[0] in "abc":
            raise ReplayMiss("the draft is not recorded")
        return answer(question, "", Status.REFUSED, steps=[Step("grade", calls=1)])

    found = comparing(vanilla=refuses_or_breaks_off, extractive=perfect)
    assert found.selected == {"vanilla": 3}
    assert "Do not trust this table yet" in scoreboard(found).note
    assert "vanilla on 3 rows" in scoreboard(found).note
    assert "Do not trust" not in scoreboard(comparing(vanilla=perfect)).note


def test_of_two_that_are_equal_the_cheaper_comes_first(comparing):
    def dear(question: str):
        found = perfect(question)
        found.trace.steps[1].calls = 9
        return found

    assert comparing(vanilla=dear, extractive=perfect).ranking[:2] == ["extractive", "vanilla"]


def test_calls_and_seconds_have_one_decimal_in_every_form(comparing):
    """Three calls on one row of twelve and one on the others: 1.1666..., and no form may add digits to 1.2."""

    def uneven(question: str):
        found = perfect(question)
        found.trace.steps[1].calls = 3 if question[0] == "a" else 1
        return found

    found = comparing(vanilla=uneven)
    [line] = [line for line in scoreboard(found).rows if line["system"] == "vanilla"]
    assert (line["calls"], line["seconds"]) == ("1.2", "1.0")
    assert "| 1.2 | 1.0 | 12 of 12 |" in readme_block(found)
    assert "<td>1.2</td><td>1.0</td>" in page(found)


def test_one_that_is_no_better_than_a_dummy_is_named(comparing):
    found = comparing(vanilla=lambda question: answer(question, "", Status.REFUSED), extractive=perfect)
    assert found.not_above_dummies == ["vanilla"]
    assert "against always_refuse, the best dummy, no gain is seen of vanilla." in scoreboard(found).note
    both = comparing(vanilla=lazy, extractive=lazy)
    assert "no gain is seen of any of them." in scoreboard(both).note


@settings(deadline=None, max_examples=30)
@given_any(st.integers(1, 8), st.integers(1, 8), st.sets(st.integers(0, 7)))
def test_no_dummy_passes_one_half_whatever_the_passages_hold(answerable, unanswerable, lucky):
    rows = [row(f"a{n}") for n in range(answerable)] + [row(f"u{n}", "refuse") for n in range(unanswerable)]
    hits = [hit(f"a{n}", "It is 5." if n in lucky else "Nothing.") for n in range(answerable)]
    made = setup(*rows, hits=hits)
    results = {name: running.run(made, name).pairs for name in DUMMIES}
    found = Comparison("made_up", "all", "", results, "always_refuse")
    assert all(headline(found, name) <= 0.5 for name in DUMMIES)


def test_who_is_compared_with_whom(comparing):
    found = comparing(extractive=perfect, vanilla=lambda question: answer(question, "It is 6."))
    assert found.against == "vanilla"
    difference = found.difference("right behaviour", "extractive")
    assert (difference.value, difference.n, difference.seen) == (1.0, 12, True)
    assert not found.difference("calls", "vanilla").seen
    with pytest.raises(ConfigError, match="'closed_book'"):
        compare(setup(*ROWS), ["vanilla"], against="closed_book")
    for names in ([], ["vanilla", "vanilla"], ["magic"]):
        with pytest.raises(ConfigError):
            compare(setup(*ROWS), names)


def test_every_form_shows_every_system(comparing):
    found = comparing(vanilla=lazy, extractive=breaks_on("cf"))
    assert json.loads(json.dumps(found.to_dict()))["systems"]["extractive"]["coverage"]["failed"] == 2
    html = page(found)
    assert html.count("<img ") == len(PLOTS) - 1  # nobody grades passages, so nothing is kept
    assert 'alt="Where the calls go. made_up, 12 of 12 questions (split all); no model"' in html
    alone = page(comparing(extractive=lambda question: answer(question, "It is 5.")))
    assert (alone.count("<img "), "Differences from" in alone) == (1, False)
    for name in (*DUMMIES, "vanilla", "extractive"):
        assert f"<td>{name}</td>" in html
        assert f"| {name} |" in readme_block(found)
    assert all(table.rows for table in tables(found))


def test_pictures_hold_what_the_tables_hold(comparing):
    found = comparing(vanilla=lazy, extractive=perfect)
    axes = PLOTS["accuracy against calls"](found).axes[0]
    words = {text.get_text() for text in axes.texts}
    assert words == {"extractive", "vanilla", "always refuse", "first passage", "copy question"}
    heights = [text.get_position()[1] for text in axes.texts if text.get_position()[0] < 0]
    assert heights == sorted(heights, reverse=True)
    assert axes.get_title("left") == "made_up, 12 of 12 questions (split all); no model"
    bars = PLOTS["calls by step"](found).axes[0].patches
    assert [bar.get_width() for bar in bars] == [1.0, pytest.approx(8 / 12)]
    assert PLOTS["latency"](found).axes[0].lines[0].get_ydata()[-1] == 1.0


@given_any(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 1)), max_size=9))
@settings(deadline=None, max_examples=50)
def test_labels_that_are_near_each_other_stand_apart(points):
    named = {str(n): point for n, point in enumerate(points)}
    found = list(_apart(named, near=5.0).values())
    for n, (x, y) in enumerate(found):
        assert all(abs(x - x1) >= 5.0 or abs(y - y1) >= 0.05 - 1e-9 for x1, y1 in found[:n])


def test_a_calibrated_judge_lies_on_the_line():
    rows = [Judged(f"{n}", f"{n}", n % 10 < 5, 0.5, 1.0) for n in range(20)]
    rows += [Judged(f"x{n}", f"x{n}", True, 1.0, 1.0) for n in range(20)]
    axes = reliability({"a judge": report(rows, 0.5)}).axes[0]
    points = axes.lines[1].get_xydata().tolist()
    assert points == [[0.5, 0.5], [1.0, 1.0]]


# ---------------------------------------------------------------- on the recordings


def recorded_comparison(systems: Sequence[str] = ALL) -> Comparison:
    """Replies come straight from the recordings, which saves half a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gateway, "send", lambda target, call, *, timeout: replay.answer(call))
        return compare(open_setup("larkspur"), systems)


@pytest.fixture(scope="module")
def larkspur() -> Comparison:
    return recorded_comparison()


def test_the_same_recordings_give_the_same_figures_twice(larkspur):
    some = ("vanilla", "lean")
    first, again = (found.to_dict()["systems"] for found in (larkspur, recorded_comparison(some)))
    assert [json.dumps(again[name]) for name in some] == [json.dumps(first[name]) for name in some]


def test_no_dummy_is_first_in_any_figure_of_right_answers_on_larkspur(larkspur):
    assert larkspur.common == larkspur.rows == 59
    assert larkspur.best_dummy == "always_refuse"
    assert headline(larkspur, "always_refuse") == 0.5
    for figure in ("right behaviour", "answered right", "right, if it answers", "token F1"):
        best = {name: found.value for name in larkspur.results if (found := larkspur.estimate(figure, name))}
        assert max(best, key=best.__getitem__) not in DUMMIES, figure


def test_on_larkspur_two_systems_are_seen_above_the_best_dummy(larkspur):
    seen = set(larkspur.systems) - set(larkspur.not_above_dummies)
    assert seen == {"nli_loop", "prompt_recipe"}


def test_what_is_recorded_on_larkspur_is_no_selection(larkspur):
    assert larkspur.selected == {}
    assert larkspur.ranked


def test_the_seconds_on_larkspur_are_those_of_one_quiet_machine(larkspur):
    assert larkspur.clock.machine == "Intel(R) Xeon(R) Processor, 2 cores"
    assert larkspur.clock.error < 0.15
    assert str(larkspur.clock) in heading(larkspur)


def test_the_readme_shows_the_current_comparison(larkspur):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme_block(larkspur)
    assert with_block(text, "larkspur", block) == text, "renew it with: cookbook compare --readme"


def test_a_readme_without_the_place_for_a_table_says_what_to_write():
    with pytest.raises(ConfigError, match="larkspur: made by cookbook compare --readme"):
        with_block("# Nothing here\n", "larkspur", "| a |")


# ---------------------------------------------------------------- the command


def cookbook(*arguments: str):
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_command_prints_tables_and_json_apart(comparing, monkeypatch, tmp_path):
    comparing(vanilla=perfect)
    monkeypatch.setattr("cookbook.eval.run.open_setup", lambda name, **_: setup(*ROWS, hits=HITS))
    result = cookbook("--systems", "vanilla", "--html", str(tmp_path / "page.html"))
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Compared on all 12 questions of made_up")
    assert "Scoreboard, with 95 % intervals" in result.stdout
    assert "</html>" in (tmp_path / "page.html").read_text()
    found = json.loads(cookbook("--systems", "vanilla", "--json").stdout)
    assert found["systems"]["vanilla"]["figures"]["right behaviour"]["value"] == 1.0


def test_the_command_lets_a_judge_read_the_answers(comparing, monkeypatch, tmp_path):
    comparing(vanilla=perfect)
    monkeypatch.setattr("cookbook.eval.run.open_setup", lambda name, **_: setup(*ROWS, hits=HITS))
    entails = SimpleNamespace(calls=0, judge=lambda premise, claim: Entailment(0.9, 0.1, 0.0))
    monkeypatch.setattr("cookbook.reflect.critic.load_critic", lambda: entails)
    page = tmp_path / "page.html"
    result = cookbook("--systems", "vanilla", "--judge", "--json", "--html", str(page))
    found = json.loads(result.stdout)["judged"]
    assert (found["agreement"]["right"]["value"], found["agreement"]["wrong"]) == (1.0, None)
    assert found["systems"]["vanilla"]["answers"] == 6
    assert "What a judge says of the answers" in page.read_text()
    assert "judged" not in json.loads(cookbook("--systems", "vanilla", "--json").stdout)


def test_the_command_ends_with_one_where_nothing_is_ranked(comparing, monkeypatch):
    comparing(vanilla=breaks_on("abcx"))
    monkeypatch.setattr("cookbook.eval.run.open_setup", lambda name, **_: setup(*ROWS, hits=HITS))
    assert cookbook("--systems", "vanilla").exit_code == 0
    few = cookbook("--systems", "vanilla", "--floor", "0.7", "--json")
    assert (few.exit_code, json.loads(few.stdout)["ranked"]) == (1, False)
    assert "Not ranked" in few.stderr


@pytest.mark.parametrize(
    ("given", "split"),
    [((), "report"), (("--path", "x"), "all"), (("--path", "x", "--split", "fit"), "fit")],
)
def test_nothing_was_fitted_on_rows_of_ones_own_so_all_of_them_count(comparing, monkeypatch, given, split):
    comparing(vanilla=perfect)
    asked = []

    def opened(name, **named):
        asked.append(named["split"])
        return setup(*ROWS, hits=HITS)

    monkeypatch.setattr("cookbook.eval.run.open_setup", opened)
    assert cookbook("--systems", "vanilla", *given).exit_code == 0
    assert asked == [split]


@pytest.mark.parametrize("target", ["/nowhere/page.html", "/tmp"])
def test_a_page_that_cannot_be_written_is_said_before_the_work(monkeypatch, target):
    monkeypatch.setattr("cookbook.eval.run.open_setup", lambda name, **_: pytest.fail("it began"))
    result = cookbook("--html", target)
    assert (result.exit_code, "cannot write" in result.stderr) == (2, True)


def test_the_command_renews_the_readme(comparing, monkeypatch, tmp_path):
    comparing(vanilla=perfect)
    monkeypatch.setattr("cookbook.eval.compare.ALL", ("vanilla",))
    monkeypatch.setattr("cookbook.eval.run.open_setup", lambda name, **_: setup(*ROWS, hits=HITS))
    monkeypatch.setattr("cookbook.paths.ROOT", tmp_path)
    start, end = "<!-- larkspur: made by cookbook compare --readme -->", "<!-- end of larkspur -->"
    (tmp_path / "README.md").write_text(f"before\n{start}\nold\n{end}\nafter\n")
    for less in (("--systems", "vanilla"), ("--split", "fit"), ("--against", "vanilla")):
        refused = cookbook("--readme", *less)
        assert (refused.exit_code, "the README shows all systems" in refused.stderr) == (2, True)
    assert "old" in (tmp_path / "README.md").read_text()
    assert cookbook("--readme").exit_code == 0
    text = (tmp_path / "README.md").read_text()
    assert text.startswith(f"before\n{start}\nCompared on all 12")
    assert text.endswith(f"{end}\nafter\n")
    assert "old" not in text


@pytest.mark.parametrize("wrong", [["--set", "nowhere"], ["--systems", "magic"], ["--split", "test"]])
def test_the_command_says_what_is_wrong_in_one_line(wrong):
    result = cookbook(*wrong)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1
