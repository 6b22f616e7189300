"""Judges on labelled pairs: what a score is, what a failure costs, and what is kept on the disk."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cookbook import paths
from cookbook.cli import app
from cookbook.errors import ConfigError, ProviderUnavailable, TooLongToJudge
from cookbook.eval import judges, scores
from cookbook.eval.judges import (
    Confusion,
    Judge,
    Judged,
    best_cut,
    by_entailment,
    by_relevance,
    by_support,
    calibration,
    halves,
    known,
    open_judge,
    report,
)
from cookbook.eval.outside import LabelledPair
from cookbook.eval.scores import ScoreFile, score, score_files
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.entailment import Entailment
from cookbook.reflect.relevance import KEEP_AT, LLMRelevance
from cookbook.reflect.support import GradedSupport, LLMSupport
from cookbook.schema import Decision, Support, Verdict

PAIR = LabelledPair("i", "g", "Why?", "It is 5.", "Five.", True)


def judged(good: bool, score: float | None, group: str = "") -> Judged:
    return Judged(f"{good}{score}", group or f"{good}{score}", good, score, 1.0)


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize(("word", "expected"), [("yes", 0.8), ("no", 0.2)])
def test_a_score_is_the_probability_of_the_good_label(word, expected):
    other = {"yes": "no", "no": "yes"}[word]
    client = LLMClient(scripted_table({"": {word: 0.8, other: 0.2}}))
    assert by_relevance(LLMRelevance(client), PAIR) == pytest.approx(expected, abs=1e-4)
    assert by_support(LLMSupport(client), PAIR) == pytest.approx(expected, abs=1e-4)


def test_a_failed_grader_has_no_score():
    client = LLMClient("scripted/garbage", max_retries=0)
    assert by_relevance(LLMRelevance(client), PAIR) is None
    assert by_support(LLMSupport(client), PAIR) is None


@pytest.mark.parametrize(
    ("fully", "partially", "score"), [(0.2, 0.6, 0.5), (0.1, 0.4, 0.3), (0.7, 0.1, 0.75)]
)
def test_of_three_levels_the_mean_is_the_score(fully, partially, score):
    levels = {"yes": fully, "partly": partially, "no": 1 - fully - partially}
    grader = GradedSupport(LLMClient(scripted_table({"": levels})))
    assert by_support(grader, PAIR) == pytest.approx(score, abs=1e-3)


def test_a_level_without_a_mean_scores_the_most_that_the_good_one_can_have():
    class Says:
        def __init__(self, **verdict):
            self.verdict = Verdict(Decision.SUPPORT, Support.PARTIALLY, **verdict)

        def check(self, question, answer, hits):
            return self.verdict

    assert by_support(Says(probability=0.6), PAIR) == pytest.approx(0.4)
    assert by_support(Says(), PAIR) == 0.0


def test_an_entailment_judge_scores_the_answer_and_fails_by_raising():
    class Entails:
        calls = 1

        def judge(self, premise, hypothesis):
            if hypothesis == "Five.":
                return Entailment(0.7, 0.2, 0.1)
            raise ProviderUnavailable("down")

    judge = Judge("j", lambda pair: by_entailment(Entails(), pair))
    assert judge.judged(PAIR).score == 0.7
    broken = LabelledPair("b", "g", "Why?", "It is 5.", "Six.", False)
    assert judge.judged(broken).score is None


def test_a_pair_that_is_too_long_for_a_judge_is_a_failure_and_ends_nothing():
    def too_long(pair):
        raise TooLongToJudge("fewer words")

    assert Judge("j", too_long).judged(PAIR).score is None


def test_judges_by_name(monkeypatch):
    monkeypatch.setenv("PROVIDER", "scripted/always_yes")
    judge = open_judge("llm", "support")
    assert (judge.name, judge.score(PAIR)) == ("llm-always_yes", pytest.approx(1.0))
    assert known("llm", "relevance").cut == KEEP_AT
    assert known("cosine", "support").prompt == ""
    for name, asks in (("magic", "support"), ("entailment", "relevance")):
        with pytest.raises(ConfigError, match=name):
            open_judge(name, asks)


# ---------------------------------------------------------------- figures


def test_the_report_of_a_judge():
    rows = [judged(True, 0.9), judged(True, 0.6), judged(True, 0.2), judged(False, 0.5), judged(False, 0.1)]
    found = report(rows, cut=0.5)
    assert found.auc.value == pytest.approx(5 / 6)
    assert found.confusion == Confusion(good_yes=2, good_no=1, bad_yes=1, bad_no=1, failed=0)
    assert found.accuracy.value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert (found.pairs, found.failures.value, found.seconds) == (5, 0.0, 1.0)


def test_a_failure_is_no_verdict_and_not_right_either():
    rows = [judged(True, 0.9), judged(False, 0.1), judged(True, None), judged(False, None)]
    found = report(rows, cut=0.5)
    assert found.confusion == Confusion(1, 0, 0, 1, failed=2)
    assert (found.accuracy.value, found.failures.value) == (0.5, 0.5)
    assert (found.auc.value, found.auc.n) == (1.0, 2)


def test_who_always_says_the_same_is_a_coin():
    rows = [judged(n < 9, 0.9) for n in range(10)]
    found = report(rows, cut=0.5)
    assert (found.auc.value, found.accuracy.value) == (0.5, 0.5)


def test_one_kind_alone_says_nothing():
    with pytest.raises(ConfigError, match="--limit"):
        report([judged(True, 0.9), judged(False, None)], cut=0.5)


def test_bins_are_of_equal_size_and_tear_no_equal_scores_apart():
    scores, good = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [False, False, False, True, True, True]
    assert [(b.score, b.good.value, b.good.n) for b in calibration(scores, good, bins=3)] == [
        (pytest.approx(0.15), 0.0, 2),
        (pytest.approx(0.35), 0.5, 2),
        (pytest.approx(0.55), 1.0, 2),
    ]
    [one] = calibration([0.9] * 10, [True] * 4 + [False] * 6)
    assert (one.score, one.good.value, one.good.n) == (pytest.approx(0.9), 0.4, 10)


def test_the_calibration_error_is_the_mean_distance_from_the_truth():
    sure = [judged(True, 1.0, "a"), judged(True, 1.0, "b"), judged(False, 0.0, "c")]
    assert report(sure, 0.5).calibration_error == 0.0
    assert report([judged(True, 0.9), judged(False, 0.9)], 0.5).calibration_error == pytest.approx(0.4)


# ---------------------------------------------------------------- a cut of its own


def test_the_halves_keep_a_group_whole_and_never_move():
    rows = [judged(n % 2 == 0, n / 40, f"{n // 2:012x}") for n in range(40)]
    fit, told = halves(rows)
    assert {row.group for row in fit} == {f"{n:012x}" for n in range(0, 20, 2)}
    assert not {row.group for row in fit} & {row.group for row in told}
    assert len(fit) + len(told) == 40
    assert halves(rows[::-1])[0] == fit[::-1]


def test_the_best_cut_parts_what_can_be_parted():
    rows = [judged(True, 0.2), judged(True, 0.3), judged(False, 0.0), judged(False, 0.1), judged(True, None)]
    assert best_cut(rows) == pytest.approx(0.15)
    assert best_cut([*rows, judged(False, 0.25)]) == pytest.approx(
        0.15
    )  # one bad pair above it, no good one below
    assert (
        best_cut([judged(True, 0.1), judged(False, 0.9)]) == 0.5
    )  # never better than a coin, and still a number


@pytest.mark.parametrize(
    "rows", [[], [judged(True, 0.5), judged(True, 0.6)], [judged(True, 0.5), judged(False, 0.5)]]
)
def test_no_cut_is_fitted_where_nothing_is_to_be_parted(rows):
    with pytest.raises(ConfigError, match="both kinds"):
        best_cut(rows)


# ---------------------------------------------------------------- on the disk

PAIRS = [LabelledPair(f"id{n}", f"g{n}", "q", f"secret text {n}", "a", n % 2 == 0) for n in range(4)]


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The set "begin" has four pairs; a judge that notes whom it judged."""
    monkeypatch.setattr(paths, "EVAL_SETS", tmp_path)
    monkeypatch.setattr(scores, "load_pairs", lambda name: PAIRS)
    asked: list[str] = []

    def one(pair: LabelledPair) -> float | None:
        asked.append(pair.id)
        return None if pair.id == "id3" else 0.75 if pair.good else 0.25

    return Judge("llm-made-up", one), asked


