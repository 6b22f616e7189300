"""The prompt recipe: what each way out costs."""

import pytest
from standins import StandInRetriever, build_loop, hits

from cookbook.schema import Provenance, Reason, Relevance, Retrieve, Status, Support
from cookbook.systems.prompt_recipe import Caps, PromptRecipe


def build(**options):
    return build_loop(PromptRecipe, **options)[0]


@pytest.mark.parametrize(("k", "kept", "nothing"), [(8, 11, 9), (5, 8, 6)])
def test_the_published_costs(k, kept, nothing):
    """11 calls and an embedding at k = 8, 9 when nothing survives: it is the grades that cost."""
    retriever = StandInRetriever({"How long?": hits(*"abcdefgh")})
    answer = build(k=k, retriever=retriever).answer("How long?")
    assert (answer.status, answer.trace.calls) == (Status.ANSWERED, kept)
    assert PromptRecipe.most_calls(k) == kept
    refused = build(k=k, retriever=retriever, grades=[Relevance.IRRELEVANT]).answer("How long?")
    assert (refused.reason, refused.trace.calls) == (Reason.NO_RELEVANT_PASSAGE, nothing)


def test_nothing_kept_is_refused_before_writing():
    answer = build(grades=[Relevance.IRRELEVANT]).answer("How long?")
    assert answer.reason is Reason.NO_RELEVANT_PASSAGE
    assert answer.trace.calls == 6
    assert "generate" not in answer.trace.nodes


@pytest.mark.parametrize("label", [Support.PARTIALLY, Support.NONE])
def test_an_unsupported_draft_is_refused_at_once(label):
    answer = build(support=[label]).answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.nodes[-2:] == ["check_support", "refuse"]


def test_an_abstaining_writer_is_a_refusal():
    assert build(drafts=[None]).answer("How long?").reason is Reason.NO_RELEVANT_PASSAGE


def test_the_gate_leaves_the_store_alone():
    answer = build(gate=[Retrieve.NO]).answer("What is 9 plus 10?")
    assert (answer.provenance, answer.trace.calls) == (Provenance.MODEL_MEMORY, 2)


def test_the_longest_path():
    assert len(build(support=[Support.NONE]).answer("How long?").trace.nodes) == Caps().supersteps() == 6
