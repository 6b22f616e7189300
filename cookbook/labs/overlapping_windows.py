"""Windows that overlap are graded one by one: the same sentence is judged, paid for and written from twice.

Taught in notebooks/labs/43_repetition.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from cookbook.chunkers import sentence_window
from cookbook.corpora import load_corpus
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges, Shelf
from cookbook.schema import Chunk, Hit, Relevance, ScoreKind

LAB = Lab(
    module=__name__,
    title="Five passages that are one",
    difficulty=3,
    minutes=30,
    you_will="merge overlapping passages by their offsets, so that no sentence is judged, counted or sent twice",
    symptom=(
        "The store holds windows of four sentences, one beginning at each sentence, so that nothing is cut "
        "apart. Five relevant passages of five "
        "are found, and the answer still knows only one paragraph of the handbook."
    ),
    task=(
        "Write `merge(hits)`. Hits of one document whose spans overlap become one hit over all of their text, "
        "without any sentence twice. A hit has `.chunk` (with `.doc_id`, "
        "`.start`, `.end` and `.text`, where `text` is `document[start:end]`), `.score` and `.kind`. A merged "
        "hit has the score and the `chunk_id` of the best of its parts, and the "
        "result is ordered by where the best part stood in `hits`. Whatever does not overlap stays as it is. "
        "`dataclasses.replace(chunk, start=..., end=..., text=...)` makes a changed copy."
    ),
    hints=(
        "Write the `start` and `end` of the five hits on a line, sorted by `start`. Where does one begin "
        "before the one before it has ended, in the same document?",
        "Sort by document and start. Go through them with the span that is open: if the next one begins "
        "before its end, append `text[open_end - start:]` (nothing, when it lies inside) "
        "and move the end; else begin a new one. Remember for each the part that stood first in `hits`, and "
        "sort by that at the end.",
    ),
    in_the_wild=(
        "Haystack's sentence-window retriever cuts the overlap off when it joins windows, and still repeated "
        "text for a window that lies inside another (deepset-ai/haystack, pull "
        "request 12645). In Langroid a window that joined two groups left them apart, and chunks came back "
        "twice (langroid/langroid, pull request 1146)."
    ),
    transfer=(
        "A system reports its confidence as the share of relevant passages, and answers only if three of five "
        "agree. What does it report with these windows, and what should it count instead?"
    ),
    answer=(
        "Five of five, from one paragraph: the same sentences were asked about five times and said the same. "
        "Agreement counts only between sources that could have disagreed, so "
        "merge first and count stretches of text, or documents; and a single relevant one is no shame. The "
        "same holds for two copies of a page, whose offsets say nothing and whose text says everything."
    ),
    pitfall=(
        "They drop the lower-ranked window, and with it the sentences that only it holds; or they compare "
        "neighbours in the order of the ranks, where a window that joins two others may come last. "
        "Let them draw the spans."
    ),
)  # fmt: skip

Merge = Callable[[Sequence[Hit]], list[Hit]]

QUESTION = "How do I cancel?"
K = 5


# ---------------------------------------------------------------- the merge


def as_they_come(hits: Sequence[Hit]) -> list[Hit]:
    """What most retrievers hand on: the windows as they were found."""
    return list(hits)


def merge(hits: Sequence[Hit]) -> list[Hit]:
    """One hit for each stretch of text: hits of a document that overlap are joined, best-ranked part first.

    `text` is what stands in the document from `start` to `end`, once.
    """
    ### BEGIN SOLUTION
    joined: list[tuple[int, Hit]] = []  # rank of the best part, and the hit as it grows
    for rank, hit in sorted(enumerate(hits), key=lambda found: (found[1].chunk.doc_id, found[1].chunk.start)):
        best, open_hit = joined[-1] if joined else (0, None)
        if (
            open_hit is None
            or open_hit.chunk.doc_id != hit.chunk.doc_id
            or hit.chunk.start >= open_hit.chunk.end
        ):
            joined.append((rank, hit))
            continue
        chunk = open_hit.chunk
        whole = chunk.text + hit.chunk.text[chunk.end - hit.chunk.start :]
        better = hit if rank < best else open_hit
        span = replace(better.chunk, start=chunk.start, end=max(chunk.end, hit.chunk.end), text=whole)
        joined[-1] = (min(rank, best), replace(better, chunk=span))
    return [hit for _, hit in sorted(joined, key=lambda found: found[0])]
    ### END SOLUTION


def broken() -> Merge:
    return as_they_come


def solution() -> Merge:
    return merge


# ---------------------------------------------------------------- one request


@cache
def _windows() -> tuple[Chunk, ...]:
    return tuple(sentence_window(load_corpus("larkspur"), sentences_per_chunk=4, overlap=3))


@dataclass(frozen=True)
class Request:
    """The passages that were graded, one call each, and what everything used."""

    graded: list[Hit]
    meter: Meter

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each graded passage: where it stands in its document, for ``show_table``."""
        return [
            {
                "passage": hit.chunk_id,
                "from": hit.chunk.start,
                "to": hit.chunk.end,
                "begins": " ".join(hit.text.split())[:56],
            }
            for hit in self.graded
        ]

    @property
    def read(self) -> int:
        """Characters in all graded passages."""
        return sum(len(hit.text) for hit in self.graded)

    @property
    def different(self) -> int:
        """Characters of the handbook that stand in them, each counted once."""
        return len(
            {(hit.chunk.doc_id, at) for hit in self.graded for at in range(hit.chunk.start, hit.chunk.end)}
        )


