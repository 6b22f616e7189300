"""Three ways to cut documents into chunks, because what a store can find was decided here.

Every chunker takes documents (or plain strings) and gives chunks that obey the same promises:

- ``document.text[chunk.start:chunk.end] == chunk.text``: a chunk is a quotation, never a rewrite.
- Nothing is lost: in a document with at least one letter or digit, every character that is not
  white space lies in at least one chunk. A document without any (blank, a rule, zero-width
  characters) gives no chunk. A chunk never crosses documents, and no chunk lies inside another.
- With ``max_tokens`` no chunk is longer, by the embedder's own count without special tokens. What
  had to be cut shorter than asked says so in ``chunk.metadata["split"]``.
- ``chunk_id`` is ``<doc_id>#<n>``; the same text gives the same ids on every machine.
- ``headings`` is the path of Markdown headings the chunk starts under, its own heading included.

Taught in notebooks/01_corpus_to_chunks.ipynb.
"""

from collections.abc import Callable

from cookbook.chunkers.sections import markdown_sections
from cookbook.chunkers.sentences import sentence_spans, sentence_window
from cookbook.chunkers.spans import Tokenizer
from cookbook.chunkers.windows import fixed_window
from cookbook.schema import Chunk

#: What ``open_retriever(chunker=...)`` and the command line accept.
CHUNKERS: dict[str, Callable[..., list[Chunk]]] = {
    "sentence_window": sentence_window,
    "fixed_window": fixed_window,
    "markdown_sections": markdown_sections,
}

__all__ = [
    "CHUNKERS",
    "Tokenizer",
    "fixed_window",
    "markdown_sections",
    "sentence_spans",
    "sentence_window",
]
