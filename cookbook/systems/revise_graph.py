"""The revise graph: support comes with verbatim evidence, and a weak draft is cut down before it is dropped.

Gate, retrieve, grade, generate; then the support check quotes its evidence, and each quote must stand in a
passage. A draft that is not fully supported is revised, at most three times; a useless one rewrites the
query, at most twice, with the reason. The published graph lets three things through which this one does
not: its revision counter is never reset after a rewrite, zero relevant passages end the search, and an
unsupported draft at the cap is returned. 33 calls at worst there, 45 here, and a limit that follows.
Taught in notebooks/23_revise_graph.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from cookbook.errors import GRADER_FAILURES
from cookbook.providers.meter import Budget
from cookbook.reflect.revise import LLMReviser, Reviser
from cookbook.reflect.support import EvidenceSupport
from cookbook.schema import Support
from cookbook.systems.base import Parts
from cookbook.systems.loop import END, Loop, Wiring
from cookbook.systems.state import Judges, State, Update, fresh_state, written
from cookbook.tracing import step


@dataclass(frozen=True)
class Caps:
    """``revisions`` is counted per round: a rewrite brings other passages, and a fresh count."""

    rewrites: int = 2
    revisions: int = 3

    regenerations: ClassVar[int] = 0
    formula: ClassVar[str] = "1 + (rewrites + 1) * (k + 3 + 2 * revisions) + rewrites"

    def calls(self, k: int) -> int:
        """The gate; each round's k grades, draft, support and usefulness checks, and a revision with its
        check as often as allowed; the rewrites between rounds."""
        return 1 + (self.rewrites + 1) * (k + 3 + 2 * self.revisions) + self.rewrites

    def supersteps(self) -> int:
        """The gate, five nodes a round and two per revision, the rewrites, the end."""
        return 1 + (self.rewrites + 1) * (5 + 2 * self.revisions) + self.rewrites + 1


class RevisionState(State):
    """The shared state, and the revisions of this round."""

    revisions: int


class ReviseGraph(Loop):
    """Revision in place of regeneration. ``reviser`` takes out what is unsupported."""

    name = "revise_graph"
    default_caps = Caps()
    state_type = RevisionState

    caps: Caps

    def __init__(
        self,
        parts: Parts,
        *,
        reviser: Reviser | None = None,
        caps: Caps | None = None,
        budget: Budget | None = None,
        checkpointer: Any = None,
        **judges: Unpack[Judges],
    ) -> None:
        self.reviser = reviser or LLMReviser(parts.client)
        super().__init__(parts, caps=caps, budget=budget, checkpointer=checkpointer, **judges)

    def default_judges(self, parts: Parts) -> Judges:
        return super().default_judges(parts) | Judges(support=EvidenceSupport(parts.client))

    def first_state(self, question: str) -> RevisionState:
        return RevisionState(**fresh_state(question), revisions=0)

    def wiring(self) -> Wiring:
        return {
            "decide_retrieval": (self.after_gate, ["retrieve", "answer_directly"]),
            "answer_directly": END,
            "retrieve": "grade",
            "grade": (self.after_grades, ["generate", "rewrite", "refuse"]),
            "generate": (self.after_draft, ["check_support", "rewrite", "refuse"]),
            "check_support": (self.after_evidence, ["check_usefulness", "revise", "refuse"]),
            "revise": (self.after_draft, ["check_support", "rewrite", "refuse"]),
            "check_usefulness": (self.after_usefulness, [END, "rewrite", "refuse"]),
            "rewrite": (self.after_rewrite, ["retrieve", "refuse"]),
            "refuse": END,
        }

    def retrieve(self, state: State) -> Update:
        return super().retrieve(state) | {"revisions": 0}

    def revise(self, state: RevisionState) -> Update:
        draft, verdict = written(state), state["support"]
        problem = verdict.reason if verdict and verdict.reason else "not every statement is supported"
        with step("revise") as entry:
            update: Update = {"revisions": state["revisions"] + 1}
            try:
                revised = self.reviser.revise(state["question"], draft.text, problem, state["keeps"])
            except GRADER_FAILURES as error:
                entry.note = str(error)
                return update | {"failure": str(error)}
            if revised.text == draft.text:
                # Nothing was taken out, so the check would say the same: other passages are needed.
                entry.note = f"{revised.text} (the same again)"
                return update | {"repeated": True}
            entry.note = "abstained: nothing of it is supported" if revised.abstained else revised.text
        return update | {"draft": revised, "support": None}

    def after_evidence(self, state: RevisionState) -> str:
        verdict = state["support"]
        if verdict is None or verdict.failed:
            return "refuse"
        if verdict.label is Support.FULLY:
            return "check_usefulness"
        return "revise" if state["revisions"] < self.caps.revisions else "refuse"
