"""Support with three levels, compared as if it had two: an invention wins because it reads well.

Taught in notebooks/labs/40_verdicts.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.published import best_passage
from cookbook.published.best_passage import Candidate
from cookbook.published.graphs import Run, run
from cookbook.published.models import Judges, in_turn
from cookbook.schema import Relevance, Support, Utility

LAB = Lab(
    module=__name__,
    title="The invention wins on style",
    difficulty=2,
    minutes=15,
    you_will="rank answers on a scale with more than two levels, and refuse the best one when even that is not good enough",
    symptom=(
        "Of three answers, one from each passage, the system returned the one that its own support judge had called "
        "unsupported. The judge had found a better one."
    ),
    task=(
        "Write `pick(candidates)`. Each candidate has `.support` (`Support.NONE`, `PARTIALLY` or `FULLY`) and `.utility` "
        "(1 to 5). Return the best one: support decides, utility decides among equals, and the earlier one wins a tie. "
        "An answer without any support is never returned: if there is nothing else, return `None`, and the system refuses."
    ),
    hints=(
        "Write down the key that the published line compares, `(True or False, utility)`, for each of the three candidates. "
        "For which two is the first half the same?",
        "`Support` has a `.rank` that orders none < partially < fully. `max` keeps the first of equals, and takes a "
        "`default` for an empty list; leave the unsupported ones out before it.",
    ),
    in_the_wild=(
        "NirDiamant/RAG_Techniques, `all_rag_techniques_runnable_scripts/self_rag.py`: the best response is the maximum by "
        "`(support == 'fully supported', utility)`, and is returned whatever it is. The paper that it teaches weighs the levels 1, "
        "0.5 and 0 (arXiv 2310.11511): *partially* and *no support* are as far apart there as *fully* and *partially*."
    ),
    transfer=(
        "A dashboard stores support as text and reports the worst answer of each day with `min(levels)`. Levels are "
        "\"fully\", \"partially\" and \"none\". Which answer does it report, and does it help to store \"0-none\", \"1-partially\" and \"2-fully\"?"
    ),
    answer=(
        "The best one: text is ordered by its letters, and \"fully\" < \"none\" < \"partially\". The digits put them in the right order for "
        "min and max, and hide that it is luck: the next level, \"10-...\", sorts before \"2-...\". Give the scale an order of its own, as "
        "`Support.rank` does, and compare that."
    ),
    pitfall=(
        "They mend the order and forget the end: with no supported candidate, the maximum is still an invention. Or they add support and "
        "utility up, and then enough style buys any lack of support. Ask which utility would make you publish an unsupported answer."
    ),
)  # fmt: skip

Pick = Callable[[Sequence[Candidate]], Candidate | None]

QUESTION = "Can I export my data after I cancel my plan?"
RELEVANCE = (
    Relevance.RELEVANT,
    Relevance.RELEVANT,
    Relevance.IRRELEVANT,
    Relevance.IRRELEVANT,
    Relevance.RELEVANT,
)
ANSWERS = (
    "Yes, the owner can export in a window after the cancellation.",
    "Yes. After you cancel, everything stays available for ever, and anybody on the team can export it at any time.",
    "Perhaps, it depends on your plan.",
)
NONE, PARTIALLY, FULLY = Support.NONE, Support.PARTIALLY, Support.FULLY


def published(candidates: Sequence[Candidate]) -> Candidate | None:
    """The node of the published graph, which returns an update of the state."""
    state = {**best_passage.fresh_state(QUESTION), "candidates": list(candidates)}
    best: Candidate = best_passage.pick(cast(best_passage.State, state), Judges())["best"]
    return best


def pick(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate with the best support, then the best utility, then the earliest; None if none has support.

    Support is ordered none < partially < fully.
    """
    ### BEGIN SOLUTION
    supported = [found for found in candidates if found.support is not Support.NONE]
    return max(supported, key=lambda found: (found.support.rank, found.utility), default=None)
    ### END SOLUTION


def broken() -> Pick:
    return published


def solution() -> Pick:
    return pick


def ask_three_passages() -> Run:
    """The published graph, on three passages: the answers of ``ANSWERS`` and what the judges say of each."""
    judges = Judges(
        relevance=in_turn(*RELEVANCE),
        generate=in_turn(*ANSWERS),
        support=in_turn(PARTIALLY, NONE, NONE),
        utility=in_turn(3, 5, 2),
    )
    return run(best_passage.build(judges), best_passage.fresh_state(QUESTION))


# ---------------------------------------------------------------- the check


@guard()
def check(candidate: Pick) -> LabVerdict:
    """Seven lists of candidates; of each we know who must win."""
    for case in CASES:
        found = candidate(case.candidates)
        if found is not None and found not in case.candidates:
            return failed(
                "no_candidate",
                f"of {case.listed} you returned {found!r}; return one of the candidates, or None to refuse",
            )
        if found is None and case.winner is not None:
            return failed(
                "support_refused",
                f"of {case.listed} you returned None, and {_named(case.winner)} has some support. Only what has none is "
                "refused here; what to do with half support is decided further on",
            )
        if found is not case.winner:
            return failed(
                case.wrong,
                f"of {case.listed} you returned {_named(found)}, and it should be {_named(case.winner)}. {case.lesson}",
            )
    try:
        empty = candidate([])
    except (ValueError, IndexError) as error:
        return failed(
            "nothing_to_pick", f"of no candidates you raise {type(error).__name__} ({error}); return None"
        )
    if empty is not None:
        return failed(
            "nothing_to_pick", f"of no candidates you returned {empty!r}; there is nothing to return but None"
        )
    return passed(
        f"{len(CASES)} lists: (partially, 3) and even (partially, 1) beat (none, 5); (fully, 2) beats (partially, 5); "
        "(none, 5) alone is refused"
    )


@dataclass(frozen=True)
class Case:
    """Support and utility of each candidate, and the place of the one that must win."""

    given: tuple[tuple[Support, int], ...]
    best: int | None
    wrong: str
    lesson: str

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(f"answer {n}", f"passage.md#{n}", support, Utility(utility))
            for n, (support, utility) in enumerate(self.given, 1)
        )

    @property
    def winner(self) -> Candidate | None:
        return None if self.best is None else self.candidates[self.best]

    @property
    def listed(self) -> str:
        return " and ".join(_named(found) for found in self.candidates)


def _named(found: Candidate | None) -> str:
    return f"{found.text} ({found.support}, {found.utility})" if found else "None"


CASES = (
    Case(((PARTIALLY, 3), (NONE, 5), (NONE, 2)), 0, "none_beats_partially",
         "The judge found some support for one answer and none for the other, and the key sees no difference."),
    Case(((NONE, 5), (PARTIALLY, 1)), 1, "style_buys_support",
         "No utility makes up for support that is not there: compare support first, alone."),
    Case(((PARTIALLY, 5), (FULLY, 2)), 1, "partially_beats_fully",
         "Which of the two words is greater, \"fully\" or \"partially\"? Text is ordered by its letters."),
    Case(((NONE, 5),), None, "unsupported_returned",
         "The best of the unsupported answers is unsupported."),
    Case(((NONE, 2), (NONE, 4)), None, "unsupported_returned",
         "The best of the unsupported answers is unsupported."),
    Case(((FULLY, 2), (FULLY, 4)), 1, "utility_ignored",
         "Among equally supported answers the more useful one wins."),
    Case(((PARTIALLY, 4), (PARTIALLY, 4)), 0, "tie_goes_to_the_last",
         "Among equals the earlier one wins: passages come in the order of the search, best first."),
)  # fmt: skip