def test_scores_are_kept_without_texts(kept):
    judge, _ = kept
    found = score("begin", judge)
    [file] = score_files()
    assert (file.eval_set, file.judge, file.known.cut) == ("begin", "llm-made-up", 0.5)
    assert [(row.id, row.score) for row in file.read()] == [
        ("id0", 0.75),
        ("id1", 0.25),
        ("id2", 0.75),
        ("id3", None),
    ]
    assert file.read() == found
    assert "secret" not in file.path.read_text()


def test_a_broken_off_run_goes_on_where_it_stopped(kept):
    judge, asked = kept
    score("begin", judge, limit=2)
    before, asked[:] = list(asked), []
    assert len(score("begin", judge)) == 4
    assert (before, asked) == (["id0", "id1"], ["id2", "id3"])


def test_a_kill_in_the_middle_of_any_line_costs_that_line_alone(kept):
    judge, asked = kept
    score("begin", judge)
    [file] = score_files()
    whole, found = file.path.read_bytes(), file.read()
    lines = whole.splitlines(keepends=True)
    for torn in range(len(whole)):
        file.path.write_bytes(whole[:torn])
        asked.clear()
        score("begin", judge)
        there = max(whole[:torn].count(b"\n") - 1, 0)
        assert asked == ["id0", "id1", "id2", "id3"][there:]
        assert [(row.id, row.score) for row in file.read()] == [(row.id, row.score) for row in found]
        assert file.path.read_bytes().splitlines(keepends=True)[: there + 1] == lines[: there + 1]


