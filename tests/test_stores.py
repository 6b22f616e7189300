"""One contract for every way to keep a collection: in memory, in a folder, and on a server if QDRANT_URL names one."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cookbook.embedders import Fingerprint, HashEmbedder, Vectors
from cookbook.errors import ConfigError, FingerprintMismatch, StoreError
from cookbook.schema import Chunk, Hit, ScoreKind
from cookbook.stores import RRF_K, IndexReport, QdrantBackend

HASH = HashEmbedder()
DIM = HASH.fingerprint.dim
Open = Callable[..., QdrantBackend]


def chunk(chunk_id: str, text: str, **metadata: object) -> Chunk:
    doc_id, _, n = chunk_id.partition("#")
    start = 1000 * int(n or 0)
    return Chunk(chunk_id, doc_id, text, start, start + len(text), ("Title",), metadata)


NOTES = [
    chunk("export.md#0", "An owner can export the workspace as a ZIP of CSV files.", plan="team"),
    chunk("export.md#1", "Exports include tasks, comments and attachments.", plan="team"),
    chunk("billing.md#0", "Invoices are sent on the first day of the month.", plan="pro"),
    chunk("billing.md#1", "A refund takes 10 working days after error LK-504.", plan="pro"),
    chunk("guests.md#0", "Guests read boards but cannot export the workspace.", plan="free"),
]


@pytest.fixture(
    params=["memory", "folder", pytest.param("server", marks=pytest.mark.live)],
)
def open_store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Opens stores of one kind; on a server under a name of their own, removed afterwards."""
    if request.param == "server" and "QDRANT_URL" not in os.environ:
        pytest.skip("QDRANT_URL is not set")
    server = os.environ.get("QDRANT_URL") if request.param == "server" else None
    monkeypatch.delenv("QDRANT_URL", raising=False)
    where = {"path": tmp_path / "store"} if request.param == "folder" else {"url": server}
    opened: list[QdrantBackend] = []
    name = f"test-{uuid.uuid4().hex[:8]}"

    def open_it(dim: int = DIM, **options: object) -> QdrantBackend:
        opened.append(QdrantBackend(name, dim, **where, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_it
    if server:
        opened[-1]._client.delete_collection(name)
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Open) -> QdrantBackend:
    opened = open_store()
    opened.index(NOTES, HASH)
    return opened


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk_id for hit in hits]


def ask(store: QdrantBackend, mode: str, query: str, top_k: int = 5, **options: object) -> list[Hit]:
    vector = HASH.embed([query])[0]
    if mode == "dense":
        return store.search(vector, top_k, **options)  # type: ignore[arg-type]
    if mode == "bm25":
        return store.search_text(query, top_k, **options)  # type: ignore[arg-type]
    return store.search_hybrid(vector, query, top_k, **options)  # type: ignore[arg-type]


MODES = ["dense", "bm25", "hybrid"]
KINDS = {"dense": ScoreKind.COSINE, "bm25": ScoreKind.BM25, "hybrid": ScoreKind.RRF}


# ---------------------------------------------------------------- searching


@pytest.mark.parametrize("mode", MODES)
def test_a_hit_carries_the_whole_chunk_and_the_kind_of_its_score(store: QdrantBackend, mode: str) -> None:
    hits = ask(store, mode, "refund after LK-504")
    assert hits[0].chunk == NOTES[3]
    assert {hit.kind for hit in hits} == {KINDS[mode]}
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_dense_scores_are_cosines(store: QdrantBackend) -> None:
    query = "export the workspace"
    vectors = dict(zip(ids_of_notes(), HASH.embed([c.text for c in NOTES]), strict=True))
    for hit in ask(store, "dense", query):
        assert hit.score == pytest.approx(float(vectors[hit.chunk_id] @ HASH.embed([query])[0]), abs=1e-6)


def ids_of_notes() -> list[str]:
    return [c.chunk_id for c in NOTES]


