"""Windows of a fixed number of tokens: the plainest chunker, blind to what it cuts through."""

from collections.abc import Sequence
from itertools import pairwise

from cookbook.chunkers.blocks import Outline, blocks
from cookbook.chunkers.spans import Span, Tokenizer, slide, to_chunks, to_documents, token_limit
from cookbook.errors import ConfigError
from cookbook.schema import Chunk, Document


def fixed_window(
    docs: Sequence[Document | str] | Document | str,
    tokens_per_chunk: int = 128,
    overlap: int = 16,
    *,
    tokenizer: Tokenizer,
) -> list[Chunk]:
    """Windows of ``tokens_per_chunk`` tokens of the embedder; neighbours share ``overlap`` of them.

    A window may begin or end inside a word, a sentence or a block of code. Cut off from its
    neighbours a piece of a word can need more tokens than inside it; such a window ends earlier,
    so that none is longer than asked. Raises ConfigError unless 0 <= overlap < tokens_per_chunk.
    """
    if not 0 <= overlap < tokens_per_chunk:
        raise ConfigError(
            f"overlap must be at least 0 and below tokens_per_chunk; got {overlap} and {tokens_per_chunk}"
        )
    chunks: list[Chunk] = []
    for doc in to_documents(docs):
        fits = token_limit(doc.text, tokenizer, tokens_per_chunk)
        tokens = _tiles(doc.text, tokenizer)
        windows = slide(tokens, tokens_per_chunk, overlap, fits)
        spans = [((tokens[a][0], tokens[b - 1][1]), "") for a, b in windows]
        chunks += to_chunks(doc, spans, Outline(doc.text, blocks(doc.text)).at)
    return chunks


def _tiles(text: str, tokenizer: Tokenizer) -> list[Span]:
    """Token spans stretched until they touch: tokenizers skip white space and characters unknown to them."""
    starts = sorted({start for start, _ in tokenizer.offsets(text)})
    solid = [a for a, b in pairwise([*starts, len(text)]) if not text[a:b].isspace() and a < b]
    return list(pairwise([0, *solid[1:], len(text)]))
