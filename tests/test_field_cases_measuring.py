"""Field cases of measuring: failures stay in, refusals are no prose, dummies do not win, and every figure has its n."""

from __future__ import annotations

import json
import re

import pytest
from eval_stubs import Stub, answer, hit, row, setup
from reflect_parts import ENTAILS, TableJudge, passage

from cookbook.baselines import Vanilla
from cookbook.errors import ConfigError, ReplyTruncated, ReplyUnparsable
from cookbook.eval import run as running
from cookbook.eval.behaviour import Outcomes, Rejection, behaviour, rejection
from cookbook.eval.compare import Comparison, compare
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.evidence import groundedness
from cookbook.eval.judges import Judge, Judged, report
from cookbook.eval.metrics import require_both
from cookbook.eval.outside import LabelledPair
from cookbook.eval.page import readme_block
from cookbook.eval.report import heading, scoreboard
from cookbook.eval.scores import score_files, shown
from cookbook.eval.sets import eval_set_names, load_eval_set
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.relevance import batched as batching
from cookbook.reflect.relevance.batched import BatchedRelevance
from cookbook.reflect.support import ClaimSupport
from cookbook.schema import Status, Step

ROWS = [row(name) for name in "abcdef"] + [row(name, "refuse") for name in "uvwxyz"]
HITS = [hit(name, "It is 5.") for name in "abcdef"]


def right(question: str):
    if question[0] in "abcdef":
        found = [hit(question[0], "It is 5.")]
        return answer(
            question, contexts=found, citations=[found[0].chunk_id], steps=[Step("generate", calls=1)]
        )
    return answer(question, "", Status.REFUSED)


def wrong_on_hard(question: str):
    return answer(question, "It is 6.") if question[0] in "def" else right(question)


def crashes_on_hard(question: str):
    if question[0] in "def":
        raise RuntimeError("too hard")
    return right(question)


def compared(monkeypatch, **stubs) -> Comparison:
    def make(name, parts):
        return DUMMIES[name](parts) if name in DUMMIES else Stub(stubs[name])

    monkeypatch.setattr(running, "make", make)
    return compare(setup(*ROWS, hits=HITS), list(stubs))


# ---------------------------------------------------------------- what failed


def test_field_case_V01_a_system_that_crashes_on_the_hard_rows_is_not_better(monkeypatch):
    found = compared(monkeypatch, vanilla=wrong_on_hard, extractive=crashes_on_hard)
    tries, crashes = (found.estimate("right behaviour", name) for name in ("vanilla", "extractive"))
    assert (crashes.value, crashes.n) == (tries.value, tries.n)
    assert found.coverage("extractive").failed == 3
    assert str(found.coverage("extractive")) == "9 of 12"
    assert "extractive 3 failed" in scoreboard(found).note
    assert found.estimate("failed", "extractive").value == 0.25


@pytest.mark.parametrize(
    ("scores", "n"), [([1.0, None], 1), ([0.8, None, None], 1), ([1.0, 0.2, None, 0.9], 3), ([None, None], 0)]
)
def test_field_case_V01_a_mean_says_how_many_were_scored_and_how_many_failed(scores, n):
    rows = [Judged(str(i), str(i), good, s, 0.1) for good in (True, False) for i, s in enumerate(scores)]
    if n == 0:
        with pytest.raises(ConfigError, match="score good and bad pairs first"):
            report(rows, 0.5)
        return
    found = report(rows, 0.5)
    assert (found.pairs, found.auc.n, found.confusion.failed) == (
        2 * len(scores),
        2 * n,
        2 * (len(scores) - n),
    )
    assert found.failures.value == pytest.approx(1 - n / len(scores))
    assert found.accuracy.value <= n / len(scores)  # a failure is not right


def test_field_case_V01_nothing_is_ranked_below_the_floor_of_coverage(monkeypatch):
    def crashes_mostly(question: str):
        if question[0] not in "abuvw":
            raise RuntimeError("too hard")
        return right(question)

    found = compared(monkeypatch, vanilla=wrong_on_hard, extractive=crashes_mostly)
    assert (found.ranked, found.below_floor) == (False, ["extractive"])
    assert "Not ranked" in scoreboard(found).note
    assert "extractive 5 of 12" in scoreboard(found).note


# ---------------------------------------------------------------- abstention


def test_field_case_V03_refusals_fill_a_table_of_two_by_two_and_no_mean_of_groundedness():
    refusal = "Not found in the provided documents."
    pairs = [
        (row("u", "refuse"), answer("u?", refusal, Status.REFUSED)),
        (row("a"), answer("a?", refusal, Status.REFUSED)),
    ]
    found = behaviour(pairs)
    assert found.unanswerable == Outcomes(refused=1)
    assert found.answerable == Outcomes(refused=1)
    grader = ClaimSupport(TableJudge({("", ""): ENTAILS}))
    assert [groundedness(said, grader) for _, said in pairs] == [None, None]


REFUSING_PROSE = [
    "None of the provided sources relate to this.",
    "It is impossible to determine from the files.",
    "This cannot be determined.",
    "Ich konnte dazu leider keine Angaben finden.",
    "The index lists only the title [2].",
    "I can't help with that.",
    "There is no fee.",
]


