"""A second source is searched like the first, and its passages cannot be taken for the first one's."""

from standins import StandInRetriever, hits

from cookbook.sources import SecondCorpus


def test_its_passages_carry_its_name():
    web = SecondCorpus(StandInRetriever({"q": hits("a", "b")}), "web")
    first, second = web.retrieve("q", 2)
    assert (first.chunk_id, first.chunk.doc_id, first.chunk.metadata) == (
        "web:a.md#0",
        "web:a.md",
        {"source": "web"},
    )
    assert (first.text, first.score) == ("About a.", 0.9)
    assert second.chunk_id == "web:b.md#0"


def test_it_excludes_its_own_and_not_what_is_named_alike():
    web = SecondCorpus(StandInRetriever({"q": hits("a", "b")}), "web")
    assert [hit.chunk_id for hit in web.retrieve("q", exclude=["a.md#0", "web:b.md#0"])] == ["web:a.md#0"]