def test_a_torn_line_is_not_shown_and_stays_until_somebody_scores(kept):
    score("begin", kept[0])
    [file] = score_files()
    torn = file.path.read_bytes()[:-5]
    file.path.write_bytes(torn)
    assert [row.id for row in file.read()] == ["id0", "id1", "id2"]
    assert file.path.read_bytes() == torn


def test_a_failure_is_kept_like_any_result(kept):
    judge, asked = kept
    score("begin", judge)
    asked.clear()
    assert score("begin", judge)[3].score is None
    assert asked == []


def test_judges_are_compared_on_the_pairs_that_both_have_scored(kept):
    judge, _ = kept
    score("begin", judge)
    score("begin", replace(judge, name="cosine-made-up"), limit=3)
    both = score_files()
    assert scores.same_rows(both) == {"begin": {"id0", "id1", "id2"}}
    figures = [file.report(scores.same_rows(both)["begin"]) for file in both]
    assert [found.pairs for found in figures] == [3, 3]


def test_texts_of_others_are_never_recorded(kept, monkeypatch):
    monkeypatch.setenv("COOKBOOK_RECORD", "x")
    with pytest.raises(ConfigError, match="COOKBOOK_RECORD"):
        score("begin", kept[0])


def test_a_broken_file_says_so(kept):
    file = ScoreFile.of("begin", "llm-made-up")
    file.path.parent.mkdir()
    head = "id,group,good,score,seconds,prompt,date\n"
    file.path.write_text(f"{head}a,b,1,high,1.0,{file.known.prompt},2026-11-30\n")
    with pytest.raises(ConfigError, match=r"begin_llm-made-up\.csv"):
        file.read()
    file.path.write_text(f"{head}a,b,1,0.5,1.0,support 0,2026-11-30\n")
    with pytest.raises(ConfigError, match="with the prompt support 0, today's is support"):
        file.read()
    file.path.write_text(f"{head}a,b,1,0.5\n")
    with pytest.raises(ConfigError, match=r"begin_llm-made-up\.csv is no file of scores"):
        file.read()


HEAD = "id,group,good,score,seconds,prompt,date\n"


