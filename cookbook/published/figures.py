"""Every figure published about these loops, beside a measurement of it: what ``cookbook figures`` prints.

Nothing is stored: each ``measure`` builds the published graph, runs it on a scripted model, and counts
calls in the meters, supersteps in LangGraph's stream and queries at the store. k is 5, for the recipe 8. The
figures of the handbook graph were published with langgraph 1.2.18; its 10,010 calls belong to a default
recursion limit of 10,007, so that figure shows both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cookbook.published import best_passage, handbook, nli_loop, recipe, revise
from cookbook.published.graphs import Run, run
from cookbook.published.models import Judges, Shelf, gold, in_turn, opens_with
from cookbook.reflect.calibrate import Sigmoid
from cookbook.schema import Chunk, Hit, Relevance, Retrieve, ScoreKind, Support, Usefulness

CANCELLED = "Can I export my data after I cancel my plan?"
PRICE = "How much does the starter plan cost per month?"
SUM = "What is 9 plus 10?"
OPTIMIZER = "Which optimizer was used for training?"
COMPANY = "Which company did the author who proposed replacing recurrence with attention work for?"
SCOPE = "In what order are the variables of one scope dropped?"

HANDBOOK = "handbook graph"
REVISE = "revise graph"
NLI = "NLI loop"
RECIPE = "prompt recipe"
BEST = "best passage"
ADAPTIVE = "adaptive loop"


@dataclass(frozen=True)
class Figure:
    """A published value and how to measure it. ``what`` says what the value counts, ``source`` whose it is."""

    name: str
    what: str
    published: Any
    measure: Callable[[], Any]
    source: str


@dataclass(frozen=True)
class Result:
    """A figure and what was measured."""

    figure: Figure
    measured: Any

    @property
    def equal(self) -> bool:
        return bool(self.measured == self.figure.published)


def measure_all(figures: Sequence[Figure]) -> list[Result]:
    """Measure figures in order; about ten seconds for all of them, most of it the run of 10,007 supersteps."""
    return [Result(figure, figure.measure()) for figure in figures]


# ---------------------------------------------------------------- handbook graph


def _handbook(question: str, judges: Judges, **swaps: Any) -> Run:
    return run(handbook.build(judges, **swaps), handbook.fresh_state(question))


def _growth() -> tuple[int, ...]:
    """Cumulative calls, once for each superstep that made any."""
    made = _handbook(PRICE, Judges(relevance=gold("larkspur")))
    return tuple(total for total, _ in groupby(made.cumulative))


def _empty_check() -> tuple[int, str]:
    judges = Judges(relevance=gold("larkspur"))
    made = _handbook(PRICE, judges)
    return judges.calls["support"], made.state["support"].value


def _untouched() -> int:
    shelf = Shelf.of("larkspur")
    judges = Judges(shelf, retrieve=lambda question: Retrieve.NO if question == SUM else Retrieve.YES)
    _handbook(SUM, judges)
    return len(shelf.queries)


def stuck(recursion_limit: int | None) -> Run:
    """The handbook graph under a support judge that always says no."""
    graph = handbook.build(Judges(support=Support.NONE))
    return run(graph, handbook.fresh_state(CANCELLED), recursion_limit=recursion_limit)


def _stuck_at_200() -> tuple[int, int]:
    made = stuck(200)
    return made.ran("regenerate"), made.calls


def _stuck_without_limit() -> tuple[int, int]:
    """The limit in force is the number of supersteps that ran: LangGraph stopped it, nothing else does."""
    made = stuck(None)
    return made.supersteps, made.calls


def _counted() -> tuple[int, int]:
    judges = Judges(support=Support.NONE)
    made = _handbook(CANCELLED, judges, regenerate=handbook.regenerate_counted)
    return made.ran("regenerate"), made.calls


# ---------------------------------------------------------------- the other loops


def worst_revision(**swaps: Any) -> Run:
    """The revise graph when every passage is relevant, nothing is supported and nothing is useful."""
    judges = Judges(support=Support.NONE, usefulness=Usefulness.NOT_USEFUL)
    return run(revise.build(judges, **swaps), revise.fresh_state(CANCELLED))


def _calls_and_supersteps(made: Run) -> tuple[int, int]:
    return made.calls, made.supersteps


def _nli(question: str, *, generate: Any = opens_with, **swaps: Any) -> int:
    judges = nli_loop.NliJudges(relevance=gold("attention_digest"), generate=generate)
    return run(nli_loop.build(judges, **swaps), nli_loop.fresh_state(question)).calls


def _nli_retry() -> int:
    """The first draft names an optimizer that no passage names, the second the right one."""
    return _nli(
        OPTIMIZER, generate=in_turn("It was trained with Adagrad.", "It was trained with the Adam optimizer.")
    )


def _recipe(relevance: Any) -> tuple[int, int]:
    judges = recipe.WordJudges(relevance=relevance)
    made = run(recipe.build(judges), recipe.fresh_state(SCOPE))
    return made.calls, made.trace.embeddings


def _ranked() -> tuple[str, int]:
    """The support and the utility of the winner, of (partially, 3) and four times (none, 5)."""
    judges = Judges(support=in_turn(Support.PARTIALLY, Support.NONE), utility=in_turn(3, 5))
    best = run(best_passage.build(judges), best_passage.fresh_state(CANCELLED)).state["best"]
    return best.support.value, int(best.utility)


def _sigmoid(score: float) -> float:
    """P(relevant) at tau .72 and T .05, to three decimals as published."""
    calibration = Sigmoid(tau=0.72, temperature=0.05, kind=ScoreKind.COSINE)
    hit = Hit(Chunk("any#0", "any", "", 0, 0), score, ScoreKind.COSINE)
    return round(calibration.probability(hit), 3)


FIGURES = (
    Figure("one pass", "calls", 9, lambda: _handbook(CANCELLED, Judges()).calls, HANDBOOK),
    Figure("a price nowhere", "cumulative calls", (1, 6, 7, 12, 13, 18, 19, 20), _growth, HANDBOOK),
    Figure("empty-context pass", "support calls, support", (0, "fully"), _empty_check, HANDBOOK),
    Figure("9 plus 10", "queries at the store", 0, _untouched, HANDBOOK),
    Figure("stuck, limit 25", "calls", 28, lambda: stuck(25).calls, HANDBOOK),
    Figure("stuck, limit 200", "regenerations, calls", (98, 203), _stuck_at_200, HANDBOOK),
    Figure("stuck, no limit given", "default limit, calls", (10_007, 10_010), _stuck_without_limit, HANDBOOK),
    Figure("counted in a node", "regenerations, calls", (2, 13), _counted, HANDBOOK),
    Figure(
        "worst case", "calls, supersteps", (33, 24), lambda: _calls_and_supersteps(worst_revision()), REVISE
    ),
    Figure(
        "worst case, with reset",
        "calls, supersteps",
        (45, 36),
        lambda: _calls_and_supersteps(worst_revision(rewrite=revise.rewrite_with_reset)),
        REVISE,
    ),
    Figure("at best", "calls", 7, lambda: _nli(OPTIMIZER), NLI),
    Figure("one retry", "calls", 9, _nli_retry, NLI),
    Figure("nothing relevant", "calls", 9, lambda: _nli(COMPANY), NLI),
    Figure(
        "short circuit",
        "calls",
        5,
        lambda: _nli(COMPANY, after_grades=nli_loop.after_grades_short),
        NLI,
    ),
    Figure("answered", "calls, embeddings", (11, 1), lambda: _recipe(gold("rust_notes")), RECIPE),
    Figure("nothing kept", "calls, embeddings", (9, 1), lambda: _recipe(Relevance.IRRELEVANT), RECIPE),
    Figure("what beats (partially, 3)", "support, utility", ("none", 5), _ranked, BEST),
    Figure("score .65", "probability", 0.198, lambda: _sigmoid(0.65), ADAPTIVE),
    Figure("score .72", "probability", 0.5, lambda: _sigmoid(0.72), ADAPTIVE),
    Figure("score .78", "probability", 0.769, lambda: _sigmoid(0.78), ADAPTIVE),
    Figure("score .90", "probability", 0.973, lambda: _sigmoid(0.90), ADAPTIVE),
)