@pytest.mark.parametrize("prose", REFUSING_PROSE)
def test_field_case_V04_abstention_is_a_field_and_never_read_from_prose(prose):
    from standins import CARD, StandInRetriever

    from cookbook.systems.base import Parts

    def ask(reply: str):
        return Vanilla(Parts(LLMClient(scripted_table({"": reply})), StandInRetriever(), CARD)).answer("q")

    assert ask(prose).status is Status.ANSWERED  # it is a text, whatever it sounds like
    assert ask("NO ANSWER").status is Status.REFUSED
    pairs = [(row("u", "refuse"), answer("u?", prose)), (row("a"), answer("a?", "It is 5.", Status.REFUSED))]
    found = behaviour(pairs)
    assert (found.unanswerable.answered, found.answerable.refused) == (1, 1)


def test_field_case_V07_without_evidence_three_endings_are_counted_apart():
    noise = [hit("noise", "Nothing of use.")]
    pairs = [
        (row("a"), answer("a?", "It is 5.", contexts=noise)),
        (row("b"), answer("b?", "", Status.REFUSED, contexts=noise)),
        (row("c"), answer("c?", "It is 6.", contexts=noise)),
        (
            row("d"),
            answer("d?", "It is 5.", contexts=[hit("d", "It is 5.")]),
        ),  # saw the evidence: not counted
    ]
    assert rejection(pairs) == Rejection(refused=1, right=1, wrong=1)


# ---------------------------------------------------------------- dummies


def test_field_case_V05_no_dummy_wins_and_both_directions_are_printed(monkeypatch):
    found = compared(monkeypatch, vanilla=right)
    assert found.ranking[0] == "vanilla"
    assert all(found.estimate("right behaviour", name).value <= 0.5 for name in DUMMIES)
    columns = scoreboard(found).rows[0]
    assert {"answered right", "refused rightly"} <= set(columns)


def test_field_case_V05_a_set_of_one_class_is_refused():
    for rows in (ROWS[:6], ROWS[6:], []):
        with pytest.raises(ConfigError, match="of both kinds"):
            require_both(rows)
    for name in set(eval_set_names()) - {"rust-book"}:
        require_both(load_eval_set(name))


# ---------------------------------------------------------------- judges


@pytest.mark.parametrize("error", [ReplyTruncated("cut off"), ReplyUnparsable("said: quite good")])
def test_field_case_V08_the_failures_of_a_judge_stand_beside_its_figures(error):
    def score(pair: LabelledPair):
        if pair.id == "3":
            raise error
        return 0.9 if pair.good else 0.1

    judge = Judge("stub", score)
    pairs = [
        LabelledPair(id=str(n), question="q", passage="p", answer="a", good=n % 2 == 0, group=str(n))
        for n in range(6)
    ]
    found = report([judge.judged(pair) for pair in pairs], 0.5)
    assert (found.confusion.failed, found.failures.n, found.auc.n) == (1, 6, 5)


def test_field_case_V08_a_claim_without_a_verdict_makes_the_row_missing_and_not_good():
    judge = TableJudge({("", "gate"): ReplyTruncated("cut"), ("", ""): ENTAILS})
    said = answer("q", "The tank holds. The gate holds too.", contexts=[passage("It holds.")])
    found = groundedness(said, ClaimSupport(judge))
    assert (found.claims, found.supported, found.failed, found.share) == (2, 1, 1, None)
    whole = ClaimSupport(judge).check("q", said.text, said.contexts)
    assert whole.failed  # the stated rule: a judge that fails on one claim fails the verdict


@pytest.mark.parametrize("n", [1, 6, 8])
def test_field_case_V08_the_room_for_a_reply_grows_with_what_is_to_be_judged(n, monkeypatch):
    asked = []
    client = LLMClient("scripted/echo")

    def ask(messages, schema, *, max_tokens):
        asked.append(max_tokens)
        raise ReplyTruncated("cut off")

    monkeypatch.setattr(client, "ask", ask)
    hits = [passage("p", f"p{i}#0") for i in range(n)]
    assert all(verdict.failed for verdict in BatchedRelevance(client).grade("q", hits))
    assert asked == [16 + batching.TOKENS_EACH * n]


# ---------------------------------------------------------------- claims


def test_field_case_V10_a_claim_names_its_data_its_n_and_its_interval(monkeypatch):
    found = compared(monkeypatch, vanilla=right)
    block = readme_block(found)
    assert heading(found).startswith("Compared on all 12 questions of made_up")
    for line in scoreboard(found).rows:
        for name in ("right behaviour", "answered right", "refused rightly"):
            assert re.fullmatch(r"\d+% \[\d+, \d+\]|-", line[name])
    assert "12 questions of made_up" in block
    figures = json.loads(json.dumps(found.to_dict()))["systems"]["vanilla"]["figures"]["right behaviour"]
    assert set(figures) == {"value", "low", "high", "n"}


def test_field_case_V10_outside_data_say_whether_it_transfers():
    files = score_files()
    assert {"begin", "trec-qa"} <= {file.eval_set for file in files}
    for file in files:
        found = file.report()
        assert found.auc.n + found.confusion.failed == found.pairs
        assert found.auc.low <= found.auc.value <= found.auc.high
        assert {"set", "judge", "pairs", "AUC", "failed"} <= set(shown(file))