def ask(candidate: Merge, question: str = QUESTION) -> Request:
    """Five windows for a question, merged by ``candidate``, then graded and written from."""
    judges = Judges(Shelf(_windows()))
    hits = judges.store.retrieve(question, K)
    with metered(Meter()) as meter:
        graded = candidate(hits)
        kept = [hit for hit in graded if judges.relevance(question, hit) is Relevance.RELEVANT]
        judges.generate(question, kept)
    return Request(graded, meter)


# ---------------------------------------------------------------- the check

_TEXTS = {
    "alpha.md": "One is here. Two is here. Three is here. Four is here. Five is here. Six is here. ",
    "beta.md": "Red is there. Blue is there. Green is there. Grey is there. Pink is there. ",
}


def _hits(*spans: tuple[str, int, int]) -> list[Hit]:
    """Hits of sentences ``first`` to before ``last`` of a document, in this order, with falling scores."""
    found = []
    for n, (doc_id, first, last) in enumerate(spans):
        sentences = [f"{sentence}. " for sentence in _TEXTS[doc_id].split(". ") if sentence]
        start, end = len("".join(sentences[:first])), len("".join(sentences[:last]))
        chunk = Chunk(f"{doc_id}#{first}", doc_id, _TEXTS[doc_id][start:end], start, end)
        found.append(Hit(chunk, 9.0 - n, ScoreKind.BM25))
    return found


_CASES = {
    "two windows that share a sentence": _hits(("alpha.md", 0, 3), ("alpha.md", 2, 5)),
    "two windows that share nothing": _hits(("alpha.md", 4, 6), ("alpha.md", 0, 2)),
    "windows at the same offsets of two documents": _hits(("alpha.md", 0, 2), ("beta.md", 1, 3)),
    "a window inside another": _hits(("alpha.md", 1, 2), ("alpha.md", 0, 4)),
    "two windows, and a third that joins them": _hits(
        ("alpha.md", 0, 2), ("alpha.md", 3, 5), ("alpha.md", 1, 4)
    ),
    "the best passage in another document": _hits(("beta.md", 0, 2), ("alpha.md", 1, 3), ("alpha.md", 0, 2)),
    "no passage": [],
}


