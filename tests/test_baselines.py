"""The baselines on stand-ins with exact counts, and the extractive reader on the real vectors."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from cookbook.assemble import parts_for
from cookbook.baselines import ClosedBook, Extractive, Vanilla, sentences_of, vanilla_pipeline
from cookbook.corpora import CorpusCard
from cookbook.errors import ConfigError
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.schema import Chunk, Hit, Provenance, Reason, ScoreKind, Status
from cookbook.systems import REGISTRY, build, entry
from cookbook.systems.base import Parts

CARD = CorpusCard("a handbook", "Ask support.", ())


@dataclass
class StandInRetriever:
    hits: list[Hit]

    def retrieve(self, query: str, k: int = 5) -> list[Hit]:
        return self.hits[:k]


def parts(reply: str, *texts: str) -> Parts:
    hits = [
        Hit(Chunk(f"{n}.md#0", f"{n}.md", text, 0, len(text)), 0.5, ScoreKind.COSINE)
        for n, text in enumerate(texts)
    ]
    return Parts(LLMClient(scripted_table({"": reply}), max_retries=0), StandInRetriever(hits), CARD)


def test_closed_book_says_where_its_answer_comes_from():
    answer = ClosedBook(parts("Nineteen.")).answer("What is 9 plus 10?")
    assert (answer.text, answer.provenance) == ("Nineteen.", Provenance.MODEL_MEMORY)
    assert (answer.trace.calls, answer.trace.embeddings, answer.contexts) == (1, 0, ())


def test_vanilla_checks_nothing():
    answer = Vanilla(parts("It costs 500 [1].", "500 runs a month.")).answer("What does it cost?")
    assert (answer.status, answer.text, answer.citations) == (Status.ANSWERED, "It costs 500.", ("0.md#0",))
    assert (answer.trace.nodes, answer.trace.calls) == (["retrieve", "generate"], 1)
    assert answer.trace.stop_reason == "answered_unchecked"


def test_vanilla_refuses_only_when_the_writer_abstains():
    answer = Vanilla(parts("NO ANSWER", "x")).answer("q")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NO_RELEVANT_PASSAGE)
    assert answer.text.endswith("Ask support.")


def test_vanilla_over_an_empty_store_writes_nothing():
    answer = Vanilla(parts("a guess")).answer("q")
    assert (answer.reason, answer.trace.calls) == (Reason.NO_RELEVANT_PASSAGE, 0)


@pytest.mark.parametrize("system", [ClosedBook, Vanilla])
def test_a_model_that_is_down_is_a_failure(system):
    down = Parts(
        LLMClient("scripted/unavailable", max_retries=0),
        StandInRetriever(parts("", "x").retriever.hits),
        CARD,
    )
    answer = system(down).answer("q")
    assert (answer.status, answer.reason) == (Status.FAILED, Reason.GRADER_FAILED)


def test_a_model_is_needed_only_where_one_is_used():
    with pytest.raises(ConfigError, match="PROVIDER"):
        Vanilla(Parts(None, StandInRetriever([]), CARD))


# ---------------------------------------------------------------- extractive, on recorded vectors


@pytest.fixture(scope="module")
def larkspur() -> Parts:
    return parts_for("larkspur", needs_model=False, embedder="replay")


def test_extractive_quotes_the_passages_word_for_word(larkspur):
    answer = Extractive(larkspur).answer("How many workspaces can one account own?")
    assert answer.status is Status.ANSWERED
    assert "One account can own up to 5 workspaces" in answer.text
    assert answer.citations[0] == "workspaces.md#0"
    said = " ".join(hit.text for hit in answer.contexts).split()
    assert all(word in said for word in answer.text.split())
    assert (answer.trace.calls, answer.trace.embeddings) == (0, 2)


def test_extractive_refuses_what_nothing_is_near_to(larkspur):
    answer = Extractive(larkspur).answer("Who won the 1998 World Cup?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NO_RELEVANT_PASSAGE)
    assert answer.trace.nodes == ["retrieve", "grade"]


def test_extractive_refuses_when_no_sentence_is_near(larkspur):
    answer = Extractive(larkspur, useful_at=0.99).answer("How many workspaces can one account own?")
    assert answer.reason is Reason.NOT_USEFUL


def test_sentences_leave_headings_out():
    assert sentences_of("## Title\n\nOne rule. Another\nrule.") == ["One rule.", "Another rule."]


# ---------------------------------------------------------------- the published name, and the registry


def test_the_published_pipeline(monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay")
    result = vanilla_pipeline("How much does the starter plan cost per month?", corpus="larkspur", top_k=5)
    assert result.answer == result.details.text
    assert len(result.contexts) == 5
    assert all(isinstance(text, str) for text in result.contexts)


@pytest.mark.parametrize("name", ["closed_book", "vanilla", "extractive"])
def test_a_baseline_is_built_by_name(name):
    assert callable(build(name, parts("NO ANSWER", "x")).answer)


def test_every_system_has_a_line():
    assert all(entry(name).summary for name in REGISTRY)


def test_an_unknown_system_lists_the_known_ones():
    with pytest.raises(ConfigError, match="closed_book, vanilla, extractive, handbook_graph"):
        build("nonesuch", parts(""))
