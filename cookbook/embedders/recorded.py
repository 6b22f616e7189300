"""Recorded vectors and tokens, so that notebooks and tests need no weights and rank alike on every machine.

``recordings/embeddings/<stem>.npz`` holds, for one embedder, vectors by the SHA-256 of their text
(16-bit floats) and token offsets by word. A tokenizer that never joins characters across white
space, as WordPiece does, treats the words of a text one by one; so the tokens of any text, whole or
cut between words, follow from those of its words, and each word is kept once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
from filelock import FileLock

from cookbook import paths
from cookbook.embedders.base import Embedder, Fingerprint, Vectors, require_texts, settle, start_of
from cookbook.embedders.real import MiniLM
from cookbook.errors import ConfigError, FingerprintMismatch, ReplayMiss

if TYPE_CHECKING:
    from cookbook.chunkers import Tokenizer

Offsets = tuple[tuple[int, int], ...]
_WORD = re.compile(
    r"[^ \t\r\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+"
)  # white space as WordPiece sees it


def folder() -> Path:
    return paths.RECORDINGS / "embeddings"


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@dataclass
class Records:
    """What is recorded for one embedder: 16-bit vectors by text hash, token offsets by word."""

    fingerprint: Fingerprint
    vectors: dict[bytes, np.ndarray] = field(default_factory=dict)
    words: dict[str, Offsets] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Records:
        """Raises ConfigError for a file that is not such a recording."""
        try:
            with np.load(path, allow_pickle=False) as file:
                records = cls(Fingerprint(**json.loads(str(file["fingerprint"]))))
                keys, rows = file["keys"], file["vectors"]
                records.vectors = {key.tobytes(): row for key, row in zip(keys, rows, strict=True)}
                words = bytes(file["words"]).decode().split("\n")[:-1]
                ends, offsets = np.cumsum(file["counts"]), file["offsets"].tolist()
                for word, first, last in zip(words, [0, *ends], ends, strict=False):
                    records.words[word] = tuple((a, b) for a, b in offsets[first:last])
        except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
            raise ConfigError(
                f"{path} is not a recording of embeddings ({error}); record it again"
            ) from error
        return records

    @classmethod
    def read_all(cls, fingerprint: Fingerprint) -> Records:
        """Every recording of this embedder; FingerprintMismatch for one of the same name that differs."""
        together = cls(fingerprint)
        for path in sorted(folder().glob("*.npz")):
            found = cls.read(path)
            if found.fingerprint.name != fingerprint.name:
                continue
            if found.fingerprint != fingerprint:
                raise FingerprintMismatch(
                    f"{path} was recorded with {found.fingerprint.key}, this is {fingerprint.key}; record it again"
                )
            together.merge(found)
        return together

    def merge(self, other: Records) -> None:
        self.vectors |= other.vectors
        self.words |= other.words

    def take(self, texts: Sequence[str]) -> Vectors:
        """The vectors of these texts, in order; ReplayMiss for one that is not recorded."""
        for text in texts:
            if _key(text) not in self.vectors:
                name = self.fingerprint.name
                raise ReplayMiss(f"no vector of {name} is recorded for {start_of(text)}; {_go_live(name)}")
        rows = [self.vectors[_key(text)] for text in texts]
        return settle(np.reshape(rows, (len(rows), self.fingerprint.dim)), texts, "the recording")

    def save(self, path: Path) -> None:
        """Add what is here to the file, whole or not at all; FingerprintMismatch if it is another embedder's."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if path.exists():
                there = Records.read(path)
                if there.fingerprint != self.fingerprint:
                    raise FingerprintMismatch(
                        f"{path} holds vectors of {there.fingerprint.key}, not {self.fingerprint.key}; choose another name"
                    )
                there.merge(self)
                there._write(path)
            else:
                self._write(path)

    def _write(self, path: Path) -> None:
        keys, words = sorted(self.vectors), sorted(self.words)
        offsets = [pair for word in words for pair in self.words[word]]
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as stream:
            np.savez_compressed(
                stream,
                fingerprint=np.array(json.dumps(asdict(self.fingerprint))),
                keys=np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), 32),
                vectors=np.array([self.vectors[k] for k in keys], np.float16).reshape(
                    len(keys), self.fingerprint.dim
                ),
                words=np.frombuffer("".join(f"{word}\n" for word in words).encode(), np.uint8),
                counts=np.array([len(self.words[word]) for word in words], np.uint16),
                offsets=np.array(offsets, np.uint16).reshape(len(offsets), 2),
            )
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)


