"""Best passage: one candidate answer per relevant passage, and the best of them or none.

Each candidate gets a support level and a usefulness from 1 to 5, as in the Self-RAG paper. They are ranked
by support first (fully, partially, none) and by usefulness among equals. Published versions compare with
"fully" alone, so that (none, 5) beats (partially, 3), and write from a placeholder when no passage is
relevant; here support is an order, a best candidate without support is refused, and so is an empty set.
Taught in notebooks/21_best_passage.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from cookbook.errors import GRADER_FAILURES
from cookbook.providers.meter import Budget
from cookbook.reflect.generate import Draft
from cookbook.reflect.support import GradedSupport
from cookbook.reflect.usefulness import Rater, UtilityRater
from cookbook.schema import Decision, Hit, Support, Usefulness, Utility, Verdict
from cookbook.systems.base import Parts
from cookbook.systems.loop import END, Loop, Wiring
from cookbook.systems.state import Judges, State, Update, fresh_state
from cookbook.tracing import step

USEFUL_FROM = Utility.THREE


@dataclass(frozen=True)
class Caps:
    """No loop runs, so there is nothing to set."""

    rewrites: ClassVar[int] = 0
    regenerations: ClassVar[int] = 0
    formula: ClassVar[str] = "1 + 4 * k"

    def calls(self, k: int) -> int:
        """The gate; for each passage a grade, a draft, a support level and a usefulness."""
        return 1 + 4 * k

    def supersteps(self) -> int:
        """Gate, retrieve, grade, write, judge, choose, the end."""
        return 7


@dataclass(frozen=True)
class Candidate:
    """An answer written from one passage, with what was judged about it."""

    draft: Draft
    hit: Hit
    support: Verdict[Support] | None = None
    utility: Verdict[Utility] | None = None

    @property
    def rank(self) -> tuple[int, int, float]:
        """Support first, usefulness second; the mean rating, where the rater knows it, only between equals:
        with a small model it is noise (notebooks/13). An answer without support is not worth a rating."""
        support = self.support.label.rank if self.support and self.support.label else 0
        if self.utility is None or self.utility.label is None:
            return support, 0, 0.0
        return support, int(self.utility.label), self.utility.expected or 0.0


class CandidateState(State):
    """The shared state, and the candidates in retrieval order."""

    candidates: list[Candidate]


class BestPassage(Loop):
    """The function variant as a graph: it never turns back. ``utility`` rates 1 to 5."""

    name = "best_passage"
    default_caps = Caps()
    state_type = CandidateState
    answered_because = "best_candidate"

    def __init__(
        self,
        parts: Parts,
        *,
        utility: Rater | None = None,
        caps: Caps | None = None,
        budget: Budget | None = None,
        checkpointer: Any = None,
        **judges: Unpack[Judges],
    ) -> None:
        self.utility = utility or UtilityRater(parts.client)
        super().__init__(parts, caps=caps, budget=budget, checkpointer=checkpointer, **judges)

    def default_judges(self, parts: Parts) -> Judges:
        return super().default_judges(parts) | Judges(support=GradedSupport(parts.client))

    def first_state(self, question: str) -> CandidateState:
        return CandidateState(**fresh_state(question), candidates=[])

    def wiring(self) -> Wiring:
        return {
            "decide_retrieval": (self.after_gate, ["retrieve", "answer_directly"]),
            "answer_directly": END,
            "retrieve": "grade",
            "grade": (self.after_grades, ["write_each", "refuse"]),
            "write_each": (self.after_writing, ["judge_each", "refuse"]),
            "judge_each": (self.after_judging, ["choose", "refuse"]),
            "choose": (self.after_choice, [END, "refuse"]),
            "refuse": END,
        }

    # ------------------------------------------------------------ nodes

    def write_each(self, state: CandidateState) -> Update:
        with step("write_each") as entry:
            candidates, failures = [], []
            for hit in state["keeps"]:
                try:
                    draft = self.writer.write(state["question"], [hit])
                except GRADER_FAILURES as error:
                    failures.append(str(error))
                    continue
                if not draft.abstained:
                    candidates.append(Candidate(draft, hit))
            abstained = len(state["keeps"]) - len(candidates) - len(failures)
            entry.note = f"{len(candidates)} candidates, {abstained} abstained" + (
                f", {len(failures)} failed: {failures[0]}" if failures else ""
            )
        return {"candidates": candidates, "failure": failures[0] if failures and not candidates else ""}

    def judge_each(self, state: CandidateState) -> Update:
        with step("judge_each") as entry:
            judged = [self._judged(state["question"], candidate) for candidate in state["candidates"]]
            sound = [candidate for candidate in judged if candidate is not None]
            entry.note = "; ".join(f"{c.hit.chunk_id}: {_seen(c)}" for c in sound)
        return {"candidates": sound, "failure": "" if sound else "no candidate could be judged"}

    def _judged(self, question: str, candidate: Candidate) -> Candidate | None:
        """The candidate with its verdicts; None when a judge failed on it."""
        support = self.support.check(question, candidate.draft.text, [candidate.hit])
        if support.failed:
            return None
        if support.label is Support.NONE:
            return Candidate(candidate.draft, candidate.hit, support)
        utility = self.utility.rate(question, candidate.draft.text)
        return None if utility.failed else Candidate(candidate.draft, candidate.hit, support, utility)

    def choose(self, state: CandidateState) -> Update:
        with step("choose") as entry:
            best = max(state["candidates"], key=lambda candidate: candidate.rank)  # first among equals
            entry.note = f"{best.hit.chunk_id}: {best.draft.text}"
        useful = (
            best.utility is not None and best.utility.label is not None and best.utility.label >= USEFUL_FROM
        )
        label = Usefulness.USEFUL if useful else Usefulness.NOT_USEFUL
        return {
            "draft": best.draft,
            "keeps": [best.hit],
            "support": best.support,
            "usefulness": Verdict(Decision.USEFULNESS, label) if best.utility else None,
        }

    # ------------------------------------------------------------ routers

    def after_grades(self, state: State) -> str:
        return "write_each" if state["keeps"] and not state["failure"] else "refuse"

    def after_writing(self, state: CandidateState) -> str:
        return "judge_each" if state["candidates"] else "refuse"

    def after_judging(self, state: CandidateState) -> str:
        return "choose" if state["candidates"] else "refuse"

    def after_choice(self, state: State) -> str:
        useful = state["usefulness"]
        return END if useful is not None and useful.label is Usefulness.USEFUL else "refuse"


def _seen(candidate: Candidate) -> str:
    support, utility, expected = candidate.rank
    words = ("none", "partially", "fully")
    return f"{words[support]}, {expected or utility:.1f}" if utility else words[support]