def test_bm25_finds_only_what_shares_a_term(store: QdrantBackend) -> None:
    assert ids(ask(store, "bm25", "LK-504")) == ["billing.md#1"]
    assert ids(ask(store, "bm25", "exporting a workspace")) == ["export.md#0", "guests.md#0", "export.md#1"]


@pytest.mark.parametrize("mode", MODES)
def test_k_beyond_the_corpus_gives_each_chunk_once(store: QdrantBackend, mode: str) -> None:
    found = ids(ask(store, mode, "export invoices refund guests attachments", 50))
    assert sorted(found) == sorted(ids_of_notes())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("top_k", [0, -1])
def test_k_below_one_is_an_error(store: QdrantBackend, mode: str, top_k: int) -> None:
    with pytest.raises(ConfigError, match="top_k must be at least 1"):
        ask(store, mode, "export", top_k)


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_store_finds_nothing(open_store: Open, mode: str) -> None:
    empty = open_store()
    assert empty.index([], HASH) == IndexReport(0, 0, 0, 0, 0)
    assert ask(empty, mode, "export") == []


@pytest.mark.parametrize("mode", MODES)
def test_top_k_is_a_prefix_of_top_k_plus_one(open_store: Open, mode: str) -> None:
    store = open_store()
    words = ["board", "task", "export", "refund", "guest", "invoice"]
    # Many texts share their words in the same numbers, so ties are everywhere.
    store.index([chunk(f"d{n % 7}.md#{n}", f"{words[n % 6]} {words[n % 3]} note") for n in range(40)], HASH)
    found = [ids(ask(store, mode, "board task export note", k, **pooled(mode))) for k in range(1, 21)]
    for shorter, longer in pairwise(found):
        assert longer[: len(shorter)] == shorter


def pooled(mode: str) -> dict[str, int]:
    return {"pool": 50} if mode == "hybrid" else {}


