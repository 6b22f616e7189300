"""The corpora load the same everywhere, and the handbook is what the lessons say it is."""

import re
from pathlib import Path

import pytest

from cookbook import paths
from cookbook.chunkers import markdown_sections
from cookbook.corpora import CorpusCard, corpus_names, load_card, load_corpus
from cookbook.errors import ConfigError

#: What the unanswerable questions ask about. None of it may slip into the handbook.
BANNED = [
    r"[$€£¥]",
    r"\b(USD|EUR|GBP|dollars?|euros?|pounds?)\b",
    r"\b(pric|discount|refund)",
    r"\b(costs?|fees?|charges?|trials?)\b",
    r"\bfound(ed|ers?)\b|\bCEO\b",
    r"\b(SOC|ISO|HIPAA|GDPR|PCI)\b|\b[Cc]ertif",
    r"\b([Oo]ffices?|[Hh]eadquarters|[Uu]ptime|SLA)\b",
    r"\b(19|20)\d\d\b",
]


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty corpora folder with one corpus called "small"."""
    monkeypatch.setattr(paths, "CORPORA", tmp_path)
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "corpus.toml").write_text('subject = "a small thing"\nhand_off = "Ask."\n', encoding="utf-8")
    return folder


def test_documents_come_in_file_name_order_with_the_first_heading_as_title(corpora: Path) -> None:
    (corpora / "b.md").write_text("## Not this\n\n# Second  \n\n# Third\n", encoding="utf-8")
    (corpora / "a.md").write_text("# Bäume\r\n\r\nText.\r\n", encoding="utf-8", newline="")
    (corpora / "notes.txt").write_text("no document", encoding="utf-8")
    docs = load_corpus("small")
    assert [(doc.doc_id, doc.title) for doc in docs] == [("a.md", "Bäume"), ("b.md", "Second")]
    assert docs[0].text == "# Bäume\n\nText.\n"


@pytest.mark.parametrize("load", [load_corpus, load_card])
@pytest.mark.parametrize("name", ["nowhere", "", "..", "../corpora/small"])
def test_an_unknown_name_is_refused_with_the_known_ones(corpora: Path, load, name: str) -> None:
    with pytest.raises(ConfigError, match=r"choose one of: small$"):
        load(name)


def test_a_file_that_cannot_be_read_is_named(corpora: Path) -> None:
    (corpora / "latin.md").write_bytes("# Caf\xe9".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"cannot read .*latin\.md"):
        load_corpus("small")


def test_a_folder_in_the_place_of_a_file_is_named(corpora: Path) -> None:
    (corpora / "trap.md").mkdir()
    with pytest.raises(ConfigError, match=r"cannot read .*trap\.md"):
        load_corpus("small")


def test_a_document_without_title_is_named(corpora: Path) -> None:
    (corpora / "bare.md").write_text("## Only a section\n#nospace\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bare\.md has no title"):
        load_corpus("small")


@pytest.mark.parametrize("card", ['subject = "a"', 'subject = "a"\nhand_off = "b"\nmore = "c"', "subject ="])
def test_a_card_with_other_fields_is_named(corpora: Path, card: str) -> None:
    (corpora / "corpus.toml").write_text(card, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"corpus\.toml must give subject and hand_off"):
        load_card("small")


@pytest.mark.parametrize("name", corpus_names())
def test_every_corpus_has_a_card(name: str) -> None:
    card = load_card(name)
    assert isinstance(card, CorpusCard)
    assert card.subject
    assert card.hand_off


def test_the_handbook_is_wide_enough_to_get_lost_in() -> None:
    docs = load_corpus("larkspur")
    sections = markdown_sections(docs)
    assert (len(docs), len(sections)) == (16, 60)
    names = [section.headings[-1] for section in sections]
    assert len(set(names)) == len(names)
    assert all(section.headings[0] == doc.title for doc in docs for section in markdown_sections([doc]))


@pytest.mark.parametrize(
    ("name", "documents", "sections"), [("rust_notes", 28, 127), ("attention_digest", 8, 31)]
)
def test_the_other_corpora_are_as_large_as_their_cards_say(name: str, documents: int, sections: int) -> None:
    docs = load_corpus(name)
    chunks = markdown_sections(docs)
    assert (len(docs), len(chunks)) == (documents, sections)
    assert len({chunk.headings for chunk in chunks}) == sections
    assert {doc.metadata["corpus"] for doc in docs} == {name}


@pytest.mark.parametrize(
    ("name", "least", "most"), [("larkspur", 60, 130), ("rust_notes", 80, 150), ("attention_digest", 40, 150)]
)
def test_sections_are_short_enough_for_a_small_embedder(name: str, least: int, most: int) -> None:
    words = {s.chunk_id: len(s.text.split()) for s in markdown_sections(load_corpus(name))}
    assert all(least <= count <= most for count in words.values()), words


@pytest.mark.live
@pytest.mark.parametrize("name", ["larkspur", "rust_notes", "attention_digest"])
def test_sections_stay_under_220_minilm_tokens(name: str) -> None:
    from tokenizers import Tokenizer

    from cookbook.providers.models import weights_path

    tokenizer = Tokenizer.from_file(str(weights_path("all-minilm-l6-v2") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    counts = {s.chunk_id: len(tokenizer.encode(s.text)) for s in markdown_sections(load_corpus(name))}
    assert max(counts.values()) < 220, counts
    assert min(counts.values()) > 50, counts


@pytest.mark.parametrize("pattern", BANNED)
def test_the_handbook_is_silent_on_what_the_unanswerable_questions_ask(pattern: str) -> None:
    found = [
        (doc.doc_id, hit.group()) for doc in load_corpus("larkspur") for hit in re.finditer(pattern, doc.text)
    ]
    assert found == []


def test_export_after_cancelling_needs_two_chapters() -> None:
    docs = {doc.doc_id: doc.text for doc in load_corpus("larkspur")}
    assert not re.search(r"cancel|retention|read-only|30 days|deleted", docs["data-export.md"], re.IGNORECASE)
    windows = [name for name, text in docs.items() if "a retention window of 30 days begins" in text]
    assert windows == ["cancellation.md"]
    assert "Settings > Data > Export" not in docs["cancellation.md"]
