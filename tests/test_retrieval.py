"""From a corpus name to ranked passages, and what the BM25 rules are worth on our own questions."""

from pathlib import Path

import pytest

from cookbook import lexical, paths
from cookbook.chunkers import CHUNKERS, sentence_window
from cookbook.corpora import load_corpus, load_eval_questions
from cookbook.embedders import Fingerprint, HashEmbedder
from cookbook.errors import ConfigError, FingerprintMismatch
from cookbook.providers.meter import Meter, metered
from cookbook.retrieval import Retriever, cut, open_retriever
from cookbook.schema import Document, ScoreKind
from cookbook.stores import QdrantBackend


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of two documents, by name."""
    folder = tmp_path / "corpora" / "tiny"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text('subject = "a tiny handbook"\nhand_off = ""\n')
    (folder / "export.md").write_text(
        "# Export\n\nAn owner exports a ZIP.\n\n## Limits\n\nTwo gigabytes at most.\n"
    )
    (folder / "refunds.md").write_text("# Refunds\n\nA refund takes 10 working days.\n")
    monkeypatch.setattr(paths, "CORPORA", folder.parent)
    return folder


def test_a_corpus_becomes_a_retriever(tiny: Path) -> None:
    retriever = open_retriever("tiny", embedder="scripted")
    best, *others = retriever.retrieve("refund takes how long?", 2)
    assert (best.chunk_id, best.kind) == ("refunds.md#0", ScoreKind.COSINE)
    assert best.text == "# Refunds\n\nA refund takes 10 working days."
    assert len(others) == 1
    assert retriever.describe() == (
        "corpus tiny in markdown_sections; 3 chunks; embedder scripted (a stand-in that counts shared words); "
        "memory; dense search"
    )


@pytest.mark.parametrize(
    ("mode", "kind", "embeddings"),
    [("dense", ScoreKind.COSINE, 1), ("bm25", ScoreKind.BM25, 0), ("hybrid", ScoreKind.RRF, 1)],
)
def test_modes_differ_in_score_and_cost(tiny: Path, mode: str, kind: ScoreKind, embeddings: int) -> None:
    retriever = open_retriever("tiny", embedder=HashEmbedder(), mode=mode)
    outer, inner = Meter(), Meter()
    with metered(outer), metered(inner):
        hits = retriever.retrieve("how long does a refund take?", 1)
    assert [(hit.chunk_id, hit.kind) for hit in hits] == [("refunds.md#0", kind)]
    assert (outer.embeddings, inner.embeddings, outer.calls) == (embeddings, embeddings, 0)
    assert retriever.retrieve("refund", 5, exclude=["refunds.md#0"], filters={"doc_id": "refunds.md"}) == []


def test_a_variant_searches_the_same_index_in_another_way(tiny: Path) -> None:
    dense = open_retriever("tiny", embedder="scripted")
    hybrid = dense.variant(mode="hybrid")
    assert hybrid.store is dense.store
    assert hybrid.retrieve("refund", 1)[0].kind is ScoreKind.RRF
    assert dense.retrieve("refund", 1)[0].kind is ScoreKind.COSINE


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
def test_a_narrowed_retriever_cannot_be_widened(tiny: Path, mode: str) -> None:
    narrow = open_retriever("tiny", embedder="scripted").variant(mode=mode, filters={"doc_id": "export.md"})
    for filters in (None, {"doc_id": "refunds.md"}):
        assert "refunds.md" not in {
            hit.chunk.doc_id for hit in narrow.retrieve("refund ZIP", filters=filters)
        }
        wider = narrow.variant(filters=filters)
        assert {hit.chunk.doc_id for hit in wider.retrieve("refund ZIP")} == {"export.md"}
    assert narrow.describe().endswith(f"{mode} search, only doc_id=export.md")


def test_a_folder_is_indexed_once_and_follows_its_corpus(tiny: Path, tmp_path: Path) -> None:
    first = open_retriever("tiny", embedder="scripted", path=tmp_path / "store")
    assert first.store.where == str(tmp_path / "store")
    first.store.close()
    (tiny / "refunds.md").write_text("# Refunds\n\nA refund takes 5 working days.\n")
    (tiny / "export.md").unlink()
    second = open_retriever("tiny", embedder="scripted", path=tmp_path / "store")
    assert [hit.text for hit in second.retrieve("refund")] == ["# Refunds\n\nA refund takes 5 working days."]
    second.store.close()


def test_two_ways_of_cutting_do_not_undo_each_other_in_one_folder(tiny: Path, tmp_path: Path) -> None:
    sections = open_retriever("tiny", embedder="scripted", path=tmp_path / "store")
    sentences = open_retriever("tiny", embedder="scripted", path=tmp_path / "store", chunker=sentence_window)
    assert (sections.store.count(), sentences.store.count()) == (3, 2)
    for retriever in (sections, sentences):
        retriever.store.close()


def test_chunks_are_cut_to_what_the_embedder_reads() -> None:
    class Short(HashEmbedder):
        fingerprint = Fingerprint("short", "1", "", True, max_tokens=8, dim=256)

    document = Document("a.md", "# Title\n\n" + "One sentence of six words here. " * 4)
    for name in CHUNKERS:
        chunks = cut([document], name, Short())
        if name != "fixed_window":  # its size is the reader's own choice
            assert max(len(Short().tokenizer.offsets(chunk.text)) for chunk in chunks) <= 8
    assert len(cut([document], "markdown_sections", HashEmbedder())) == 1
    assert cut([document], lambda docs: [], Short()) == []


def test_what_is_wrong_is_said(tiny: Path) -> None:
    with pytest.raises(
        ConfigError, match="unknown chunker 'pages'; use sentence_window, fixed_window, markdown_sec"
    ):
        open_retriever("tiny", embedder="scripted", chunker="pages")
    with pytest.raises(ConfigError, match="unknown retrieval mode 'sparse'; use dense, bm25, hybrid"):
        open_retriever("tiny", embedder="scripted", mode="sparse")
    with pytest.raises(ConfigError, match="the query is empty"):
        open_retriever("tiny", embedder="scripted").retrieve("  ")
    store = QdrantBackend("x", 256, fingerprint=Fingerprint("other", "1", "", True, None, 256))
    with pytest.raises(FingerprintMismatch, match="was written with other:"):
        Retriever(store, HashEmbedder())


# ---------------------------------------------------------------- on our own questions

CORPORA = ("larkspur", "rust_notes", "attention_digest")


def gold_found(k: int = 5) -> tuple[int, int]:
    """How many gold passages BM25 brings into its first ``k``, and how many there are."""
    found = total = 0
    for corpus in CORPORA:
        documents = {doc.doc_id: doc.text for doc in load_corpus(corpus)}
        retriever = open_retriever(corpus, embedder="scripted", mode="bm25")
        for row in load_eval_questions(corpus):
            hits = retriever.retrieve(row.question, k) if row.gold else []
            for gold in row.gold:
                start = documents[gold.file].find(gold.quote)
                total += 1
                found += any(
                    hit.chunk.doc_id == gold.file
                    and hit.chunk.start < start + len(gold.quote)
                    and start < hit.chunk.end
                    for hit in hits
                )
    return found, total


def test_stop_words_and_the_stemmer_earn_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with_both, total = gold_found()
    monkeypatch.setattr(lexical, "_stopped", frozenset())
    without_stop_words, _ = gold_found()
    monkeypatch.setattr(lexical, "_stem", lambda term: term)
    without_both, _ = gold_found()
    shares = [round(100 * found / total) for found in (with_both, without_stop_words, without_both)]
    assert shares == [90, 87, 84]  # as stated in cookbook/lexical.py


def test_top_k_is_a_prefix_for_every_question_of_larkspur() -> None:
    questions = [row.question for row in load_eval_questions("larkspur")][:30]
    for mode in ("dense", "bm25", "hybrid"):
        retriever = open_retriever("larkspur", embedder="scripted", mode=mode)
        for question in questions:
            longest = [hit.chunk_id for hit in retriever.retrieve(question, 20)]
            for k in (1, 2, 5, 10, 19):
                assert [hit.chunk_id for hit in retriever.retrieve(question, k)] == longest[:k]
