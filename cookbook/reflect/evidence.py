"""Evidence: which relevant passages of all attempts go before the writer, best first, within a budget.

Passages that only ever pile up cost more with each attempt and bury the one that matters.
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cookbook.embedders import WordTokenizer
from cookbook.schema import Hit, Relevance, Verdict


def odds(verdict: Verdict[Relevance]) -> float:
    """P(relevant), whichever way the grader decided; 1 or 0 where it gave no probability."""
    relevant = verdict.label is Relevance.RELEVANT
    if verdict.probability is None:
        return float(relevant)
    return verdict.probability if relevant else 1.0 - verdict.probability


def best_within(
    tokens: int, hits: Sequence[Hit], chances: Mapping[str, float], *, first: Collection[str] = ()
) -> list[Hit]:
    """Each passage once, the likeliest first, as many as fit into ``tokens`` (words and marks, an estimate).

    ``chances`` gives P(relevant) by chunk id. Those whose ids are in ``first`` go before all others: the best
    of each sub-question, lest one of them fill the whole budget. A passage that does not fit is passed over;
    the very first is always kept, because nothing can be written from nothing.
    """
    ranked = sorted(
        {hit.chunk_id: hit for hit in hits}.values(),
        key=lambda hit: (hit.chunk_id not in first, -chances[hit.chunk_id]),
    )
    kept: list[Hit] = []
    left = tokens
    for hit in ranked:
        size = len(WordTokenizer().offsets(hit.text))
        if not kept or size <= left:
            kept.append(hit)
            left -= size
    return kept
