"""From an index on disk to what systems are built from: a retriever over it, and a card that says what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cookbook.chunkers import Tokenizer
from cookbook.corpora import CorpusCard, read_card
from cookbook.embedders import Embedder, Vectors
from cookbook.errors import ConfigError
from cookbook.ingest.finding import CARD
from cookbook.ingest.index import open_index
from cookbook.ingest.run import CHUNKER, Report
from cookbook.prompts import as_data
from cookbook.retrieval import Retriever
from cookbook.schema import Chunk
from cookbook.stores import QdrantBackend

HAND_OFF = "The files themselves may say more than the passages I found."
_EXAMPLES, _LENGTH = 4, 60  # how many examples a card has, and how many characters of a title
_GENERAL = ("How does it work?", "Who decided that, and when?", "What does it cost?", "Is it allowed?")


class _Kept:
    """The embedder of an index whose vectors are all there: it looks them up."""

    def __init__(self, embedder: Embedder, texts: Sequence[str], vectors: Vectors) -> None:
        self.fingerprint = embedder.fingerprint
        self.tokenizer: Tokenizer = embedder.tokenizer
        self._vectors = dict(zip(texts, vectors, strict=True))
        self.describe = embedder.describe

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        return np.array([self._vectors[text] for text in texts])


def open_documents(report: Report, embedder: Embedder, mode: str = "dense") -> Retriever:
    """A retriever over what a run left in the index: in memory, or on the server that QDRANT_URL names.

    Raises ConfigError when nothing could be indexed, with the first reason.
    """
    if not report.passages:
        first = next((f"; {file.name}: {file.why}" for file in report.files if file.why), "")
        raise ConfigError(f"there is nothing to search in {named(report.paths)}{first}")
    store = _filled(report.folder, embedder)
    return Retriever(store, embedder, mode, label=f"{named(report.paths)} in {CHUNKER}")


_stores: dict[Path, tuple[str, QdrantBackend]] = {}  # by folder, with the count of changes it was filled at


def _filled(folder: Path, embedder: Embedder) -> QdrantBackend:
    """A store with every passage of the index, filled once (a second for 1,000) and again when that changed."""
    with open_index(folder) as index:
        changes = index.about()["changes"]
        if folder in _stores and _stores[folder][0] == changes:
            return _stores[folder][1]
        chunks, vectors = index.chunks()
    store = QdrantBackend(folder.name, embedder.fingerprint.dim)
    store.index(chunks, _Kept(embedder, [chunk.text for chunk in chunks], vectors))
    _stores[folder] = changes, store
    return store


def passages_of(report: Report) -> list[Chunk]:
    """Every passage that a run left in the index, in the order of the documents."""
    with open_index(report.folder) as index:
        return index.chunks()[0]


def named(paths: Sequence[Path]) -> str:
    """The paths in few words: the name of the one, or how many there are."""
    return paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"


def card_of(report: Report) -> CorpusCard:
    """The card of own documents: ``corpus.toml`` of the folder if it has one, else made of its name and titles.

    Without examples the gate takes "What is ownership?" for small talk (P(search) 0.07 with the 1.5B judge), so
    a card that has none asks for what the titles name: of ten questions to documents all were then searched for.
    """
    own = report.paths[0] / CARD
    card = CorpusCard(as_data(f"the documents in {named(report.paths)}"), HAND_OFF, ())
    if len(report.paths) == 1 and own.is_file():
        card = read_card(own)
    return card if card.examples else replace(card, examples=_examples(report))


def _examples(report: Report) -> tuple[str, ...]:
    """Questions for what a few titles name, spread over the documents; general ones where there are no titles."""
    with open_index(report.folder) as index:
        entries = index.entries()
    named_once = dict.fromkeys(" ".join(entries[doc_id].title.split()) for doc_id in sorted(entries))
    titles = [title[:_LENGTH] for title in named_once if title]
    some = [
        titles[n * len(titles) // min(_EXAMPLES, len(titles))] for n in range(min(_EXAMPLES, len(titles)))
    ]
    asked = [f"What is said about {as_data(title)}?" for title in some]
    return (*asked, *_GENERAL[len(asked) :])
