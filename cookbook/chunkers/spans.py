"""Character spans: the arithmetic that all chunkers share, so that each of them is only its idea.

A chunker tiles a text with spans, packs neighbours together and hands the packed spans to
``to_chunks``. Text is never copied or joined on the way, so nothing can be lost or rewritten.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from cookbook.errors import ConfigError
from cookbook.schema import Chunk, Document

Span = tuple[int, int]
Cutter = Callable[[str, Span], list[Span]]
"""``cutter(text, span)`` gives the pieces of a stretch of the text; together they are that stretch."""
Fits = Callable[[int, int], bool]
"""``fits(start, end)``: is this stretch of the text within the token limit?"""

_LINE_END = re.compile(r"\r\n|\r|\n")


class Tokenizer(Protocol):
    """Counts as the embedder counts. ``offsets`` gives the character span of each token in order,
    special tokens left out."""

    name: str

    def offsets(self, text: str) -> list[Span]: ...


def to_documents(docs: Sequence[Document | str] | Document | str) -> list[Document]:
    """Documents with content. Plain strings are named doc0, doc1, ... by position.

    Raises ConfigError when two documents share an id: their chunk ids would collide.
    """
    listed = [docs] if isinstance(docs, Document | str) else docs
    documents = [
        doc if isinstance(doc, Document) else Document(f"doc{n}", doc) for n, doc in enumerate(listed)
    ]
    seen: set[str] = set()
    for doc in documents:
        if doc.doc_id in seen:
            raise ConfigError(f"two documents are named {doc.doc_id!r}; chunk ids need distinct doc_ids")
        seen.add(doc.doc_id)
    return [doc for doc in documents if has_content(doc.text, (0, len(doc.text)))]


def has_content(text: str, span: Span) -> bool:
    """Is there a letter or a digit, of any script, in this stretch?"""
    return any(map(str.isalnum, text[slice(*span)]))


def token_limit(text: str, tokenizer: Tokenizer | None, max_tokens: int | None) -> Fits:
    """The limit as a question about stretches of ``text``; without a limit everything fits."""
    if tokenizer is None and max_tokens is None:
        return lambda start, end: True
    if tokenizer is None or max_tokens is None or max_tokens < 1:
        raise ConfigError("give tokenizer and max_tokens (at least 1) together: a limit needs a way to count")
    return lambda start, end: len(tokenizer.offsets(text[slice(*trim(text, start, end))])) <= max_tokens


# ---------------------------------------------------------------- cutting and packing


def cut_at(span: Span, borders: Iterable[int]) -> list[Span]:
    """Cut ``span`` at the borders that lie inside it."""
    start, end = span
    return list(pairwise([start, *(b for b in borders if start < b < end), end]))


def lines(text: str, span: Span) -> list[Span]:
    """Cut after each line end: LF, CR LF or CR, as in CommonMark."""
    return cut_at(span, (end.end() for end in _LINE_END.finditer(text, *span)))


def words(text: str, span: Span) -> list[Span]:
    """Cut before each word: where something that is not white space follows white space."""
    start, end = span
    return cut_at(span, (i for i in range(start + 1, end) if text[i - 1].isspace() and not text[i].isspace()))


def characters(text: str, span: Span) -> list[Span]:
    """Cut between characters as a reader sees them: marks and joined emoji stay with their base."""

    def joins(i: int) -> bool:
        return unicodedata.category(text[i])[0] == "M" or "\u200d" in text[i - 1 : i + 1]

    return cut_at(span, (i for i in range(span[0] + 1, span[1]) if not joins(i)))


def shatter(text: str, span: Span, fits: Fits, cutters: Sequence[Cutter]) -> list[Span]:
    """Cut a span that does not fit into pieces that do, with the first cutter that is enough."""
    if not cutters or fits(*span):
        return [span]
    first, *finer = cutters
    return [piece for part in first(text, span) for piece in shatter(text, part, fits, finer)]


def furthest(spans: Sequence[Span], first: int, stop: int, fits: Fits) -> int:
    """The largest ``e`` in (first, stop] for which ``spans[first:e]`` fits, and first + 1 at least.

    Gallops before it bisects, so the tokenizer never sees more than about twice what fits.
    """

    def too_long(e: int) -> bool:
        return not fits(spans[first][0], spans[e - 1][1])

    low, step = first + 1, 1
    while (e := min(first + 2 * step, stop)) > low and not too_long(e):
        low, step = e, 2 * step
    return low + bisect_left(range(low + 1, e), True, key=too_long)


def pack(spans: Sequence[Span], fits: Fits) -> list[Span]:
    """Join neighbours greedily, each time as many as fit."""
    return [(spans[a][0], spans[b - 1][1]) for a, b in slide(spans, len(spans), 0, fits)]


def slide(spans: Sequence[Span], size: int, overlap: int, fits: Fits) -> Iterator[tuple[int, int]]:
    """Windows ``spans[a:b]`` of up to ``size`` neighbours, each starting ``overlap`` before the last end.

    Every window holds a span that the one before did not. One that would not fit is shorter, and
    shares less with the one before where its first new span needs the room.
    """
    first, done = -1, 0
    while done < len(spans):
        first = max(done - overlap, first + 1)
        while first < done and not fits(spans[first][0], spans[done][1]):
            first += 1
        done = max(done + 1, furthest(spans, first, min(first + size, len(spans)), fits))
        yield first, done


# ---------------------------------------------------------------- from spans to chunks


def trim(text: str, start: int, end: int) -> Span:
    """Leave out the white space around a span, but keep the indentation of its first line."""
    while start < end and text[end - 1].isspace():
        end -= 1
    content = start
    while content < end and text[content].isspace():
        content += 1
    line = max(text.rfind("\n", start, content), text.rfind("\r", start, content)) + 1
    at_line_start = line > 0 or start == 0 or text[start - 1] in "\r\n"
    return (max(line, start), end) if at_line_start else (content, end)


def to_chunks(
    doc: Document, spans: Iterable[tuple[Span, str]], headings: Callable[[int], tuple[str, ...]]
) -> list[Chunk]:
    """Number the spans that hold anything and make chunks of them.

    The string beside a span says how the token limit cut it, and is empty where it did not.
    """
    chunks: list[Chunk] = []
    for span, split in spans:
        start, end = trim(doc.text, *span)
        if start < end:
            chunk_id = f"{doc.doc_id}#{len(chunks)}"
            metadata = {"split": split} if split else {}
            text = doc.text[start:end]
            chunks.append(Chunk(chunk_id, doc.doc_id, text, start, end, headings(start), metadata))
    return chunks
