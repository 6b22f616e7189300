"""The texts that come with the cookbook, as documents, and the questions that belong to them.

A corpus is a folder ``corpora/<name>/`` of Markdown files, one document each, with a ``corpus.toml``.
Taught in notebooks/00_start_here.ipynb.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.eval.sets import EvalRow, eval_set_names, load_eval_set
from cookbook.schema import Document


@dataclass(frozen=True)
class CorpusCard:
    """What ``corpus.toml`` says: ``subject`` names the corpus in prompts, ``hand_off`` ends a refusal."""

    subject: str
    hand_off: str


def corpus_names() -> list[str]:
    """The names that load_corpus takes, sorted."""
    return sorted(path.parent.name for path in paths.CORPORA.glob("*/corpus.toml"))


def load_corpus(name: str) -> list[Document]:
    """The documents of a corpus, sorted by file name; ``doc_id`` is the file name.

    Raises ConfigError for an unknown name, a file that cannot be read, and one without a title.
    """
    return [_document(path) for path in sorted(_folder(name).glob("*.md"), key=lambda path: path.name)]


def load_card(name: str) -> CorpusCard:
    """The card of a corpus. Raises ConfigError for an unknown name and for a card with other fields."""
    path = _folder(name) / "corpus.toml"
    try:
        return CorpusCard(**tomllib.loads(paths.read_text(path)))
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


def _document(path: Path) -> Document:
    text = paths.read_text(path)
    title = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")
    if not title:
        raise ConfigError(f"{path} has no title; let it begin with a line such as '# Billing'")
    return Document(doc_id=path.name, text=text, title=title)
