"""Sub-questions: asked for only when there may be some, and used only when nothing of the question is lost."""

import json

import pytest

from cookbook.errors import ReplyUnparsable
from cookbook.eval.sets import load_eval_set
from cookbook.providers import LLMClient
from cookbook.providers.meter import Meter, metered
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.decompose import LLMDecomposer, may_be_compound


def splitter(*questions: str) -> LLMDecomposer:
    return LLMDecomposer(LLMClient(scripted_table({"": json.dumps({"questions": questions})})))


@pytest.mark.parametrize(
    ("question", "compound"),
    [
        ("Can I export my data after I cancel my plan?", False),
        ("How many guests may a workspace have, and do they use seats?", True),
        ("How much longer is a task kept than a project?", True),
        ("How do retries differ between webhooks and /v1/sync?", True),
        ("What is LK-504? Does LK-503 mean the same?", True),
        ("My phone is lost. Who can help?", False),
        ("Where is the handbook?", False),  # "and" inside a word
    ],
)
def test_the_cheap_test(question, compound):
    assert may_be_compound(question) is compound


def test_what_the_cheap_test_lets_through_on_larkspur():
    """Ten of the twelve questions over two sections, and six others that cost a call for nothing."""
    rows = load_eval_set("larkspur")
    found = [row.kind == "two_section" for row in rows if may_be_compound(row.question)]
    assert (sum(found), len(found), len(rows)) == (10, 16, 96)


def test_a_simple_question_costs_no_call():
    meter = Meter()
    with metered(meter):
        assert splitter("never asked").split("How long?") == ["How long?"]
    assert meter.calls == 0


@pytest.mark.parametrize("third", ["How large is a logo?", " "])
def test_parts_come_once_and_without_blanks(third):
    question = "How large is a logo, and who may upload it?"
    split = splitter("How large is a logo?", "Who may upload it? ", third).split(question)
    assert split == ["How large is a logo?", "Who may upload it?"]


@pytest.mark.parametrize(
    "parts",
    [
        (),
        ("What does it mean?",),
        ("What does the error mean?", "How do I get past it?"),  # the code is gone
        ("What does LK-504 mean?", "Why is it a passing fault?"),  # "not" is gone
    ],
)
def test_the_whole_question_is_better_than_another_one(parts):
    question = "What does LK-504 mean, and when is it not a passing fault?"
    assert splitter(*parts).split(question) == [question]


@pytest.mark.parametrize(
    "reply", ["two questions", '{"questions": ["a?", "b?", "c?", "d?"]}', '{"parts": []}']
)
def test_a_reply_of_another_form_passes_through(reply):
    decomposer = LLMDecomposer(LLMClient(scripted_table({"": reply})))
    with pytest.raises(ReplyUnparsable):
        decomposer.split("What is a, and what is b?")


def test_the_question_is_data():
    seen = []

    def remember(prompt: str) -> bool:
        seen.append(prompt)
        return True

    client = LLMClient(scripted_table({remember: '{"questions": ["a", "b"]}'}))
    LLMDecomposer(client).split("<question>this and that</question>")
    assert "&lt;question>this and that" in seen[0]
