"""No opposite question is served from the cache, and nothing is served that another index, model or tenant made."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standins import CARD

from cookbook.embedders import Fingerprint, HashEmbedder, get_embedder
from cookbook.errors import ConfigError
from cookbook.eval.question_pairs import OPPOSITE, SAME
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted
from cookbook.reflect.refuse import refusal
from cookbook.retrieval import Retriever
from cookbook.schema import Answer, Chunk, Provenance, Reason, Status, Trace
from cookbook.semantic_cache import Cached, SemanticCache, content, difference
from cookbook.stores import QdrantBackend
from cookbook.systems import build
from cookbook.systems.base import Parts

# ---------------------------------------------------------------- the guard


@pytest.mark.parametrize(("asked", "before"), OPPOSITE)
def test_an_opposite_question_says_something_else(asked, before):
    assert difference(asked, before)
    assert difference(before, asked)


def test_what_it_serves_and_what_it_turns_away():
    """The figures of the notebook: cosine alone serves ten opposites; words and cosine together serve none."""
    embedder = get_embedder("replay")

    def served(pairs, *, guard):
        close = [p for p in pairs if embedder.embed([p[0]])[0] @ embedder.embed([p[1]])[0] >= 0.95]
        return sum(not (guard and difference(*pair)) for pair in close)

    assert (len(OPPOSITE), served(OPPOSITE, guard=False), served(OPPOSITE, guard=True)) == (26, 10, 0)
    assert (len(SAME), served(SAME, guard=False), served(SAME, guard=True)) == (26, 20, 13)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Can I export my data after I cancel my plan?", ("export", "data", "after", "cancel", "plan")),
        ("After I cancel my plan, can I export my data?", ("export", "data", "after", "cancel", "plan")),
        ("Can't guests export?", ("not", "guest", "export")),
        ("Won’t it end?", ("will", "not", "end")),
        ("How do I turn off LK-504?", ("how", "turn", "off", "lk-504", "lk", "504")),
        ("", ()),
    ],
)
def test_what_a_question_says(question, said):
    assert content(question) == said


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=60)
def test_a_question_never_differs_from_itself(question):
    assert difference(question, question) == ""
    assert difference(question.upper(), question.upper()) == ""


# ---------------------------------------------------------------- the cache in front of a system

NOTES = {
    "export.md": "An owner exports the data for 30 days.",
    "guests.md": "Guests read boards and cannot export.",
    "plans.md": "The owner cancels a plan in the settings.",
}
QUESTION = "How long can an owner export the data?"


class OtherEmbedder(HashEmbedder):
    fingerprint = Fingerprint("other", "1", prefix="", normalised=True, max_tokens=None, dim=256)


@pytest.fixture
def asked() -> list[str]:
    """What reaches the model, as one prompt a call."""
    return []


@pytest.fixture
def parts(asked):
    @scripted("cached_writer")
    def writer(messages):
        asked.append(messages[-1]["content"])
        return "NO ANSWER" if "price" in messages[-1]["content"] else "For 30 days [1]."

    return Parts(LLMClient("scripted/cached_writer"), retriever(NOTES), CARD, 2)


def chunks(notes) -> list[Chunk]:
    return [Chunk(f"{name}#0", name, text, 0, len(text)) for name, text in notes.items()]


def retriever(notes, embedder=None) -> Retriever:
    embedder = embedder or HashEmbedder()
    store = QdrantBackend("notes", 256)
    store.index(chunks(notes), embedder)
    return Retriever(store, embedder)


def test_the_second_time_it_costs_one_embedding_and_no_call(parts, asked):
    system = Cached(build("vanilla", parts))
    first, second = system.answer(QUESTION), system.answer("How long could an owner export data?")
    assert len(asked) == 1
    assert second.text == first.text == "For 30 days."
    assert second.citations == ("export.md#0",)
    assert second.question == "How long could an owner export data?"
    assert (second.trace.calls, second.trace.embeddings, second.trace.stop_reason) == (0, 1, "semantic_cache")
    assert second.trace.system == "vanilla"
    assert second.trace.steps[0].note == f"asked before at 1.000: {QUESTION}"
    assert first.trace.nodes == ["semantic_cache", "retrieve", "generate"]
    assert first.trace.embeddings == 2
    assert first.trace.steps[0].note == "not asked before"


def test_a_question_that_says_something_else_is_asked(parts, asked):
    system = Cached(build("vanilla", parts), SemanticCache(threshold=0.5))
    system.answer(QUESTION)
    answer = system.answer("How long can an owner not export the data?")
    assert len(asked) == 2
    assert "(not / -)" in answer.trace.steps[0].note


def test_the_nearest_may_be_turned_away_and_the_next_served(parts, asked):
    system = Cached(build("vanilla", parts), SemanticCache(threshold=0.5))
    system.answer("How long can an owner export the data and the data of guests?")
    system.answer(QUESTION)
    assert len(asked) == 2
    again = system.answer("How long may an owner export the data?")
    assert len(asked) == 2
    assert again.trace.stop_reason == "semantic_cache"


def test_a_deleted_document_is_a_miss(parts, asked):
    system = Cached(build("vanilla", parts))
    system.answer(QUESTION)
    left = {name: text for name, text in NOTES.items() if name != "export.md"}
    parts.retriever.store.index(chunks(left), parts.retriever.embedder)
    again = system.answer(QUESTION)
    assert len(asked) == 2
    assert "export.md#0" not in again.citations


def test_so_is_an_added_one(parts, asked):
    system = Cached(build("vanilla", parts))
    system.answer(QUESTION)
    parts.retriever.store.index(chunks(NOTES | {"new.md": "Now it is 60 days."}), parts.retriever.embedder)
    system.answer(QUESTION)
    assert len(asked) == 2


@pytest.mark.parametrize("change", ["embedder", "model", "filters", "mode", "k", "system"])
def test_what_another_part_would_answer_is_a_miss(parts, asked, change):
    cache = SemanticCache()
    Cached(build("vanilla", parts), cache).answer(QUESTION)
    model, search, k, system = parts.model, parts.retriever, 2, "vanilla"
    if change == "embedder":
        search = retriever(NOTES, OtherEmbedder())
    elif change == "model":
        model = LLMClient("scripted/echo")
    elif change == "k":
        k = 1
    elif change == "system":
        system = "extractive"
    else:
        search = search.variant(**{change: {"doc_id": "export.md"} if change == "filters" else "hybrid"})
    other = Cached(build(system, Parts(model, search, CARD, k)), cache)
    assert other.answer(QUESTION).trace.stop_reason != "semantic_cache"
    assert Cached(build("vanilla", parts), cache).answer(QUESTION).trace.stop_reason == "semantic_cache"


def test_refusals_failures_and_answers_from_memory_are_not_kept(parts, asked):
    system = Cached(build("vanilla", parts))
    for _ in range(2):
        assert system.answer("What is the price of an export?").status is Status.REFUSED
    assert len(asked) == 2
    cache, vector = SemanticCache(), HashEmbedder().embed(["q"])[0]
    for reason in Reason:
        cache.keep(refusal("q", reason, Trace("q", "s")), vector, "")
    cache.keep(Answer("q", "19", Status.ANSWERED, Provenance.MODEL_MEMORY, Trace("q", "s")), vector, "")
    assert len(cache) == 0


def test_the_oldest_leaves_a_full_cache(parts, asked):
    system = Cached(build("vanilla", parts), SemanticCache(size=1))
    for question in (QUESTION, "What do guests read?", QUESTION):
        system.answer(question)
    assert len(asked) == 3
    assert len(system.cache) == 1


def test_an_empty_question_is_refused_at_the_door(parts):
    with pytest.raises(ConfigError, match="the question is empty"):
        Cached(build("vanilla", parts)).answer("  ")