@pytest.mark.parametrize(
    ("name", "text", "does"),
    [
        ("begin_llm-x.csv", "", "score good and bad pairs first"),
        ("begin_llm-x.csv", HEAD, "score good and bad pairs first"),
        ("begin_critic-x.csv", f"{HEAD}a,b,1,0.5,1.0,,2026-11-30\n", "or remove the file"),
        ("begin_critic-x.csv", "name,price\nsoap,2\n", "restore it, or remove it and score again"),
        ("foo_bar.csv", HEAD, "rename or remove it"),
        ("begin_magic.csv", HEAD, "rename or remove it"),
    ],
)
def test_a_file_that_cannot_be_shown_is_named_with_what_to_do(kept, name, text, does):
    score("begin", kept[0])
    (scores.folder() / name).write_text(text)
    result = CliRunner().invoke(app, ["judges"])
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith(f"error: {name}")
    assert does in line


def test_the_command_scores_and_shows(kept, monkeypatch):
    monkeypatch.setattr("cookbook.eval.outside.load_pairs", lambda name: PAIRS)
    monkeypatch.setattr(judges, "open_judge", lambda name, asks: kept[0])
    result = CliRunner().invoke(app, ["judges", "--set", "begin", "--grader", "llm", "--json"])
    assert result.exit_code == 0, result.stderr
    [found] = json.loads(result.stdout)
    assert (found["set"], found["judge"], found["pairs"]) == ("begin", "llm-made-up", 4)
    assert found["confusion"] == {"good_yes": 2, "good_no": 0, "bad_yes": 0, "bad_no": 1, "failed": 1}
    shown = CliRunner().invoke(app, ["judges"]).stdout
    assert "llm-made-up" in shown


def test_the_committed_scores_are_shown_uncut_with_what_they_mean():
    shown = CliRunner().invoke(app, ["judges"]).stdout
    files = score_files()
    assert shown.count("…") == 0
    for file in files:
        found = file.report()
        figures = f"{found.pairs:7} {file.known.cut:6.2f}   {found.auc}   {found.accuracy.percent}"
        assert any(line.startswith(f"{file.judge} ") and figures in line for line in shown.splitlines())
    assert all(f"{file.eval_set} " in shown for file in files)
    note = " ".join(shown.splitlines()[-4:])
    for word in ("coin", "cut", "median pair, on a machine with other work", "--same-rows"):
        assert word in note


def test_one_judge_can_be_shown_on_the_pairs_of_all(kept, monkeypatch):
    monkeypatch.setattr("cookbook.eval.outside.load_pairs", lambda name: PAIRS)
    monkeypatch.setattr(judges, "open_judge", lambda name, asks: kept[0])
    score("begin", replace(kept[0], name="cosine-made-up"), limit=2)
    result = CliRunner().invoke(app, ["judges", "--set", "begin", "--grader", "llm", "--same-rows", "--json"])
    assert json.loads(result.stdout)[0]["pairs"] == 2


@pytest.mark.parametrize(
    ("provider", "asked"), [("", "local"), ("scripted/always_yes", "scripted/always_yes")]
)
def test_without_a_provider_the_local_model_judges(kept, monkeypatch, provider, asked):
    monkeypatch.setenv("PROVIDER", provider)
    monkeypatch.setattr("cookbook.eval.outside.load_pairs", lambda name: PAIRS)
    seen = []
    monkeypatch.setattr(
        judges, "open_judge", lambda name, asks: seen.append(os.environ["PROVIDER"]) or kept[0]
    )
    result = CliRunner().invoke(app, ["judges", "--set", "begin", "--grader", "llm"])
    assert (result.exit_code, seen, os.environ["PROVIDER"]) == (0, [asked], provider)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--set", "begin"],
        ["--limit", "60"],
        ["--set", "nowhere", "--grader", "llm"],
        ["--set", "begin", "--grader", "magic"],
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(wrong):
    result = CliRunner().invoke(app, ["judges", *wrong])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")


# ---------------------------------------------------------------- the committed scores


@pytest.mark.parametrize("file", score_files(), ids=lambda file: file.path.stem)
def test_committed_scores_hold_no_text_and_can_be_reported(file):
    rows = file.read()
    assert len({row.id for row in rows}) == len(rows) >= 50
    assert all(len(row.id) == len(row.group) == 12 for row in rows)
    assert all(row.score is None or 0.0 <= row.score <= 1.0 for row in rows)
    assert file.report().pairs == len(rows)
