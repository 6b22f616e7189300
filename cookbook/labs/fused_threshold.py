"""A threshold on a fused score: a sum of ranks says which passage is first, and never whether it is any good.

Taught in notebooks/labs/45_scores.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges
from cookbook.schema import Chunk, Hit, ScoreKind
from cookbook.stores.qdrant import POOL, RRF_K

LAB = Lab(
    module=__name__,
    title="First of five bad ones",
    difficulty=3,
    minutes=20,
    you_will="use a fused ranking for the order of passages, and a score that means something for whether to keep them",
    symptom=(
        "Hybrid search was switched on, and nothing passed the threshold any more. It was lowered until answers came back; now questions "
        "that have nothing to do with the handbook are answered too."
    ),
    task=(
        "Write `select(dense, words, cutoff)`. `dense` are the hits of the search by meaning (score: cosine), `words` those of BM25, each best first. Return the "
        "hits of `dense` whose cosine is at least `cutoff`, in the *fused* order. `fuse(dense, words)` gives chunk ids with their fused scores, best first. A "
        "passage that only BM25 found has no cosine: nobody measured it against the cut-off, so leave it out."
    ),
    hints=(
        "Compare the two tables, fused score and cosine, of the passages that come first. Which of the two columns can tell the two questions apart? What "
        "does the fused score of a first place consist of?",
        "Put the dense hits into a dictionary by `chunk_id`. Go through `fuse(dense, words)` for the order and look each id up: keep it when it is there "
        "and its own score reaches the cut-off.",
    ),
    in_the_wild=(
        "In douglasjordan2/c0, pull request 20, the best possible fused score was 0.016. Whoever compared it with a threshold read a miss, and concepts that "
        "were known were proposed again as new. vicharanashala/crowd-source-faq, pull request 172, had a threshold of 0.025 where a passage that only one of the two "
        "searches finds gets 0.0167 at most: good answers were dropped. It was lowered to 0.015, which the first seven of either list "
        "reach, good or bad."
    ),
    transfer=(
        "The vendor's changelog says: \"fused scores are now divided by the highest possible one, so they lie between 0 and 1\". May you put your "
        "cut-off of 0.5 back?"
    ),
    answer=(
        "No. The division changes the scale and adds no knowledge: the first of five bad passages still gets about 1. What may be cut is what was measured against "
        "the question: the cosine before fusion, or a grader after it. `Threshold` in this cookbook raises `WrongScoreKind` on a fused score for that reason."
    ),
    pitfall=(
        "They look for the right number (0.02, 0.03, a share of the best). Let them look at the first row of both tables and ask where the "
        "number should lie. The other usual one filters the dense list first and fuses afterwards: BM25 brings the dropped ones back."
    ),
)  # fmt: skip

Select = Callable[[Sequence[Hit], Sequence[Hit], float], list[Hit]]

CUT = 0.5
QUESTIONS = (
    "How many boards fit in a project?",
    "Do I get a refund if I cancel in the middle of a billing period?",
)
"""The handbook answers the first, and says nothing about refunds."""


def fuse(dense: Sequence[Hit], words: Sequence[Hit]) -> list[tuple[str, float]]:
    """Chunk ids with their fused scores, best first: reciprocal rank fusion, as the store does it.

    A passage gets 1 / (60 + rank) for each list it is in, so 2 / 61 = 0.0328 at most.
    """
    scores: dict[str, float] = {}
    for hits in (dense, words):
        for rank, hit in enumerate(hits, 1):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores.items(), key=lambda item: -item[1])


def cut_the_fused(dense: Sequence[Hit], words: Sequence[Hit], cutoff: float) -> list[Hit]:
    """The filter as it was before hybrid search, on the new scores."""
    hits = {hit.chunk_id: hit for hit in [*words, *dense]}
    return [hits[chunk_id] for chunk_id, score in fuse(dense, words) if score >= cutoff]


def select(dense: Sequence[Hit], words: Sequence[Hit], cutoff: float) -> list[Hit]:
    """The dense hits with a cosine of at least `cutoff`, in the order of the fused ranking."""
    ### BEGIN SOLUTION
    measured = {hit.chunk_id: hit for hit in dense}
    ranked = [measured[chunk_id] for chunk_id, _ in fuse(dense, words) if chunk_id in measured]
    return [hit for hit in ranked if hit.score >= cutoff]
    ### END SOLUTION


def broken() -> Select:
    return cut_the_fused


def solution() -> Select:
    return select


# ---------------------------------------------------------------- the symptom


@cache
def search(question: str) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """Both lists that hybrid search of the handbook fuses, by cosine and by BM25, with the scripted embedder."""
    from cookbook.retrieval import open_retriever

    dense, words = (
        open_retriever("larkspur", embedder="scripted", mode=mode).retrieve(question, POOL)
        for mode in ("dense", "bm25")
    )
    return tuple(dense), tuple(words)


def ask(candidate: Select, cutoff: float) -> tuple[list[dict[str, Any]], Meter]:
    """Both questions: what is kept, and an answer where anything is. A row for each, and what the calls used."""
    judges = Judges()
    rows = []
    with metered(Meter()) as meter:
        for question in QUESTIONS:
            kept = candidate(*search(question), cutoff)
            if kept:
                judges.generate(question, kept[:5])
            rows.append({"question": question, "kept": len(kept), "answer": "written" if kept else "refused"})
    return rows, meter


def first_five(question: str) -> list[dict[str, Any]]:
    """The first five of the fused ranking: rank in each list, fused score, cosine."""
    dense, words = search(question)
    by_meaning = {hit.chunk_id: (rank, hit.score) for rank, hit in enumerate(dense, 1)}
    by_words = {hit.chunk_id: rank for rank, hit in enumerate(words, 1)}
    return [
        {
            "passage": chunk_id,
            "rank by meaning": by_meaning[chunk_id][0],
            "rank by words": by_words.get(chunk_id),
            "fused": f"{score:.4f}",
            "cosine": by_meaning[chunk_id][1],
        }
        for chunk_id, score in fuse(dense, words)[:5]
    ]


# ---------------------------------------------------------------- the check


@guard(returns="a list of hits")
def check(candidate: Select) -> LabVerdict:
    """A question with three good passages, one with none at the same ranks, and one that BM25 knows nothing about."""
    kept = {}
    for case in CASES:
        dense, words = case.lists
        found = candidate(dense, words, CUT)
        known = {hit.chunk_id for hit in (*dense, *words)}
        if not isinstance(found, list) or not all(
            isinstance(hit, Hit) and hit.chunk_id in known for hit in found
        ):
            return failed(
                "no_hits",
                f"{case.name}: you returned {found!r:.80}; return a list of the hits you were given",
            )
        kept[case] = [hit.chunk_id for hit in found]
    good, bad, _ = CASES
    if kept[good] == kept[bad] != []:
        scores = [f"{score:.4f}" for _, score in fuse(*good.lists)[:3]]
        return failed(
            "rank_is_no_relevance",
            f"two questions, both with the fused scores {', '.join(scores)}, ...: you keep {', '.join(kept[good])} for each. The best cosine is "
            f"{good.best} for the one that the handbook answers and {bad.best} for the other. First of five bad ones is still first; what can tell the two "
            "apart is the cosine",
        )
    for case in CASES:
        if (verdict := _judge(case, kept[case])) is not None:
            return verdict
    return passed(
        f"three questions, cut-off {CUT}: 3 of 6 passages are kept for the first, in fused order, none for the second, whose ranks and fused "
        "scores are the same, and 1 for the third"
    )


@dataclass(frozen=True)
class Case:
    """Passages in the order of the cosine, those that BM25 found in its order, and what must be kept."""

    name: str
    cosines: tuple[tuple[str, float], ...]
    words: str
    kept: str

    @property
    def best(self) -> float:
        return max(cosine for _, cosine in self.cosines)

    @property
    def lists(self) -> tuple[list[Hit], list[Hit]]:
        dense = [_hit(name, score, ScoreKind.COSINE) for name, score in self.cosines]
        words = [_hit(name, 9.0 - 2 * n, ScoreKind.BM25) for n, name in enumerate(self.words)]
        return dense, words


def _hit(name: str, score: float, kind: ScoreKind) -> Hit:
    return Hit(Chunk(name, "handbook.md", f"passage {name}", 0, 9), score, kind)


CASES = (
    Case("answerable", (("a", 0.71), ("b", 0.68), ("c", 0.62), ("d", 0.30), ("e", 0.12)), "cafd", "acb"),
    Case(
        "not in the handbook", (("a", 0.24), ("b", 0.21), ("c", 0.19), ("d", 0.15), ("e", 0.08)), "cafd", ""
    ),
    Case("no word in common", (("a", 0.55), ("b", 0.41)), "", "a"),
)


def _judge(case: Case, found: list[str]) -> LabVerdict | None:
    """What is wrong with the passages kept for one question; None when nothing is."""
    wanted, cosines = list(case.kept), dict(case.cosines)
    if found == wanted:
        return None
    fused = dict(fuse(*case.lists))
    saw = f"{case.name}: you keep {', '.join(found) or 'nothing'}, and it should be {', '.join(wanted) or 'nothing'}"
    if not found:
        return failed(
            "nothing_passes",
            f"{saw}. The best fused score is {max(fused.values()):.4f} and no fused score can be above {2 / (RRF_K + 1):.4f}; {CUT} is a cut-off "
            f"for cosines, of which the best is {case.best}",
        )
    if unmeasured := [name for name in found if name not in cosines]:
        return failed(
            "unmeasured_kept",
            f"{saw}. {unmeasured[0]} was found by BM25 alone: it shares words with the question, and nobody measured it against the cut-off",
        )
    if not wanted:
        return failed(
            "nothing_is_a_result",
            f"{saw}. The best cosine is {case.best}, and the cut-off {CUT}: none is good enough, and then an empty list is what the next step has to know",
        )
    if below := [name for name in found if cosines[name] < CUT]:
        return failed(
            "below_the_cutoff",
            f"{saw}. {below[0]} has a cosine of {cosines[below[0]]}, and the cut-off is {CUT}. Each passage has to pass it by itself, and none may come back through "
            "the other list",
        )
    if sorted(found) == sorted(wanted):
        return failed(
            "fused_order_lost",
            f"{saw}. These are the right ones in the wrong order: BM25 puts {case.words[0]} first, and that is why there are two lists",
        )
    return failed(
        "good_ones_lost",
        f"{saw}. What has a cosine of at least {CUT} is kept, wherever it stands in the ranking",
    )
