"""Field cases of groundedness: nothing is judged in part, numbers are values, and true is not the same as grounded."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from reflect_parts import DENIES, ENTAILS, TableJudge, passage
from standins import StandInRetriever, build_loop

from cookbook.errors import WeightsError
from cookbook.eval.evidence import groundedness
from cookbook.eval.sets import load_eval_set
from cookbook.labs import paraphrase_of_opposite
from cookbook.reflect import entailment
from cookbook.reflect.entailment import NLICrossEncoder
from cookbook.reflect.numbers import numbers_in, unstated_numbers
from cookbook.reflect.quotes import verified_quotes
from cookbook.reflect.support import ClaimSupport
from cookbook.schema import Answer, Provenance, Reason, Status, Support, Trace
from cookbook.systems.handbook_graph import HandbookGraph
from cookbook.systems.nli_loop import NLILoop

# ---------------------------------------------------------------- an encoder that reads 40 words


class Words:
    """An NLI model of 40 words, which reads: what a window states is entailed, its opposite contradicted."""

    name = "forty words (stand-in)"
    size = 40

    def __init__(self, labels=("contradiction", "entailment", "neutral"), means=None) -> None:
        self.labels, self.means = labels, means or ("contradict", "entail", "neutral")
        self.read: list[tuple[str, str]] = []

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans, position = [], 0
        for word in text.split():
            position = text.index(word, position)
            spans.append((position, position + len(word)))
            position += len(word)
        return spans

    def room(self, text: str) -> int:
        return self.size - 3 - len(text.split())

    def logits(self, pairs):
        said = [self._says(*pair) for pair in pairs]
        return np.array([[5.0 * (means == each) for means in self.means] for each in said])

    def _says(self, premise: str, hypothesis: str) -> str:
        assert len(premise.split()) + len(hypothesis.split()) + 3 <= self.size
        self.read.append((premise, hypothesis))
        if hypothesis == "Nobody is eating.":
            return "contradict"
        if hypothesis.strip(".") in premise or hypothesis == "A man is eating.":
            return "entail"
        return "contradict" if hypothesis.replace("1889", "1899").strip(".") in premise else "neutral"


@pytest.fixture
def encoder(monkeypatch):
    def use(*args, **options) -> Words:
        words = Words(*args, **options)
        monkeypatch.setattr(entailment, "load_cross_encoder", lambda path: words)
        return words

    return use


TRUE = "The tower was opened in 1899"
FILLER = "Rain fell on the river that day and nobody wrote a word about it. "


@pytest.mark.parametrize("times", [1, 7, 70, 140, 1700])
@pytest.mark.parametrize("where", ["first", "last", "repeated"])
def test_field_case_E04_the_verdict_does_not_depend_on_how_much_stands_around_the_evidence(
    encoder, times, where
):
    encoder()
    text = {
        "first": f"{TRUE}. {FILLER * times}",
        "last": f"{FILLER * times}{TRUE}.",
        "repeated": f"{TRUE}. " * times,
    }
    hits = [passage(text[where])]
    support = ClaimSupport(NLICrossEncoder("any"), number_guard=False)
    assert support.check("q", f"{TRUE}.", hits).label is Support.FULLY
    assert support.check("q", "The tower was opened in 1889.", hits).label is Support.NONE


def test_field_case_E04_the_last_claim_of_a_long_answer_is_read(encoder):
    words = encoder()
    support = ClaimSupport(NLICrossEncoder("any"), most_claims=20)
    words.read.clear()  # of the pairs that prove the labels
    answer = " ".join([f"{TRUE}."] * 9 + ["It leans to the east."])
    verdict = support.check("q", answer, [passage(f"{TRUE}.")])
    assert verdict.label is Support.PARTIALLY
    assert "It leans to the east." in verdict.reason
    assert {hypothesis for _, hypothesis in words.read} == {f"{TRUE}.", "It leans to the east."}


def test_field_case_E04_what_does_not_fit_is_not_checkable_and_never_grounded(encoder):
    encoder()
    endless = " ".join(["word"] * 60)
    verdict = ClaimSupport(NLICrossEncoder("any")).check("q", endless, [passage(endless)])
    assert verdict.label is None
    assert "shorter claims" in verdict.failure


# ---------------------------------------------------------------- the order of the labels


@pytest.mark.parametrize("order", list(permutations(("contradict", "entail", "neutral"))))
@pytest.mark.parametrize("spelt", [str.upper, str.title, lambda name: f"{name}ion"])
def test_field_case_E03_the_order_is_read_from_the_config_however_it_is_spelt(encoder, order, spelt):
    full = {"contradict": "contradiction", "entail": "entailment", "neutral": "neutral"}
    if spelt is not str.upper and spelt is not str.title:
        full = {"contradict": "contradict", "entail": "entail", "neutral": "neutral"}
        spelt = str.lower
    encoder(labels=[spelt(full[name]) for name in order], means=order)
    judge = NLICrossEncoder("any")
    assert judge.judge(f"{TRUE}.", f"{TRUE}.").label == "entail"
    assert judge.judge(f"{TRUE}.", "The tower was opened in 1889.").label == "contradict"


def test_field_case_E03_labels_that_say_nothing_are_refused(encoder):
    encoder(labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(WeightsError, match="id2label"):
        NLICrossEncoder("any")


@pytest.mark.parametrize("means", [("entail", "neutral", "contradict"), ("neutral", "contradict", "entail")])
def test_field_case_E03_a_config_that_lies_is_found_by_the_probe(encoder, means):
    encoder(means=means)
    with pytest.raises(WeightsError, match="wrong order"):
        NLICrossEncoder("any")


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("claim", "premise", "flagged"),
    [
        ("It has 3 features and 12 bugs.", "It has 12 features and 3 bugs.", True),
        ("Opened in 1889.", "Opened in 1899.", True),
        ("Take 5 mg.", "Take 5 g.", True),
        ("It leaves at 9:05.", "It leaves at 16:47.", True),
        ("30% agreed.", "12% agreed.", True),
        ("It costs 2.4 million.", "It costs 2,400,000.", False),
        ("It takes 60 minutes.", "It takes an hour.", False),
    ],
)
def test_field_case_E06_a_changed_number_fails_its_claim_and_an_equal_one_does_not(claim, premise, flagged):
    judge = TableJudge({("", ""): ENTAILS})  # that would let everything pass
    verdict = ClaimSupport(judge).check("q", claim, [passage(premise)])
    assert verdict.label is (Support.NONE if flagged else Support.FULLY)
    assert len(judge.asked) == (0 if flagged else 1)


def test_field_case_E06_known_misses_are_listed_and_measured():
    from cookbook.reflect import numbers

    assert "Known misses:" in numbers.__doc__
    assert numbers_in("LK-504, v1.2.3, thirteen") == []  # codes are names
    assert (
        unstated_numbers("5 guests on Studio", "5 guests on Starter, 50 on Studio") == []
    )  # numbers alone agree


# ---------------------------------------------------------------- true, and not grounded


def test_field_case_E07_an_answer_from_memory_is_correct_and_not_grounded():
    hits = [passage("I had a great day in Paris last week.")]
    draft = "The capital of France is Paris."
    judge = TableJudge({("capital", "capital"): ENTAILS})  # the passage has no such word
    system, _ = build_loop(
        HandbookGraph, StandInRetriever({"What is the capital of France?": hits}), drafts=[draft]
    )
    system.support = ClaimSupport(judge)
    answer = system.answer("What is the capital of France?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NOT_SUPPORTED)
    assert "Paris" not in answer.text
    spoken = Answer(
        "q", draft, Status.ANSWERED, Provenance.PASSAGES, Trace("q", "s"), contexts=tuple(hits), citations=()
    )
    assert groundedness(spoken, ClaimSupport(judge)).share == 0.0


# ---------------------------------------------------------------- the opposite

PASSAGE = "You need a conformity assessment before the 14th day."
OPPOSITE = "You do not need a conformity assessment before the 14th day."


def test_field_case_E08_the_opposite_shares_its_words_and_is_rejected():
    from cookbook.embedders import HashEmbedder

    said, opposite = HashEmbedder().embed([PASSAGE, OPPOSITE])
    assert said @ opposite > 0.9  # which is what a check by similarity passes
    judge = TableJudge({(PASSAGE, "do not need"): DENIES, (PASSAGE, PASSAGE): ENTAILS})
    hits = [passage(PASSAGE)]
    assert ClaimSupport(judge).check("q", PASSAGE, hits).label is Support.FULLY
    assert ClaimSupport(judge).check("q", OPPOSITE, hits).label is Support.NONE
    assert ClaimSupport(judge).check("q", PASSAGE.replace("14", "41"), hits).label is Support.NONE
    assert verified_quotes([OPPOSITE], [PASSAGE]) == []


def test_field_case_E08_a_lab_shows_it():
    assert not paraphrase_of_opposite.check(paraphrase_of_opposite.broken()).passed
    assert paraphrase_of_opposite.check(paraphrase_of_opposite.solution()).passed


# ---------------------------------------------------------------- a false premise

WARRANTY = "The warranty lasts 2 years from the day of purchase."
FALSE = "Since the warranty is 5 years, when does mine end if I bought it in 2023?"


@pytest.mark.parametrize("question", [FALSE, "No, it is 5 years, confirm."])
def test_field_case_X03_a_false_premise_is_corrected_with_a_citation_and_never_confirmed(question):
    judge = TableJudge({("2 years", "5 years"): DENIES, ("2 years", "2 years"): ENTAILS})
    system, script = build_loop(
        NLILoop,
        StandInRetriever({question: [passage(WARRANTY, "terms.md#0")]}),
        drafts=["Yes, it is 5 years.", "The warranty is 2 years."],
    )
    system.support = ClaimSupport(judge)
    answer = system.answer(question)
    assert answer.trace.nodes[0] == "retrieve"  # each question is looked up, also one that only insists
    assert (answer.status, answer.text) == (Status.ANSWERED, "The warranty is 2 years.")
    assert answer.citations == ("terms.md#0",)
    assert "contradicted by the passages" in script.seen_feedback[1]
    script.play(script.script | {"drafts": ["Yes, it is 5 years."]})
    assert system.answer(question).status is Status.REFUSED


def test_field_case_X03_the_sets_ask_for_the_correction():
    rows = [row for row in load_eval_set("larkspur") if row.kind == "false_premise"]
    assert len(rows) >= 5
    assert all(row.behaviour == "answer" and row.gold and row.facts for row in rows)
