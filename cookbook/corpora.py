"""The texts that come with the cookbook, as documents, and the questions that belong to them.

A corpus is a folder ``corpora/<name>/`` of Markdown files, one document each, with a ``corpus.toml``.
The Rust book is the exception: its folder holds the card, and ``rust_book.py`` brings the chapters.
Taught in notebooks/00_start_here.ipynb.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from cookbook import paths, rust_book
from cookbook.errors import ConfigError
from cookbook.eval.sets import EvalRow, eval_set_names, load_eval_set
from cookbook.schema import Document


@dataclass(frozen=True)
class CorpusCard:
    """What ``corpus.toml`` says: ``subject`` names the corpus in prompts, ``hand_off`` ends a refusal,
    ``examples`` are questions of the kind one brings to it, answerable or not, for the gate's prompt.
    """

    subject: str
    hand_off: str
    examples: tuple[str, ...]


def corpus_names() -> list[str]:
    """The names that load_corpus takes, sorted."""
    return sorted(path.parent.name for path in paths.CORPORA.glob("*/corpus.toml"))


def load_corpus(name: str) -> list[Document]:
    """The documents of a corpus, sorted by file name; ``doc_id`` is the file name.

    Raises ConfigError for an unknown name, a file that cannot be read, and one without a title.
    """
    folder = _folder(name)
    if name == rust_book.NAME:
        return load_rust_book()
    return [_document(path, name) for path in sorted(folder.glob("*.md"), key=lambda path: path.name)]


def load_rust_book() -> list[Document]:
    """The 101 chapter files of the Rust book; a title is a file's first heading, whatever its level.

    Raises ConfigError when the book is neither in the folder of outside data nor can be downloaded.
    """
    return [
        _document(path, rust_book.NAME, marks=("# ", "## ", "### ")) for path in rust_book.chapter_paths()
    ]


def load_card(name: str) -> CorpusCard:
    """The card of a corpus. Raises ConfigError for an unknown name and for a card with other fields."""
    return read_card(_folder(name) / "corpus.toml")


def read_card(path: Path) -> CorpusCard:
    """The card in a file. Raises ConfigError for one that is no TOML or has other fields."""
    try:
        card = tomllib.loads(paths.read_text(path))
        return CorpusCard(**(card | {"examples": tuple(card.get("examples", ()))}))
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise ConfigError(f"{path} must give subject and hand_off, as TOML: {error}") from error


def load_eval_questions(corpus: str | None = None) -> list[EvalRow]:
    """Rows with ``.question``, ``.answer`` and ``.corpus``: of one corpus, else of every eval set."""
    names = eval_set_names() if corpus is None else [corpus]
    return [row for name in names for row in load_eval_set(name)]


def _folder(name: str) -> Path:
    if name not in (known := corpus_names()):
        raise ConfigError(f"there is no corpus {name!r}; choose one of: {', '.join(known)}")
    return paths.CORPORA / name


def _document(path: Path, corpus: str, marks: tuple[str, ...] = ("# ",)) -> Document:
    text = paths.read_text(path)
    title = next((line.lstrip("#").strip() for line in text.splitlines() if line.startswith(marks)), "")
    if not title:
        raise ConfigError(f"{path} has no title; let it begin with a line such as '# Billing'")
    return Document(doc_id=path.name, text=text, title=title, metadata={"corpus": corpus})