@pytest.mark.parametrize("mode", ["dense", "bm25"])
def test_equal_scores_are_ordered_by_document_and_position(open_store: Open, mode: str) -> None:
    store = open_store()
    same = [chunk(chunk_id, "the very same words") for chunk_id in ("b.md#10", "b.md#2", "a.md#3", "c.md#0")]
    store.index(same, HASH)
    expected = ["a.md#3", "b.md#2", "b.md#10", "c.md#0"]
    assert [ids(ask(store, mode, "same words", k)) for k in (1, 2, 3, 4)] == [
        expected[:k] for k in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("mode", MODES)
def test_excluded_and_filtered_chunks_take_no_place(store: QdrantBackend, mode: str) -> None:
    query = "export the workspace invoices refund"
    first, second, *rest = ids(ask(store, mode, query, 5))
    assert ids(ask(store, mode, query, 2, exclude=[first, second])) == rest[:2]
    pro = ask(store, mode, query, 2, filters={"plan": "pro"})
    assert sorted(ids(pro)) == ["billing.md#0", "billing.md#1"]
    assert len(ask(store, mode, query, 5, filters={"plan": ["pro", "free"]})) == 3
    assert ids(ask(store, mode, query, 5, filters={"doc_id": "guests.md"})) == ["guests.md#0"]
    assert len(ask(store, mode, query, 5, filters={"headings": "Title", "plan": "team"})) == 2
    assert ask(store, mode, query, 5, filters={"plan": "gold"}) == []


def test_a_filter_compares_only_what_can_be_equal(store: QdrantBackend) -> None:
    with pytest.raises(ConfigError, match=r"filters compare text, whole numbers and booleans; got 0\.5"):
        ask(store, "bm25", "export", filters={"weight": 0.5})


def test_fusion_is_reciprocal_rank_with_the_stated_constant(store: QdrantBackend) -> None:
    query, keep = "export the workspace refund LK-504", {"plan": ["team", "pro"]}
    expected: dict[str, float] = {}
    for mode in ("dense", "bm25"):
        for rank, hit in enumerate(ask(store, mode, query, 50, filters=keep), start=1):
            expected[hit.chunk_id] = expected.get(hit.chunk_id, 0.0) + 1 / (RRF_K + rank)
    fused = ask(store, "hybrid", query, 2, filters=keep)
    order = sorted(expected, key=lambda i: -expected[i])
    assert ids(fused) == order[:2]
    assert [hit.score for hit in fused] == pytest.approx([expected[i] for i in order[:2]])
    assert fused[0].score <= 2 / (RRF_K + 1)


def test_the_pool_must_hold_what_is_asked_for(store: QdrantBackend) -> None:
    with pytest.raises(ConfigError, match=r"the pool \(3\) is smaller than top_k \(4\)"):
        store.search_hybrid(HASH.embed(["export"])[0], "export", 4, pool=3)
    assert len(store.search_hybrid(HASH.embed(["export"])[0], "export", 60)) == 5


@pytest.mark.parametrize("query", ["", "???", "the of and"])
def test_a_query_without_terms_says_so(store: QdrantBackend, query: str) -> None:
    with pytest.warns(UserWarning, match="holds no searchable term"):
        assert store.search_text(query) == []
    with pytest.warns(UserWarning, match="holds no searchable term"):
        assert len(store.search_hybrid(HASH.embed(["export"])[0], query)) == 5


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("低头思故乡", "故乡"),
        ("国際標準化に関する動向", "国際標準化"),
        ("Le déploiement français est automatique", "déploiement français"),
        ("Автоматическое развертывание", "развертывание"),
        ("तैनाती के लिए निर्देश", "तैनाती के लिए"),
        ("배포는 도커로 합니다", "배포는 도커"),
        ("Written in C++ for speed", "C++"),
        ("Runs on node.js", "node.js"),
        ("Part ER20328_23 is out of stock", "ER20328_23"),
        ("The approved envelope is $2,400,000 this year", "Approved envelope: 2.4 million"),
    ],
)
def test_words_of_all_kinds_are_found(query: str, text: str) -> None:
    with QdrantBackend("kinds", DIM) as store:
        others = [
            "Written in C for speed",
            "Runs on js",
            "标准头乡",
            "Part ER20328 is in stock",
            "An envelope, 2.4 kg",
        ]
        store.index(
            [*NOTES, *(chunk(f"o{n}.md", other) for n, other in enumerate(others)), chunk("x.md", text)], HASH
        )
        assert ids(ask(store, "bm25", query))[0] == "x.md"


# ---------------------------------------------------------------- writing


