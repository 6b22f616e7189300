"""Field cases of stores and search: no repeats, no silence, no vectors of another embedder, no false hit of a cache."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from standins import CARD

from cookbook.baselines import Extractive
from cookbook.embedders import Fingerprint, HashEmbedder, LiteLLMEmbedder, settle
from cookbook.errors import CallError, ConfigError, FingerprintMismatch, WrongScoreKind
from cookbook.eval.question_pairs import OPPOSITE, SAME
from cookbook.eval.statistics import rate
from cookbook.paths import ROOT
from cookbook.providers import LLMClient, gateway
from cookbook.providers.scripted import scripted
from cookbook.reflect.calibrate import Sigmoid
from cookbook.retrieval import Retriever
from cookbook.schema import Chunk, ScoreKind, Status, Threshold
from cookbook.semantic_cache import Cached, SemanticCache, difference
from cookbook.stores import RRF_K, QdrantBackend
from cookbook.systems import build
from cookbook.systems.base import Parts

HASH = HashEmbedder()
MODES = ("dense", "bm25", "hybrid")


def chunks(*texts: str) -> list[Chunk]:
    return [Chunk(f"n{n}.md#0", f"n{n}.md", text, 0, len(text)) for n, text in enumerate(texts)]


def retriever(texts, mode: str = "dense", embedder: HashEmbedder = HASH, **options) -> Retriever:
    store = QdrantBackend("field", 256, **options)
    store.index(chunks(*texts), embedder)
    return Retriever(store, embedder, mode)


def ids(hits) -> list[str]:
    return [hit.chunk_id for hit in hits]


# ---------------------------------------------------------------- how many


@pytest.mark.parametrize("mode", MODES)
def test_field_case_S11_never_more_than_there_is_and_never_twice(mode):
    search = retriever(["export one", "export two", "export three"], mode)
    for k in (1, 2, 3, 5, 80):
        found = ids(search.retrieve("export", k))
        assert len(found) == len(set(found)) == min(k, 3)
    assert retriever([], mode).retrieve("export", 5) == []
    for k in (0, -1):
        with pytest.raises(ConfigError, match="top_k"):
            search.retrieve("export", k)


def test_field_case_S06_top_k_is_a_prefix_of_top_k_plus_one():
    notes = [f"note {n} on export, {'owner' if n % 3 else 'guest'} and plan {n % 7}" for n in range(40)]
    for mode in MODES:
        search = retriever(notes, mode)
        for n in range(10):
            question = f"which plan {n % 7} export for an {'owner' if n % 2 else 'guest'} in note {n}?"
            lists = [ids(search.retrieve(question, k)) for k in range(1, 21)]
            assert all(more[: len(fewer)] == fewer for fewer, more in pairwise(lists))
            recalls = [f"n{n}.md#0" in found for found in lists]
            assert recalls == sorted(recalls)  # recall at k never falls


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("低头思故乡", "故乡"),
        ("国際標準化に関する動向", "国際標準化"),
        ("Le déploiement français", "déploiement français"),
        ("Автоматическое развертывание", "развертывание"),
        ("तैनाती के लिए निर्देश", "तैनाती के लिए"),
        ("배포는 도커로 합니다", "배포는 도커"),
        ("Written in C++ for speed", "C++"),
        ("Runs on node.js", "node.js"),
        ("Part ER20328_23 is out", "ER20328_23"),
    ],
)
@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_field_case_K03_words_of_every_script_and_codes_find_their_document(text, query, mode):
    others = [
        "Written in C for speed",
        "Runs on js",
        "标准头乡",
        "Part ER20328 is in",
        "Le plan anglais",
        "Автоматический",
    ]
    assert retriever([*others, text], mode).retrieve(query, 3)[0].text == text


@pytest.mark.parametrize("query", ["???", "the of and", "。", "   "])
@pytest.mark.parametrize("texts", [[], ["", "  "], ["Exports are CSV."]])
def test_field_case_K01_nothing_to_search_for_is_said_and_breaks_nothing(query, texts):
    store = QdrantBackend("field", 256)
    assert store.index(chunks(*texts), HASH).blank == sum(not text.strip() for text in texts)
    with pytest.warns(UserWarning, match="holds no searchable term"):
        assert store.search_text(query) == []
    if not query.strip():
        with pytest.raises(ConfigError, match="the query is empty"):
            Retriever(store, HASH, "bm25").retrieve(query)


def test_field_case_K01_an_empty_store_has_nothing_for_a_lone_character():
    assert retriever([], "bm25").retrieve("的") == []


@pytest.mark.parametrize(
    "query", ["Approved envelope: $2,400,000", "approved envelope 2.4 million", "approved envelope 2400000"]
)
def test_field_case_K04_a_number_is_found_however_it_is_written(query):
    notes = [f"Project {n}: approved envelope $1,{n:03},000, reviewed in week {n}." for n in range(30)]
    notes[17] = "Project 17. Approved envelope: $2,400,000"
    assert retriever(notes, "hybrid").retrieve(query, 5)[0].chunk_id == "n17.md#0"


def test_field_case_K04_no_document_is_found_by_everything():
    """The hubness of the index: the largest share of questions that one document answers first."""
    notes = [f"Project {n} on topic{n} has envelope {n},{n:03}" for n in range(30)]
    search = retriever(notes, "hybrid")
    first = Counter(search.retrieve(f"What is the envelope of topic{n}?", 1)[0].chunk_id for n in range(30))
    name, times = first.most_common(1)[0]
    print(f"hubness: {name} is first for {times} of 30 questions")
    assert times == 1


# ---------------------------------------------------------------- fused scores


def test_field_case_S05_fusion_matches_a_reference_and_what_is_filtered_takes_no_rank():
    store = QdrantBackend("field", 256)
    notes = [replace(c, metadata={"group": g}) for c, g in zip(
        chunks("export plan owner", "export", "plan owner guest export", "owner"), "baab", strict=True)]  # fmt: skip
    store.index(notes, HASH)
    query, keep = "export owner plan", {"group": "a"}
    vector = HASH.embed([query])[0]
    lists = [store.search(vector, 9, filters=keep), store.search_text(query, 9, filters=keep)]
    expected: dict[str, float] = {}
    for ranked in lists:
        for rank, hit in enumerate(ranked, start=1):
            expected[hit.chunk_id] = expected.get(hit.chunk_id, 0.0) + 1 / (RRF_K + rank)
    fused = store.search_hybrid(vector, query, 2, filters=keep)
    assert {hit.chunk_id: pytest.approx(hit.score) for hit in fused} == expected
    assert ids(fused) == sorted(expected, key=lambda i: -expected[i])
    assert {hit.chunk.metadata["group"] for hit in fused} == {"a"}


@pytest.mark.parametrize("threshold", [0.5, 0.1, 0.02])
def test_field_case_S07_a_fused_score_cannot_be_cut_off(threshold):
    (hit, *_) = retriever(["export"], "hybrid").retrieve("export")
    assert hit.kind is ScoreKind.RRF
    assert hit.score <= 2 / (RRF_K + 1)  # which is why every threshold on it is wrong
    for kind in ScoreKind:
        with pytest.raises(WrongScoreKind, match="only orders passages"):
            Threshold(threshold, kind).keeps(hit)


# ---------------------------------------------------------------- vectors


@pytest.mark.parametrize(
    "changed",
    [{"revision": "2"}, {"prefix": "query: "}, {"normalised": False}, {"max_tokens": 64}, {"name": "b"}],
)
def test_field_case_S03_vectors_of_another_setting_are_an_error_and_no_results(changed, tmp_path):
    class Other(HashEmbedder):
        fingerprint: Fingerprint = replace(HASH.fingerprint, **changed)

    first = retriever(["export"], path=tmp_path)
    assert Other.fingerprint.dim == HASH.fingerprint.dim
    with pytest.raises(FingerprintMismatch, match="use that embedder"):
        Retriever(first.store, Other())
    first.store.close()
    with pytest.raises(FingerprintMismatch):
        QdrantBackend("field", 256, path=tmp_path, fingerprint=Other.fingerprint)


def test_field_case_S12_what_has_no_content_is_counted_and_never_found():
    texts = ["", "   ", "\n\n", "---", "\u200b", "Exports are CSV."]
    store = QdrantBackend("field", 256)
    assert store.index(chunks(*texts), HASH).blank == 5
    for mode in MODES:
        assert ids(Retriever(store, HASH, mode).retrieve("which exports?", 9)) == ["n5.md#0"]


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_field_case_S12_a_vector_without_direction_is_refused(bad):
    vectors = np.full((1, 256), bad)
    with pytest.raises(CallError, match="zeros or NaN"):
        settle(vectors, ["export"], "an embedder")
    with pytest.raises(ConfigError):
        QdrantBackend("field", 256).add(["export"], vectors)


def test_field_case_S13_vector_i_is_that_of_text_i(monkeypatch):
    """A provider that answers in another order; duplicates, and a text that was asked for before."""

    class Lite:
        def embedding(self, *, model, input, timeout, max_retries):
            rows = [
                {"index": n, "embedding": [float(len(t)), float(ord(t[-1])), 1.0]}
                for n, t in enumerate(input)
            ]
            return type("Response", (), {"data": rows[::-1]})

    monkeypatch.setattr(gateway, "litellm", Lite)
    monkeypatch.setattr(gateway, "require_key", lambda target: None)
    embedder = LiteLLMEmbedder("openai/any")
    embedder.embed(["chunk-a"])
    asked = ["chunk-b", "chunk-a", "chunk-c", "chunk-a"]
    for text, vector in zip(asked, embedder.embed(asked), strict=True):
        assert vector.tolist() == embedder.embed([text])[0].tolist()
    monkeypatch.setattr(Lite, "embedding", lambda self, **given: type("Response", (), {"data": []}))
    with pytest.raises(CallError, match="0 of 4 texts"):
        embedder.embed(asked)


# ---------------------------------------------------------------- a store on the disk


def test_field_case_S01_a_second_process_is_told_what_to_do_and_a_second_cell_just_works(tmp_path):
    code = f"from cookbook.stores import QdrantBackend\nQdrantBackend('field', 256, path={str(tmp_path)!r})"
    first = retriever(["kept"], path=tmp_path)
    again = retriever(["kept"], path=tmp_path)  # the cell that makes the store, run twice
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    said = run.stderr.strip().splitlines()[-1]
    assert str(tmp_path) in said
    assert all(word in said for word in ("another process", "store.close()", "another path", "QDRANT_URL"))
    assert ids(again.retrieve("kept")) == ["n0.md#0"]
    again.store.close()
    first.store.close()
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120).returncode == 0


REMOVED = (
    "recreate_collection",
    "client.search(",
    "search_batch(",
    "upload_records",
    "recommend(",
    "discover(",
)


def test_field_case_S14_no_removed_method_of_the_client_is_used():
    sources = [*ROOT.glob("cookbook/**/*.py"), *ROOT.glob("notebooks/**/*.ipynb")]
    assert sources
    texts = {path: path.read_text(encoding="utf-8") for path in sources}
    assert [(path.name, name) for path, text in texts.items() for name in REMOVED if name in text] == []


def test_field_case_S14_creation_keeps_what_is_there_and_wiping_says_so(tmp_path, capsys):
    retriever(["one", "two"], path=tmp_path).store.close()
    with QdrantBackend("field", 256, path=tmp_path) as store:
        assert store.count() == 2
    with QdrantBackend("field", 256, path=tmp_path, recreate=True) as store:
        assert store.count() == 0
    assert "deleting collection 'field' with 2 chunks" in capsys.readouterr().out


# ---------------------------------------------------------------- the semantic cache


def test_field_case_P02_no_opposite_is_served_in_either_direction_at_any_threshold():
    opposites = [*OPPOSITE, *((other, one) for one, other in OPPOSITE)]
    false = sum(not difference(*pair) for pair in opposites)  # a threshold of -1: the cosine decides nothing
    hits = sum(not difference(*pair) for pair in SAME)
    wrong, served = rate(false, len(opposites)), rate(hits, len(SAME))
    print(f"false hits {wrong.percent} of {wrong.n}, paraphrases served {served.percent} of {served.n}")
    assert wrong.value == 0.0
    assert served.value > 0.5


NOTES = ["An owner exports the data for 30 days.", "Guests read boards."]
QUESTION = "How long can an owner export the data?"


def cached() -> tuple[Cached, list[str], SemanticCache]:
    asked: list[str] = []

    @scripted("field_writer")
    def writer(messages):
        asked.append(messages[-1]["content"])
        return "For 30 days [1]."

    cache = SemanticCache()
    parts = Parts(LLMClient("scripted/field_writer"), retriever(NOTES), CARD, 2)
    return Cached(build("vanilla", parts), cache), asked, cache


def test_field_case_S15_another_index_is_a_miss():
    system, asked, _ = cached()
    system.answer(QUESTION)
    assert system.answer(QUESTION).trace.stop_reason == "semantic_cache"
    search = system.parts.retriever
    search.store.index(chunks(*NOTES)[1:], search.embedder)  # the cited document is deleted
    again = system.answer(QUESTION)
    assert len(asked) == 2
    assert "n0.md#0" not in again.citations


def test_field_case_S15_another_embedder_is_a_miss():
    system, asked, cache = cached()
    system.answer(QUESTION)

    class Other(HashEmbedder):
        fingerprint = replace(HASH.fingerprint, revision="2")

    other = Parts(system.parts.model, retriever(NOTES, embedder=Other()), CARD, 2)
    assert Cached(build("vanilla", other), cache).answer(QUESTION).trace.stop_reason != "semantic_cache"
    assert len(asked) == 2


# ---------------------------------------------------------------- languages


class EnglishOnly(HashEmbedder):
    fingerprint = replace(HASH.fingerprint, name="all-minilm-l6-v2")


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("Japanese", "解約後にデータをエクスポートできますか？"),
        ("French", "Puis-je exporter mes données après la résiliation ?"),
        ("Spanish", "¿Puedo exportar mis datos después de cancelar?"),
        ("Arabic", "هل يمكنني تصدير بياناتي بعد الإلغاء؟"),
    ],
)
@pytest.mark.parametrize("more", [[], ["データのエクスポート", "解約とデータ", "エクスポートの窓口"]])
def test_field_case_E11_an_english_embedder_does_not_say_that_the_documents_are_silent(
    language, question, more
):
    strict = Sigmoid(0.99, 0.01, ScoreKind.COSINE)

    def ask(embedder):
        parts = Parts(None, retriever([*NOTES, *more], embedder=embedder), CARD)
        return Extractive(parts, calibration=strict).answer(question)

    english, multilingual = ask(EnglishOnly()), ask(HASH)
    assert english.status is Status.REFUSED
    assert english.text.startswith(
        f"The question looks {language} and the embedder all-minilm-l6-v2 reads English only"
    )
    assert "embedder" not in multilingual.text
