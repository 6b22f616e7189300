"""Lean: reflection that costs less than not reflecting, because the prompt it saves is longer than its checks.

The encoder that found the passages also grades them, by a fitted probability and without a call. The writer
sees the few that were kept. One check gives support and usefulness together, and asks for details only when
it says no. The gate is asked only when nothing was found, which is when its answer matters.
Taught in notebooks/26_lean.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from cookbook.providers.meter import Budget
from cookbook.reflect.one_check import Checker, OneCheck
from cookbook.reflect.relevance import calibrated
from cookbook.schema import Retrieve, Support, Usefulness
from cookbook.systems.base import Parts
from cookbook.systems.loop import END, Loop, Wiring
from cookbook.systems.state import Found, Judges, State, Update, fresh_state, written
from cookbook.tracing import step

MOST_PASSAGES = 3
KEEP_AT = 0.3
"""Below one half, because the writer can still abstain on a passage and cannot use one it never sees. Chosen
on the "fit" rows of Larkspur: 21 of 27 keep all their gold passages (19 at .5, 22 at .1), and 2 are sent."""


@dataclass(frozen=True)
class Caps:
    """How often a rejected draft is written again. The query is rewritten once: the gate, which leads
    there, is asked once."""

    regenerations: int = 1

    rewrites: ClassVar[int] = 1
    formula: ClassVar[str] = "1 + rewrites + 3 * (regenerations + 1)"

    def calls(self, k: int) -> int:
        """The gate, the rewrites; per draft the writing, one check, and its details when it says no.
        Grading costs no call, so k does not appear."""
        return 1 + self.rewrites + 3 * (self.regenerations + 1)

    def supersteps(self) -> int:
        """Retrieve and grade per search, the gate, the rewrites, two nodes per draft, the end."""
        return 2 * (self.rewrites + 1) + 1 + self.rewrites + 2 * (self.regenerations + 1) + 1


class LeanState(State):
    """The shared state, and whether the last search brought nothing that was not graded already."""

    unchanged: bool


class Lean(Loop):
    """``check`` judges support and usefulness in one call. The encoder is the retriever's own embedder; one
    without a known calibration needs ``relevance`` to bring its own."""

    name = "lean"
    start = "retrieve"
    default_caps = Caps()
    state_type = LeanState
    encoders = frozenset({"relevance"})

    def __init__(
        self,
        parts: Parts,
        *,
        check: Checker | None = None,
        caps: Caps | None = None,
        budget: Budget | None = None,
        checkpointer: Any = None,
        **judges: Unpack[Judges],
    ) -> None:
        self.check = check or OneCheck(parts.client)
        super().__init__(parts, caps=caps, budget=budget, checkpointer=checkpointer, **judges)

    def default_judges(self, parts: Parts) -> Judges:
        encoder = calibrated(parts.retriever.embedder, KEEP_AT)
        return super().default_judges(parts) | Judges(relevance=encoder)

    def first_state(self, question: str) -> LeanState:
        return LeanState(**fresh_state(question), unchanged=False)

    def wiring(self) -> Wiring:
        return {
            "retrieve": (self.after_search, ["grade", "refuse"]),
            "grade": (self.after_grades, ["generate", "decide_retrieval", "refuse"]),
            "decide_retrieval": (self.after_gate, ["answer_directly", "rewrite"]),
            "answer_directly": END,
            "rewrite": (self.after_rewrite, ["retrieve", "refuse"]),
            "generate": (self.after_draft, ["check_answer", "refuse"]),
            "check_answer": (self.after_check, [END, "regenerate", "refuse"]),
            "regenerate": (self.after_draft, ["check_answer", "refuse"]),
            "refuse": END,
        }

    # ------------------------------------------------------------ nodes

    def retrieve(self, state: State) -> Update:
        update = super().retrieve(state)
        ids = {hit.chunk_id for hit in update["hits"]}
        return update | {"unchanged": bool(ids) and ids <= set(state["judged"])}

    def grade(self, state: State) -> Update:
        update = super().grade(state)
        return update | {"keeps": update["keeps"][:MOST_PASSAGES]}

    def check_answer(self, state: State) -> Update:
        draft = written(state)
        with step("check_answer"):
            support, usefulness = self.check.check_both(state["question"], draft.text, state["keeps"])
        update: Update = {"support": support, "usefulness": usefulness}
        if (
            support.label is Support.FULLY
            and usefulness is not None
            and usefulness.label is Usefulness.NOT_USEFUL
        ):
            update["found"] = Found(draft, tuple(state["keeps"]))
        update["feedback"] = (
            f'A previous attempt was rejected because the passages do not support it: "{draft.text}" '
            f"Say only what the passages state. {support.reason}"
        ).strip()
        return update

    # ------------------------------------------------------------ routers

    def after_search(self, state: LeanState) -> str:
        return "refuse" if state["unchanged"] else "grade"

    def after_grades(self, state: State) -> str:
        if state["failure"]:
            return "refuse"
        if state["keeps"]:
            return "generate"
        return "decide_retrieval" if state["gate"] is None else "refuse"

    def after_gate(self, state: State) -> str:
        # Nothing was found. Either nothing had to be, or the words were wrong; a failed gate looks again.
        gate = state["gate"]
        return "answer_directly" if gate is not None and gate.label is Retrieve.NO else "rewrite"

    def after_draft(self, state: State) -> str:
        sound = not state["failure"] and not written(state).abstained and not state["repeated"]
        return "check_answer" if sound else "refuse"

    def after_check(self, state: State) -> str:
        support, usefulness = state["support"], state["usefulness"]
        if support is None or support.failed:
            return "refuse"
        if support.label is not Support.FULLY:
            return "regenerate" if state["regenerations"] < self.caps.regenerations else "refuse"
        return END if usefulness is not None and usefulness.label is Usefulness.USEFUL else "refuse"