class Counting(HashEmbedder):
    """Remembers every text it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed(texts)


def test_indexing_twice_embeds_nothing_and_changes_nothing(store: QdrantBackend) -> None:
    embedder = Counting()
    assert store.index(NOTES, embedder) == IndexReport(0, 5, 0, 0, 0)
    assert embedder.asked == []
    assert store.count() == 5


def test_the_version_changes_with_what_it_holds_and_only_then(store: QdrantBackend) -> None:
    seen = [store.version]
    store.index(NOTES, HASH)
    assert store.version == seen[0] != ""
    seen.append(store.version)
    for notes in (NOTES[1:], [chunk("export.md#1", "Exports include nothing."), *NOTES[2:]]):
        store.index(notes, HASH)  # one removed; one edited
        assert store.version not in seen
        seen.append(store.version)
    store.add(["A note of its own."], HASH.embed(["A note of its own."]))
    assert store.version not in seen


def test_an_edit_replaces_a_removal_deletes_and_a_move_is_not_embedded(store: QdrantBackend) -> None:
    embedder = Counting()
    edited = chunk("billing.md#0", "Invoices are sent on the last day of the month.", plan="pro")
    inserted = chunk("export.md#0", "Exporting your data.", plan="team")
    moved = [
        chunk("export.md#1", NOTES[0].text, plan="team"),
        chunk("export.md#2", NOTES[1].text, plan="team"),
    ]
    report = store.index([inserted, *moved, edited, NOTES[3]], embedder)
    assert report == IndexReport(embedded=2, unchanged=1, replaced=3, deleted=1, blank=0)
    assert embedder.asked == [inserted.text, edited.text]
    assert ids(ask(store, "bm25", "month")) == ["billing.md#0"]
    assert ask(store, "bm25", "last month")[0].chunk == edited
    assert ids(ask(store, "bm25", "guests")) == []
    for one in moved:
        (best,) = store.search(HASH.embed([one.text])[0], 1)
        assert (best.chunk, best.score) == (one, pytest.approx(1.0, abs=1e-5))


def test_changed_metadata_is_written_without_embedding(store: QdrantBackend) -> None:
    embedder = Counting()
    renamed = [chunk(c.chunk_id, c.text, plan="new") for c in NOTES]
    assert store.index(renamed, embedder) == IndexReport(0, 5, 0, 0, 0)
    assert embedder.asked == []
    assert len(ask(store, "dense", "export", filters={"plan": "new"})) == 5


def test_chunks_without_content_are_dropped_and_counted(open_store: Open) -> None:
    store = open_store()
    blanks = ["", "   ", "\n\n", "---", "\u200b", "17"]
    report = store.index([*NOTES, *(chunk(f"blank.md#{n}", text) for n, text in enumerate(blanks))], HASH)
    assert report == IndexReport(embedded=5, unchanged=0, replaced=0, deleted=0, blank=6)
    assert str(report) == "5 embedded, 0 unchanged, 0 replaced, 0 deleted, 6 blank"
    assert store.count() == 5


def test_ids_of_points_follow_from_chunk_ids(store: QdrantBackend) -> None:
    assert set(store._stored()) == {str(uuid.uuid5(uuid.NAMESPACE_URL, i)) for i in ids_of_notes()}


def test_a_chunk_id_used_twice_is_an_error(store: QdrantBackend) -> None:
    with pytest.raises(ConfigError, match="two chunks have the same chunk_id"):
        store.index([NOTES[0], NOTES[0]], HASH)


def test_the_published_add_and_search(open_store: Open) -> None:
    store = open_store(dim=3)
    texts, vectors = ["one", "two", "-"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert store.add(texts, vectors, ids=["a", "b", "c"], metadata=[{"n": 1}, {"n": 2}, {}]) == 2
    hits = store.search([0.9, 0.1, 0], top_k=5)
    assert [(hit.chunk_id, hit.text) for hit in hits] == [("a", "one"), ("b", "two")]
    assert hits[0].score == pytest.approx(0.9 / np.hypot(0.9, 0.1))
    assert ids(store.search([1, 1, 1], filters={"n": 2})) == ["b"]
    store.add(["three"], [[1, 1, 1]])
    store.add(["three"], [[1, 1, 1]])  # its text is its id
    assert store.count() == 3
    assert store.add([], []) == 0


@pytest.mark.parametrize(
    "bad", [[[0.0, 0.0, 0.0]], [[float("nan"), 1.0, 0.0]], [[1.0, 2.0]], [1.0, 2.0, 3.0]]
)
def test_bad_vectors_are_refused(open_store: Open, bad: object) -> None:
    store = open_store(dim=3)
    with pytest.raises(ConfigError, match=r"vectors have shape|a vector is zero or holds NaN"):
        store.add(["text"], bad)  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        store.search(np.asarray(bad)[0])
    with pytest.raises(ConfigError, match="1 texts, 2 ids"):
        store.add(["text"], [[1, 0, 0]], ids=["a", "b"])
    assert store.count() == 0


# ---------------------------------------------------------------- the collection


def other_fingerprint(dim: int = DIM) -> Fingerprint:
    return Fingerprint("other", "1", "query: ", True, 254, dim)


def test_vectors_of_another_embedder_are_refused(open_store: Open) -> None:
    store = open_store(fingerprint=HASH.fingerprint)
    store.index(NOTES, HASH)
    stranger = Counting()
    stranger.fingerprint = other_fingerprint()
    with pytest.raises(
        FingerprintMismatch, match=r"was written with scripted:\w+, this is other:\w+; use that embedder"
    ):
        store.index(NOTES, stranger)
    assert stranger.asked == []


def test_a_folder_remembers_its_embedder_and_its_dimension(tmp_path: Path) -> None:
    with QdrantBackend("notes", DIM, path=tmp_path) as store:
        store.index(NOTES, HASH)
    with QdrantBackend("notes", DIM, path=tmp_path, fingerprint=HASH.fingerprint) as store:
        assert store.count() == 5
    with pytest.raises(FingerprintMismatch, match="other:"):
        QdrantBackend("notes", DIM, path=tmp_path, fingerprint=other_fingerprint())
    with pytest.raises(FingerprintMismatch, match="holds vectors of 256 numbers, not 3"):
        QdrantBackend("notes", 3, path=tmp_path)


def test_vectors_added_without_a_fingerprint_cannot_be_claimed(open_store: Open) -> None:
    store = open_store()
    store.add(["text"], HASH.embed(["text"]))
    with pytest.raises(FingerprintMismatch, match="an unnamed embedder"):
        store.expect(HASH.fingerprint)


def test_wiping_is_asked_for_and_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with QdrantBackend("notes", DIM, path=tmp_path) as store:
        store.index(NOTES, HASH)
    with QdrantBackend("notes", 3, path=tmp_path, recreate=True) as store:
        assert store.count() == 0
    assert capsys.readouterr().out == f"deleting collection 'notes' with 5 chunks at {tmp_path}\n"


def test_other_bm25_rules_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    QdrantBackend("notes", DIM, path=tmp_path).close()
    monkeypatch.setattr("cookbook.lexical.RULES", "terms-99")
    with pytest.raises(StoreError, match="was indexed with other BM25 rules"):
        QdrantBackend("notes", DIM, path=tmp_path)


def test_opening_a_folder_again_in_the_same_process_just_works(tmp_path: Path) -> None:
    first = QdrantBackend("notes", DIM, path=tmp_path)
    first.index(NOTES, HASH)
    again = QdrantBackend("notes", DIM, path=tmp_path / "." / "")
    assert again.count() == 5
    again.close()
    again.close()
    assert first.count() == 5  # closing one leaves the other open
    first.close()
    with pytest.raises(StoreError, match="the store 'notes' was closed; open it again"):
        first.count()


def run_python(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_second_process_is_told_where_and_what_to_do(tmp_path: Path) -> None:
    code = f"from cookbook.stores import QdrantBackend\nQdrantBackend('notes', {DIM}, path={str(tmp_path)!r})"
    with QdrantBackend("notes", DIM, path=tmp_path):
        _, errors = run_python(code).communicate(timeout=60)
    last = errors.strip().splitlines()[-1]
    assert last.startswith(
        f"cookbook.errors.StoreError: the store at {tmp_path} is open in another process; close it"
    )
    assert "QDRANT_URL" in last


def test_a_killed_process_leaves_a_store_that_opens(tmp_path: Path) -> None:
    code = f"""
import time
from cookbook.embedders import HashEmbedder
from cookbook.schema import Chunk
from cookbook.stores import QdrantBackend
store = QdrantBackend("notes", {DIM}, path={str(tmp_path)!r})
store.index([Chunk("a.md#0", "a.md", "kept text", 0, 9)], HashEmbedder())
print("indexed", flush=True)
time.sleep(60)
"""
    process = run_python(code)
    assert process.stdout is not None
    assert process.stdout.readline() == "indexed\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with QdrantBackend("notes", DIM, path=tmp_path) as store:
        assert ids(ask(store, "bm25", "kept")) == ["a.md#0"]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot use .*file/store as a store"):
        QdrantBackend("notes", DIM, path=tmp_path / "file" / "store")
    (tmp_path / "meta.json").write_text("{torn")
    with pytest.raises(StoreError, match=r"is damaged .*; delete the folder and index again"):
        QdrantBackend("notes", DIM, path=tmp_path)


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    with pytest.raises(StoreError, match=r"no Qdrant answers at http://127\.0\.0\.1:9 "):
        QdrantBackend("notes", DIM)
