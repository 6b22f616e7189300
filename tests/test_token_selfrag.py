"""Native reflection tokens as a system: every end it can come to, on tables and on a random model of the paper's kind."""

import pytest
from standins import CARD, StandInRetriever, hits
from test_tokens_models import tiny_llama, tiny_tokenizer

from cookbook.providers.meter import Budget
from cookbook.reflect.tokens import TableModel, written
from cookbook.reflect.tokens.hf import HFTokenModel
from cookbook.reflect.tokens.vocabulary import NO_RETRIEVAL, SUPPORT, title
from cookbook.schema import Provenance, Reason, Relevance, Retrieve, Status, Support, Utility
from cookbook.systems.base import Parts
from cookbook.systems.token_selfrag import Caps, TokenSelfRAG

A, B = hits("a", "b")
FULLY, PARTLY, NONE = SUPPORT
QUESTION = "How long?"


def decision(p):
    return written({"[Retrieval]": p, NO_RETRIEVAL: 1 - p})


def says(words, relevant=0.9, support=FULLY, useful="[Utility:5]"):
    return written({"[Relevant]": relevant, "[Irrelevant]": 1 - relevant}, words, support, useful)


def system(a, b, p=0.9, memory=None, found=(A, B), **options):
    rows = {("", ""): decision(p), ("", title(A)): a, ("", title(B)): b, (NO_RETRIEVAL, ""): memory}
    parts = Parts(None, StandInRetriever({QUESTION: list(found)}), CARD, k=2)
    return TokenSelfRAG(parts, model=TableModel(rows), **options)


def test_the_best_continuation_is_the_answer_and_its_passage_the_citation():
    answer = system(says("For 3 days.", 0.7), says("For 30 days.")).answer(QUESTION)
    assert (answer.status, answer.text, answer.citations) == (Status.ANSWERED, "For 30 days.", ("b.md#0",))
    assert answer.provenance is Provenance.PASSAGES
    assert answer.uncited == ("a.md#0",)
    assert answer.trace.nodes == ["decide_retrieval", "retrieve", "continue", "choose"]
    assert [step.calls for step in answer.trace.steps] == [1, 0, 2, 0]
    assert answer.trace.model == "a table written by hand"


def test_the_trace_shows_the_tokens_with_their_probabilities():
    answer = system(
        says("For 3 days.", 0.2),
        says("For 30 days.", 0.9, {FULLY: 0.75, PARTLY: 0.25}, {"[Utility:5]": 0.5, "[Utility:3]": 0.5}),
    ).answer(QUESTION)
    decide, _, go_on, choose = answer.trace.steps
    assert decide.note == "[Retrieval] 0.90, retrieves above 0.2"
    assert [(v.label, v.probability) for v in decide.verdicts] == [(Retrieve.YES, pytest.approx(0.9))]
    assert go_on.note.splitlines() == [
        "1.70 = [Irrelevant] 0.80 [Fully supported] 1.00 [Utility:5] 1.00 | a.md#0: For 3 days.",
        "2.02 = [Relevant] 0.90 [Fully supported] 0.75 [Utility:5] 0.50 | b.md#0: For 30 days.",
    ]
    assert [(v.label, v.subject) for v in go_on.verdicts] == [
        (Relevance.IRRELEVANT, "a.md#0"),
        (Relevance.RELEVANT, "b.md#0"),
    ]
    support, utility = choose.verdicts
    assert (support.label, support.probability, support.expected) == (
        Support.FULLY,
        pytest.approx(0.75),
        pytest.approx(0.875),
    )
    assert (utility.label, utility.expected) == (Utility.FIVE, pytest.approx(4.0))
    assert choose.note == "score 2.02 from b.md#0"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (says("For 30 days.", relevant=0.4), Reason.NO_RELEVANT_PASSAGE),
        (says("For 30 days.", support=NONE), Reason.NOT_SUPPORTED),
        (says("For 30 days.", useful="[Utility:2]"), Reason.NOT_USEFUL),
        (written("[Relevant]"), Reason.NO_RELEVANT_PASSAGE),
        (written(), Reason.NO_RELEVANT_PASSAGE),
    ],
)
def test_what_is_lacking_is_the_reason_of_the_refusal(said, reason):
    answer = system(said, said).answer(QUESTION)
    assert (answer.status, answer.reason) == (Status.REFUSED, reason)
    assert "30 days" not in answer.text
    assert answer.text.endswith("Ask support.")
    assert answer.found == ("For 30 days." if reason is Reason.NOT_USEFUL else "")


def test_nothing_found_is_a_refusal():
    answer = system(None, None, found=()).answer(QUESTION)
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NO_RELEVANT_PASSAGE)
    assert answer.trace.calls == 1


def test_it_answers_from_memory_when_it_wants_no_passage():
    answer = system(None, None, p=0.1, memory=written("You are welcome.", "[Utility:5]")).answer(QUESTION)
    assert (answer.text, answer.provenance) == ("You are welcome.", Provenance.MODEL_MEMORY)
    assert answer.trace.nodes == ["decide_retrieval", "answer_directly"]
    assert answer.trace.calls == 2


@pytest.mark.parametrize(
    "useless", [written("I can only quote.", "[Utility:1]"), written("[Utility:5]"), written()]
)
def test_a_memory_of_no_use_is_no_answer_and_it_looks_after_all(useless):
    answer = system(says("For 3 days."), says("No.", 0.1), p=0.1, memory=useless).answer(QUESTION)
    assert (answer.text, answer.provenance) == ("For 3 days.", Provenance.PASSAGES)
    assert answer.trace.calls == 4 == TokenSelfRAG.most_calls(2)


def test_the_threshold_is_that_of_the_paper():
    kept = says("For 3 days.")
    assert system(kept, kept, p=0.21).answer(QUESTION).trace.nodes[1] == "retrieve"
    memory = written("Hello!", "[Utility:5]")
    assert system(kept, kept, p=0.19, memory=memory).answer(QUESTION).text == "Hello!"
    assert system(kept, kept, p=0.19, delta=0.1).answer(QUESTION).trace.nodes[1] == "retrieve"


def test_an_exhausted_budget_is_a_refusal_with_its_reason():
    answer = system(says("For 3 days."), says("No."), budget=Budget(1)).answer(QUESTION)
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.BUDGET_EXHAUSTED)
    assert answer.trace.calls == 1


@pytest.mark.parametrize("k", [1, 5, 8])
def test_the_formula_says_what_the_ceiling_is(k):
    assert eval(Caps.formula, {"k": k}) == Caps().calls(k) == TokenSelfRAG.most_calls(k)


def test_the_published_architecture_runs_through_it():
    """A tiny random LLaMA in the place of the 7B weights: the same class, the same calls, exact probabilities."""
    pytest.importorskip("transformers", reason="needs the local extra")
    tokenizer = tiny_tokenizer()
    model = HFTokenModel(tiny_llama(tokenizer), tokenizer)
    parts = Parts(None, StandInRetriever({QUESTION: [A, B]}), CARD, k=2)
    answer = TokenSelfRAG(parts, model=model, delta=-1.0).answer(QUESTION)
    assert answer.status in (Status.ANSWERED, Status.REFUSED)
    assert answer.trace.calls == 3
    assert answer.trace.steps[2].prompt_tokens > 0
    assert answer.trace.model == "a model in memory (transformers)"
    again = TokenSelfRAG(parts, model=model, delta=-1.0).answer(QUESTION)
    assert again.to_dict() == answer.to_dict()
