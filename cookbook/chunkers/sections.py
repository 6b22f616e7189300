"""One chunk per Markdown section: the cut that the author of the text already made."""

from collections.abc import Iterator, Sequence

from cookbook.chunkers.blocks import Outline, Section, blocks
from cookbook.chunkers.sentences import prose_sentences
from cookbook.chunkers.spans import (
    Fits,
    Span,
    Tokenizer,
    characters,
    lines,
    pack,
    shatter,
    to_chunks,
    to_documents,
    token_limit,
    words,
)
from cookbook.schema import Chunk, Document

_PROSE = (prose_sentences, lines, words, characters)
_CODE = (lines, words, characters)


def markdown_sections(
    docs: Sequence[Document | str] | Document | str,
    *,
    tokenizer: Tokenizer | None = None,
    max_tokens: int | None = None,
) -> list[Chunk]:
    """One chunk from each heading to the next, the heading line included.

    A heading without a text of its own stays with the first section under it. With ``max_tokens`` a
    section that is too long is cut between blocks, where that is not enough between sentences (code:
    between lines), then lines, words, characters; ``metadata["split"]`` says ``"part 1 of 3"``.
    """
    chunks: list[Chunk] = []
    for doc in to_documents(docs):
        fits = token_limit(doc.text, tokenizer, max_tokens)
        outline = Outline(doc.text, blocks(doc.text))
        parts = (part for section in outline.sections for part in _parts(doc.text, section, fits))
        chunks += to_chunks(doc, parts, outline.at)
    return chunks


def _parts(text: str, section: Section, fits: Fits) -> Iterator[tuple[Span, str]]:
    """The section as one span, or cut into as few as fit, each with its number."""
    start, end = section.blocks[0].start, section.blocks[-1].end
    if fits(start, end):
        yield (start, end), ""
        return
    pieces: list[Span] = []
    for block in section.blocks:
        if block.kind == "heading" and block is not section.blocks[-1]:
            continue  # it goes with the block after it, so that no heading stays alone
        pieces += shatter(text, (start, block.end), fits, _CODE if block.kind == "code" else _PROSE)
        start = block.end
    spans = pack(pieces, fits)
    for n, span in enumerate(spans, 1):
        yield span, f"part {n} of {len(spans)}"
