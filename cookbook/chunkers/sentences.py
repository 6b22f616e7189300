"""Sentences, and windows of a few neighbouring ones: a passage small enough to judge as one claim.

sentencex finds the borders. It was measured against pysbd, syntok and others (tests/test_chunkers.py
holds the cases): as good in English, better than any of them when nobody says which language the
text is in, a hundred times faster than pysbd, and it reports offsets. Two things are mended here:
it aborts on a no-break space before an initial, and it is quadratic in unspaced CJK text.
"""

import re
from collections.abc import Sequence

from sentencex import get_sentence_boundaries

from cookbook.chunkers.blocks import Block, Outline, blocks
from cookbook.chunkers.spans import (
    Span,
    Tokenizer,
    characters,
    cut_at,
    has_content,
    lines,
    pack,
    shatter,
    slide,
    to_chunks,
    to_documents,
    token_limit,
    words,
)
from cookbook.errors import ConfigError
from cookbook.schema import Chunk, Document

#: A full-width stop ends a sentence, unless a closing quote, white space or another stop follows.
_FULL_WIDTH_STOP = re.compile(r"[。！？](?![\s。！？」』）〉》】”’])")
_SPACE_BUT_NEWLINE = re.compile(r"[^\S\n]")


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences in ``text``; they tile it, so each carries the white space after it.

    A heading and a block of code are one sentence each. A piece without a letter or digit (a rule,
    a bullet, a row of dots) joins its neighbour.
    """
    return _sentences(text, blocks(text))


def sentence_window(
    docs: Sequence[Document | str] | Document | str,
    sentences_per_chunk: int = 4,
    overlap: int = 1,
    *,
    tokenizer: Tokenizer | None = None,
    max_tokens: int | None = None,
) -> list[Chunk]:
    """Windows of ``sentences_per_chunk`` sentences; neighbours share ``overlap`` of them.

    With ``max_tokens`` a window that would be too long holds fewer sentences
    (``metadata["split"] == "2 of 4 sentences"``), and a sentence that is too long by itself is cut
    between lines or words (``"part 1 of 3"``). Raises ConfigError unless 0 <= overlap < sentences_per_chunk.
    """
    if not 0 <= overlap < sentences_per_chunk:
        raise ConfigError(
            f"overlap must be at least 0 and below sentences_per_chunk; got {overlap} and {sentences_per_chunk}"
        )
    chunks: list[Chunk] = []
    for doc in to_documents(docs):
        text_blocks = blocks(doc.text)
        fits = token_limit(doc.text, tokenizer, max_tokens)
        spans: list[Span] = []
        notes: list[str] = []
        for sentence in _sentences(doc.text, text_blocks):
            parts = pack(shatter(doc.text, sentence, fits, (lines, words, characters)), fits)
            spans += parts
            notes += [f"part {n} of {len(parts)}" if len(parts) > 1 else "" for n in range(1, len(parts) + 1)]
        windows: list[tuple[Span, str]] = []
        for a, b in slide(spans, sentences_per_chunk, overlap, fits):
            said = [note for note in notes[a:b] if note]
            if not said and b - a < min(sentences_per_chunk, len(spans) - a):
                said = [f"{b - a} of {sentences_per_chunk} sentences"]
            windows.append(((spans[a][0], spans[b - 1][1]), ", ".join(said)))
        chunks += to_chunks(doc, windows, Outline(doc.text, text_blocks).at)
    return chunks


def _sentences(text: str, text_blocks: list[Block]) -> list[Span]:
    sentences: list[Span] = []
    for block in text_blocks:
        span = (block.start, block.end)
        for start, end in prose_sentences(text, span) if block.kind == "prose" else [span]:
            if sentences and not (has_content(text, sentences[-1]) and has_content(text, (start, end))):
                sentences[-1] = (sentences[-1][0], end)
            else:
                sentences.append((start, end))
    return sentences


def prose_sentences(text: str, span: Span) -> list[Span]:
    """Cut a stretch without Markdown structure into sentences."""
    plain = _SPACE_BUT_NEWLINE.sub(" ", text[slice(*span)])
    stops = [span[0] + stop.end() for stop in _FULL_WIDTH_STOP.finditer(plain)]
    return [
        (start + found["start_index"], start + found["end_index"])
        for start, end in cut_at(span, stops)
        for found in get_sentence_boundaries("en", plain[start - span[0] : end - span[0]])
    ]
