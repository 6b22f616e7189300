"""What a judge says of answers: only where strings cannot tell, with its agreement, and each pair of texts once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from eval_stubs import answer, hit, row

from cookbook.errors import ReplyTruncated
from cookbook.eval.compare import Comparison
from cookbook.eval.judged import RIGHT_AT, JudgedAnswers, Quoted, by_strings, judging
from cookbook.eval.report import judged as judged_table
from cookbook.eval.run import open_setup, run
from cookbook.reflect.claims import with_question
from cookbook.reflect.critic import load_critic
from cookbook.reflect.entailment import Entailment
from cookbook.schema import Status

WORDS = replace(row("w", fact="archive"), facts=(("archive", "archives"), ("14 days", "two weeks")))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A lead archives it for two weeks.", True),
        ("A lead archives it for 3 days.", False),  # the number has no other wording
        ("A lead puts it aside for 14 days.", None),  # the word has
        ("A lead puts it aside.", False),
    ],
)
def test_strings_decide_on_numbers_and_leave_words_open(text, right):
    assert by_strings(WORDS, text) is right


class Judge:
    """Entails where a word of the claim, its first, stands in the premise, denies what holds "not", fails on
    "broken"; counts what it is asked."""

    calls = 0

    def __init__(self):
        self.asked = []

    def judge(self, premise, hypothesis):
        self.asked.append((premise, hypothesis))
        if "broken" in premise + hypothesis:
            raise ReplyTruncated("cut")
        if "not" in hypothesis:
            return Entailment(0.0, 0.1, 0.9)
        held = hypothesis.removeprefix("a? ").split()[0] in premise.split()
        return Entailment(0.9, 0.1, 0.0) if held else Entailment(0.0, 1.0, 0.0)


PASSAGE = hit("a", "Archiving puts a project aside.")
ROW = replace(row("a", fact="archive it"), answer="Archiving does it now.")


def compared(**texts):
    """A comparison of systems that each say one text to one answerable row, and refuse another row."""
    refused = (row("x", "refuse"), answer("x?", "Not found.", Status.REFUSED, contexts=(PASSAGE,)))
    results = {
        name: [(ROW, answer("a?", text, contexts=(PASSAGE,))), refused] for name, text in texts.items()
    }
    return Comparison("made_up", "all", "no model", results, next(iter(texts)))


def test_the_judge_is_asked_of_rightness_only_where_strings_are_silent_and_each_pair_once():
    judge = Judge()
    found = judging(
        compared(
            one="Archiving is how it works.", two="Archiving is how it works.", three="Retiring is the way."
        ),
        judge,
        right_at=0.5,
    ).systems
    assert [(each.undecided, each.right) for each in found.values()] == [(1, 1), (1, 1), (1, 0)]
    assert len(judge.asked) == len(set(judge.asked)) == 4  # two texts: each claim, and each as an answer


def test_its_agreement_is_counted_on_answers_that_strings_decide():
    right = "Archiving does it: archive it, then."
    found = judging(compared(one=right, two=right, three="Retire and archive it all."), Judge(), right_at=0.5)
    agreement = found.agreement
    assert (agreement.right.value, agreement.right.n, agreement.wrong) == (
        0.5,
        2,
        None,
    )  # the same answer counts once
    assert "strings decide too few" in judged_table(found).note
    wrong = judging(compared(one=right, two="Now archive it. " * 30), Judge(), right_at=0.5)
    assert (wrong.agreement.right.n, wrong.agreement.wrong.n) == (1, 1)  # so long a text is no answer
    assert (
        "it takes 1 of 1 right answers for right and 1 of 1 wrong ones for wrong" in judged_table(wrong).note
    )
    assert [each.undecided for each in found.systems.values()] == [0, 0, 0]


def test_what_is_denied_and_what_the_judge_fails_on_have_places_of_their_own():
    said = "Archiving is how it works. Archiving is not how it works."
    found = judging(compared(one=said, two="Something broken here, sadly."), Judge(), right_at=0.5)
    one, two = found.systems.values()
    assert (one.claims, one.contradicted, one.grounded.value) == (2, 1, 0.5)
    assert (two.grounded, two.undecided, two.right, two.failed) == (None, 1, 0, 1)
    rows = judged_table(found).rows
    assert (rows[1]["grounded"], rows[1]["of these right"]) == ("-", "0, 1 failed")
    assert judged_table(found).note.endswith("strings decide too few of these answers.")
    assert found.to_dict()["systems"]["one"]["contradicted"] == 1


def test_how_often_it_doubts_what_is_quoted_stands_beside_what_it_says():
    quote = "Archiving puts a project aside, and not away."
    passage = hit("a", quote)
    results = {"one": [(ROW, answer("a?", quote, contexts=(passage,)))]}
    found = judging(Comparison("made_up", "all", "no model", results, "one"), Judge())
    assert found.quoted == Quoted(claims=1, doubted=1, denied=1)
    assert found.systems["one"].grounded.value == 1.0
    assert (
        "Of 1 claims that stand word for word in a passage it doubts 1 and calls 1"
        in judged_table(found).note
    )


def test_a_refusal_and_an_answer_that_needs_no_passage_are_not_among_what_is_judged():
    comparison = compared(one="Archiving is how it works.")
    comparison.results["one"].append((row("g", "direct"), answer("g?", "Good morning.")))
    only = judging(comparison, Judge()).systems["one"]
    assert isinstance(only, JudgedAnswers)
    assert len(only.groundings) == 1


def test_the_threshold_is_the_best_one_on_the_fit_rows():
    """Balanced accuracy on the extractive reader's answers, as far as strings decide them."""
    critic, scored = load_critic(), []
    for name in ("larkspur", "rust_notes", "attention_digest"):
        for each, given in run(open_setup(name, split="fit"), "extractive").pairs:
            if each.behaviour == "answer" and given.status is Status.ANSWERED:
                decided = by_strings(each, given.text)
                said = critic.judge(with_question(each.question, given.text), each.answer).entail
                scored += [] if decided is None else [(decided, said)]
    right = np.array([decided for decided, _ in scored])
    entail = np.array([said for _, said in scored])

    def accuracy(cut):
        return ((entail[right] >= cut).mean() + (entail[~right] < cut).mean()) / 2

    assert len(scored) > 30
    assert accuracy(RIGHT_AT) == max(accuracy(cut) for cut in np.arange(0.02, 1, 0.02))
