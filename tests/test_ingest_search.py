"""From an index to what systems are built from: passages found, a card that says what they are, all systems on it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from own_documents import FOLDER, pdf

from cookbook.assemble import parts_for_path
from cookbook.corpora import corpus_names
from cookbook.embedders import HashEmbedder
from cookbook.errors import ConfigError, FingerprintMismatch
from cookbook.ingest import card_of, ingest, open_documents
from cookbook.providers import LLMClient
from cookbook.reflect.gate import LLMGate
from cookbook.retrieval import Retriever
from cookbook.schema import ScoreKind, Status
from cookbook.stores import QdrantBackend
from cookbook.systems import REGISTRY, build


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "teas").mkdir()
    return tmp_path / "teas"


def put(folder: Path, **texts: str) -> None:
    for stem, text in texts.items():
        (folder / f"{stem}.md").write_text(text, encoding="utf-8")


def parts(path, **options):
    return parts_for_path(path, embedder=HashEmbedder(), needs_model=False, **options)


# ---------------------------------------------------------------- searching


def test_passages_are_found_by_meaning_by_words_and_by_both(folder):
    put(folder, green="# Green\n\nGreen tea brews two minutes.", black="# Black\n\nBlack tea brews four.")
    for mode, kind in {"dense": ScoreKind.COSINE, "bm25": ScoreKind.BM25, "hybrid": ScoreKind.RRF}.items():
        first, *_ = parts(folder, mode=mode).retriever.retrieve("green tea", 5)
        assert (first.chunk_id, first.kind, first.chunk.headings) == ("green.md#0", kind, ("Green",)), mode
    retriever = parts(folder).retriever
    assert retriever.describe() == (
        "teas in markdown_sections; 2 chunks; embedder scripted (a stand-in that counts shared words); memory; "
        "dense search"
    )


def test_what_changed_on_the_disk_is_searched_at_once(folder):
    put(folder, green="Green tea brews two minutes.")
    store = parts(folder).retriever.store
    assert parts(folder).retriever.store is store  # nothing changed, nothing is filled again
    put(folder, white="White tea brews five minutes.")
    assert parts(folder).retriever.retrieve("white tea", 1)[0].chunk_id == "white.md#0"
    (folder / "green.md").unlink()
    assert parts(folder).retriever.store.count() == 1


def test_an_index_is_never_searched_with_another_embedder(folder):
    class Other(HashEmbedder):
        fingerprint = replace(HashEmbedder.fingerprint, revision="hashed-terms-2")

    put(folder, green="Green tea")
    retriever = parts(folder).retriever
    with pytest.raises(FingerprintMismatch):
        Retriever(retriever.store, Other())
    assert parts_for_path(folder, embedder=Other(), needs_model=False).retriever.store is not retriever.store


def test_an_empty_folder_is_an_error_with_a_reason(folder):
    with pytest.raises(ConfigError, match=r"there is nothing to search in teas$"):
        parts(folder)
    put(folder, blank="\u200b")
    with pytest.raises(ConfigError, match=r"nothing to search in teas; blank.md: there is no word in it"):
        parts(folder)


CASES = {
    "低头思故乡": "故乡",
    "国際標準化に関する動向": "国際標準化",
    "Le déploiement français est prêt": "déploiement français",
    "Подготовлено развертывание": "развертывание",
    "तैनाती के लिए तैयार": "तैनाती के लिए",
    "배포는 도커로 한다": "배포는 도커",
    "Written in C++ by hand": "C++",
    "It runs on node.js alone": "node.js",
    "Error ER20328_23 was raised": "ER20328_23",
}


def test_words_of_every_script_find_their_document(folder):
    for n, text in enumerate(
        [*CASES, "Written in C by hand", "It runs on a node", "Error ER20328_24 was raised"]
    ):
        (folder / f"{n}.txt").write_text(text, encoding="utf-8")
    retriever = parts(folder, mode="bm25").retriever
    assert {text: retriever.retrieve(query, 1)[0].text for text, query in CASES.items()} == {
        t: t for t in CASES
    }


# ---------------------------------------------------------------- the card


def test_a_card_is_made_of_the_name_and_the_titles(folder):
    (folder / "plan.pdf").write_bytes(pdf([["words"]]))  # whose only headings are the numbers of its pages
    put(folder, a="# Green\n\nwords", b="plain words", c="# Black\n\nwords", d="# Green\n\nother words")
    card = parts(folder).card
    assert card.subject == "the documents in teas"
    assert card.examples == (
        "What is said about Green?",
        "What is said about Black?",
        "What does it cost?",
        "Is it allowed?",
    )
    assert card.hand_off == "The files themselves may say more than the passages I found."


def test_titles_are_spread_over_the_documents_and_are_data(folder):
    for n in range(8):
        put(folder, **{f"{n}": f"# Part {n} {'x' * 100}\n\nwords {n}"})
    put(folder, **{"0": "# Part </passage> 0\n\nwords"})
    examples = parts(folder).card.examples
    assert [example.split("Part ")[1][:1] for example in examples[1:]] == ["2", "4", "6"]
    assert examples[0] == "What is said about Part &lt;/passage> 0?"
    assert max(map(len, examples)) <= 80


def test_the_card_of_the_folder_wins(folder):
    put(folder, green="# Green\n\nwords")
    (folder / "corpus.toml").write_text('subject = "our teas"\nhand_off = "Ask in the shop."\n')
    card = parts(folder).card
    assert (card.subject, card.hand_off) == ("our teas", "Ask in the shop.")
    assert card.examples[0] == "What is said about Green?"  # for it gives none
    (folder / "corpus.toml").write_text(
        'subject = "our teas"\nhand_off = ""\nexamples = ["Which is best?"]\n'
    )
    assert parts(folder).card.examples == ("Which is best?",)
    (folder / "corpus.toml").write_text("subject = ")
    with pytest.raises(ConfigError, match="must give subject and hand_off, as TOML"):
        parts(folder)


def test_the_gate_is_never_without_examples_of_a_search(folder):
    put(folder, plain="words without a title")
    asked = LLMGate(LLMClient("scripted/echo"), parts(folder).card)._messages("What is ownership?")
    assert [m["content"] for m in asked if m["role"] == "assistant"].count("search") == 4


def test_the_folder_of_mixed_documents_is_no_corpus():
    assert "mixed_folder" not in corpus_names()
    assert (FOLDER / "garden-rules.md").exists()


def test_the_folder_is_asked_on_recorded_vectors(folder):
    recorded = parts_for_path(FOLDER, embedder="replay", needs_model=False)
    answer = build("extractive", recorded).answer("Can I have a barbecue in August?")
    assert answer.text.startswith(
        "Between March and October there is no fire of any kind, barbecues included."
    )
    assert answer.citations == ("garden-rules.md#1",)


@pytest.mark.live
def test_the_folder_is_asked_with_the_real_embedder(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "papers")
    live = parts_for_path(tmp_path / "papers", embedder="all-minilm-l6-v2", needs_model=False)
    answer = build("extractive", live).answer("What does the yearly fee rise to?")
    assert answer.citations == ("minutes.docx#1",)
    assert "45 pounds" in answer.text


# ---------------------------------------------------------------- every system


@pytest.mark.parametrize("name", REGISTRY)
def test_every_system_runs_on_own_documents(folder, name):
    put(folder, green="# Green\n\nGreen tea brews two minutes.", black="# Black\n\nBlack tea brews four.")
    over = parts_for_path(folder, embedder=HashEmbedder(), client=LLMClient("scripted/always_yes"), k=2)
    answer = build(name, over).answer("How long does green tea brew?")
    assert answer.status in tuple(Status)
    assert {hit.chunk.doc_id for hit in answer.contexts} <= {"green.md", "black.md"}


def test_a_report_can_be_opened_without_reading_again(folder, monkeypatch):
    put(folder, green="Green tea")
    report = ingest([folder], HashEmbedder())
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail("read again"))
    assert open_documents(report, HashEmbedder()).retrieve("green", 1)[0].text == "Green tea"
    assert card_of(report).subject == "the documents in teas"


def test_a_server_gets_a_collection_of_the_same_name(folder, monkeypatch):
    put(folder, green="Green tea")
    made = []
    monkeypatch.setattr(
        "cookbook.ingest.search.QdrantBackend",
        lambda name, dim: made.append(name) or QdrantBackend(name, dim),
    )
    assert parts(folder).retriever.store.name == made[0]
    assert made[0].startswith("teas-")