@guard(returns="a list of hits")
def check(candidate: Merge) -> LabVerdict:
    """Seven lists of hits over two small documents, then the five windows of the handbook."""
    for what, hits in _CASES.items():
        given = list(hits)
        merged = candidate(hits)
        if not isinstance(merged, list | tuple) or not all(isinstance(hit, Hit) for hit in merged):
            return failed("no_hits", f"for {what} you returned {merged!r:.80}; return a list of hits")
        if hits != given:
            return failed(
                "input_changed", f"{what}: the list that was handed in has changed. Return a new one"
            )
        if (verdict := _merged(what, given, list(merged))) is not None:
            return verdict
    request = ask(candidate)
    return passed(
        f"all {len(_CASES)} lists are merged; the {K} windows of the handbook become {len(request.graded)}: "
        f"{request.meter.calls} calls in place of "
        f"{K + 1}, and {request.read} characters read in place of {ask(as_they_come).read}"
    )


def _merged(what: str, hits: list[Hit], merged: list[Hit]) -> LabVerdict | None:
    """What is wrong with the merge of a list of hits; None when nothing is."""
    saw = f"{what} ({_spans(hits)}): you return {_spans(merged)}"
    for hit in merged:
        chunk = hit.chunk
        stands = _TEXTS.get(chunk.doc_id, "")[chunk.start : chunk.end]
        sentences = [sentence for sentence in chunk.text.split(". ") if sentence]
        if len(sentences) > len(set(sentences)):
            twice = next(sentence for sentence in sentences if sentences.count(sentence) > 1)
            return failed(
                "said_twice",
                f"{saw}, and {twice!r} stands in its text twice. Append only what lies behind the end of the "
                "text that is there",
            )
        if strange := [
            sentence for sentence in sentences if f"{sentence}. " not in _TEXTS.get(chunk.doc_id, "")
        ]:
            return failed(
                "documents_mixed",
                f"{saw}, and in the hit of {chunk.doc_id} stands {strange[0]!r}, which is not in that "
                "document. Offsets of two documents say nothing about each other: "
                "compare `doc_id` first",
            )
        if chunk.text != stands:
            return failed(
                "text_and_offsets_differ",
                f"{saw}, and between {chunk.start} and {chunk.end} of {chunk.doc_id} stands {stands!r}, where "
                f"the merged text is {chunk.text!r}",
            )
    if lost := _covered(hits) - _covered(merged):
        doc_id, at = min(lost)
        return failed(
            "text_lost",
            f"{saw}, and {len(lost)} characters of {doc_id}, from {at} on, are gone. A passage that ranks "
            "lower holds sentences that no other holds: join, do not drop",
        )
    if _covered(merged) - _covered(hits):
        return failed(
            "text_added", f"{saw}, which covers text that no hit holds. Only what overlaps is joined"
        )
    overlapping = next(
        ((a, b) for n, a in enumerate(merged) for b in merged[n + 1 :] if _covered([a]) & _covered([b])), None
    )
    if overlapping is not None:
        return failed(
            "still_overlap",
            f"{saw}, in which {_spans([overlapping[0]])} and {_spans([overlapping[1]])} overlap: what they "
            "share is graded twice. "
            + (
                "Join them"
                if len(hits) == len(merged)
                else "A window may join two others that had nothing in common: sort by document and start first"
            ),
        )
    best = [min(n for n, hit in enumerate(hits) if _covered([hit]) <= _covered([whole])) for whole in merged]
    if best != sorted(best):
        return failed(
            "order_lost",
            f"{saw}. The best hit, {_spans(hits[:1])}, stood first; the merged hits are to be ordered by "
            "where their best parts stood",
        )
    for whole, n in zip(merged, best, strict=True):
        if (whole.score, whole.chunk_id) != (hits[n].score, hits[n].chunk_id):
            return failed(
                "best_part_lost",
                f"{saw}, with score {whole.score} and chunk_id {whole.chunk_id!r}; its best part has "
                f"{hits[n].score} and {hits[n].chunk_id!r}",
            )
    return None


def _covered(hits: Sequence[Hit]) -> set[tuple[str, int]]:
    return {(hit.chunk.doc_id, at) for hit in hits for at in range(hit.chunk.start, hit.chunk.end)}


def _spans(hits: Sequence[Hit]) -> str:
    return ", ".join(f"{hit.chunk.doc_id} {hit.chunk.start}-{hit.chunk.end}" for hit in hits) or "nothing"
