"""A threshold that survived a change of store: on distances, "at least 0.5" keeps the worst passages.

Taught in notebooks/labs/45_scores.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cookbook.errors import ConfigError
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges

LAB = Lab(
    module=__name__,
    title="Closer is less",
    difficulty=2,
    minutes=20,
    you_will="bring the numbers of different vector stores to one meaning before anything is compared with them",
    symptom=(
        "The vectors moved to another store, the code around them did not change, and since then the assistant cites the passages that have "
        "least to do with the question."
    ),
    task=(
        "Write `as_cosine(score, metric)`. It gives the cosine of two *unit* vectors, from -1 (opposite) to 1 (the same), from what a store "
        "returned. `metric` is `\"cosine\"`, `\"cosine_distance\"` (1 - cosine), `\"squared_l2\"` (the squared distance between the two points, 2 - 2 cosine) or "
        "`\"negative_inner_product\"` (the inner product of unit vectors is their cosine). For any other metric raise a `ConfigError` that "
        "names it: a number of unknown meaning must not be compared with anything."
    ),
    hints=(
        "In the picture each store is a line. The program keeps what lies above 0.5. For which lines is that the side of the similar "
        "passages? And where would 0.5 have to lie for the others?",
        "Solve each formula in the task for the cosine: from score = 2 - 2 cosine follows cosine = 1 - score / 2. Four cases, one line "
        "each, and whatever is none of them is the error.",
    ),
    in_the_wild=(
        "LangChain's FAISS store returned *squared* distances, and the conversion for plain ones made relevance scores below zero of them "
        "(langchain-ai/langchain, issue 18709). With the inner product, one `score_threshold` was applied twice on the way: first to the similarity, then to "
        "a number that falls with it (langchain-ai/langchain, issue 32045)."
    ),
    transfer=(
        "Somebody proposes 1 / (1 + distance) for every store: it is always between 0 and 1, and nearer passages get more. The order is right "
        "for each store. What is still wrong with `>= 0.5`?"
    ),
    answer=(
        "The order is right and the scale is not: the same passage, with a cosine of 0.61, gets 1 / 1.39 = 0.72 from a cosine distance and 1 / 1.78 = 0.56 "
        "from a squared one. A cut-off that was found on one store means something else on the next. An order is enough to rank; to "
        "cut, the numbers must mean the same."
    ),
    pitfall=(
        "They flip every metric that \"sounds like a distance\" with `1 - score` and forget that the squared one runs to 4. Or they take the absolute value of "
        "the negative inner product, and the opposite of the question becomes a perfect match. Let them try a cosine of -1."
    ),
)  # fmt: skip

Convert = Callable[[float, str], float]

QUESTION = "Can I export my data after I cancel my plan?"
CUT = 0.5

#: Which number a store gives for a cosine. All vectors are of length 1.
STORES: dict[str, Callable[[float], float]] = {
    "cosine": lambda cosine: cosine,
    "cosine_distance": lambda cosine: 1 - cosine,
    "squared_l2": lambda cosine: 2 - 2 * cosine,
    "negative_inner_product": lambda cosine: -cosine,
}

#: The passages found for the question and their cosines: two hold the answer.
COSINES = {
    "cancellation.md#1": 0.82,
    "data-export.md#2": 0.61,
    "workspaces.md#2": 0.34,
    "billing.md#3": 0.18,
    "api.md#2": 0.05,
}


# ---------------------------------------------------------------- the code


def higher_is_better(score: float, metric: str) -> float:
    """As it was written for the first store."""
    return score


def as_cosine(score: float, metric: str) -> float:
    """The cosine of two unit vectors, in [-1, 1], from the number of a store that uses this metric.

    ConfigError for an unknown metric.
    """
    ### BEGIN SOLUTION
    match metric:
        case "cosine":
            return score
        case "cosine_distance":
            return 1 - score
        case "squared_l2":
            return 1 - score / 2
        case "negative_inner_product":
            return -score
    raise ConfigError(f"the metric {metric!r} is unknown; add its formula before you compare its scores")
    ### END SOLUTION


def broken() -> Convert:
    return higher_is_better


def solution() -> Convert:
    return as_cosine


def ask(convert: Convert, metric: str) -> tuple[list[dict[str, Any]], Meter]:
    """The question to a store with this metric: a row for each passage, and what writing the answer used."""
    rows: list[dict[str, Any]] = []
    for passage, cosine in COSINES.items():
        score = STORES[metric](cosine)
        kept = convert(score, metric) >= CUT
        rows.append({"passage": passage, "the store says": score, "kept": "yes" if kept else "no"})
    judges = Judges()
    wanted = {row["passage"] for row in rows if row["kept"] == "yes"}
    with metered(Meter()) as meter:
        hits = [hit for hit in judges.store.retrieve(QUESTION, 100) if hit.chunk_id in wanted]
        judges.generate(QUESTION, hits)
    return rows, meter


# ---------------------------------------------------------------- the check


@guard(returns="the cosine, a number")
def check(candidate: Convert) -> LabVerdict:
    """Seven cosines as four stores give them, then a metric that nobody knows."""
    for metric, score_of in STORES.items():
        if (verdict := _one_store(metric, score_of, candidate)) is not None:
            return verdict
    try:
        guessed = candidate(0.7, "hamming")
    except ConfigError as error:
        if "hamming" in str(error):
            return passed(
                f"{len(STORES)} stores, one meaning: each keeps {' and '.join(_kept(COSINES.values()))} of the five, and a metric that "
                "nobody knows is refused"
            )
        return failed(
            "metric_not_named", f"for the metric 'hamming' you raise {str(error)!r}; name the metric in it"
        )
    return failed(
        "guesses",
        f"for the metric 'hamming' and 0.7 you return {guessed!r}. Nobody told you what it means; raise a ConfigError that names it",
    )


_PROBES = (*COSINES.values(), 1.0, -0.2, -1.0)


def _kept(cosines: Any) -> list[str]:
    return [passage for passage, cosine in zip(COSINES, cosines, strict=True) if cosine >= CUT]


def _one_store(metric: str, score_of: Callable[[float], float], candidate: Convert) -> LabVerdict | None:
    """What is wrong with the conversion of one metric; None when nothing is."""
    given = {cosine: candidate(score_of(cosine), metric) for cosine in _PROBES}
    wrong = [cosine for cosine in _PROBES if abs(given[cosine] - cosine) > 1e-9]
    if not wrong:
        return None
    first = wrong[0]
    kept, wanted = _kept([given[cosine] for cosine in COSINES.values()]), _kept(COSINES.values())
    saw = f"{metric}: the score {score_of(first):g} became {given[first]:.3f}, and the cosine is {first}"
    if kept != wanted:
        saw += f". With the cut-off {CUT} you keep {', '.join(kept) or 'nothing'}; it should be {', '.join(wanted)}"
    ordered = sorted(_PROBES)
    values = [given[cosine] for cosine in ordered]
    if values == sorted(values, reverse=True):
        return failed(
            "worst_first",
            f"{saw}. For this store a small number means similar, and yours is small where the store's is",
        )
    if values != sorted(values):
        return failed(
            "sign_lost",
            f"{saw}. Your number does not rise with the cosine: {ordered[0]} became {values[0]:.3f} and {ordered[2]} became {values[2]:.3f}. "
            "Opposite is not similar",
        )
    return failed(
        "order_without_scale",
        f"{saw}. The order of the passages is right and the scale is not: same vectors give 1 ({given[1.0]:.3f} with you) and opposite "
        f"ones -1 ({given[-1.0]:.3f})",
    )