class RecordedTokenizer:
    """Token offsets out of a recording."""

    def __init__(self, records: Records) -> None:
        self.name = records.fingerprint.name
        self._words = records.words

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """ReplayMiss for a word that was never recorded."""
        found: list[tuple[int, int]] = []
        for match in _WORD.finditer(text):
            if (tokens := self._words.get(match[0])) is None:
                raise ReplayMiss(f"no tokens are recorded for the word {match[0]!r}; {_go_live(self.name)}")
            found += [(match.start() + a, match.start() + b) for a, b in tokens]
        return found


class RecordedEmbedder:
    """Vectors out of recordings/embeddings; ReplayMiss for a text that was never recorded."""

    def __init__(self, fingerprint: Fingerprint = MiniLM.FINGERPRINT) -> None:
        self.fingerprint = fingerprint
        self._records = Records.read_all(fingerprint)
        self.tokenizer = RecordedTokenizer(self._records)

    def embed(self, texts: Sequence[str]) -> Vectors:
        require_texts(texts)
        return self._records.take(texts)

    def describe(self) -> str:
        return f"embedder {self.fingerprint.name} (replay of recorded vectors)"


class RecordingEmbedder:
    """A live embedder whose vectors and tokens are kept in ``<stem>.npz``; recorded ones are not asked again."""

    def __init__(self, live: Embedder, stem: str) -> None:
        self.fingerprint = live.fingerprint
        self._live = live
        self._path = folder() / f"{stem}.npz"
        self._known = Records.read_all(live.fingerprint)
        self._fresh = Records(live.fingerprint)
        self.tokenizer = RecordingTokenizer(live.tokenizer, self._known, self._fresh)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the live embedder's; what is new, tokens included, is on the disk before this returns."""
        require_texts(texts)
        unknown = [text for text in dict.fromkeys(texts) if _key(text) not in self._known.vectors]
        if unknown:
            rows = self._live.embed(unknown).astype(np.float16)
            self._fresh.vectors = dict(zip(map(_key, unknown), rows, strict=True))
        if self._fresh.vectors or self._fresh.words:
            self._fresh.save(self._path)
            self._known.merge(self._fresh)
            self._fresh.vectors.clear()
            self._fresh.words.clear()
        return self._known.take(texts)

    def describe(self) -> str:
        return f"{self._live.describe()}, recording to {self._path.name}"


class RecordingTokenizer:
    """A live tokenizer whose tokens are kept word by word."""

    def __init__(self, live: Tokenizer, known: Records, fresh: Records) -> None:
        self.name = live.name
        self._live, self._known, self._fresh = live, known, fresh

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """ConfigError when the tokenizer joins across white space: words would then not tell the text's tokens."""
        tokens = list(self._live.offsets(text))
        by_word: list[tuple[int, int]] = []
        for match in _WORD.finditer(text):
            word = match[0]
            if word not in self._known.words and word not in self._fresh.words:
                self._fresh.words[word] = tuple(self._live.offsets(word))
            found = self._known.words.get(word) or self._fresh.words.get(word, ())
            by_word += [(match.start() + a, match.start() + b) for a, b in found]
        if by_word != tokens:
            raise ConfigError(
                f"the tokenizer {self.name} joins words, its tokens cannot be recorded word by word"
            )
        return tokens


def _go_live(name: str) -> str:
    return (
        f"to go live: cookbook models fetch {name}, then PROVIDER=local, or get_embedder({name!r}) in Python"
        if name == MiniLM.NAME
        else f"to go live: get_embedder({name!r})"
    )
