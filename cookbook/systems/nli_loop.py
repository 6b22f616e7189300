"""The NLI loop: support is entailment, judged claim by claim, and one more try is all there is.

Retrieve, grade each passage, write, split the answer into claims, ask of each whether some passage entails
it, then ask whether the answer is useful. A rejected draft is written once more with the failed claims in
the prompt; there is no gate and no rewrite. As published the judge saw one long premise, cut at 512
tokens; here each claim meets each passage, whole.
Taught in notebooks/22_nli_loop.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cookbook.reflect.entailment import LLMEntailment
from cookbook.reflect.support import ClaimSupport
from cookbook.schema import Usefulness
from cookbook.systems.base import Parts
from cookbook.systems.loop import END, Loop, Wiring
from cookbook.systems.state import Judges, State

MOST_CLAIMS = 3  # the writer is asked for one to three sentences


@dataclass(frozen=True)
class Caps:
    """``regenerations`` is how often a rejected draft is written again. ``claims`` is how many claims of a
    draft cost an LLM call for each passage: none of them where the judge is an NLI cross-encoder."""

    regenerations: int = 1
    claims: int = MOST_CLAIMS

    rewrites: ClassVar[int] = 0
    formula: ClassVar[str] = "k + (regenerations + 1) * (2 + claims * k)"

    def calls(self, k: int) -> int:
        """k grades; for each draft the writing, claims times passages, and the usefulness check."""
        return k + (self.regenerations + 1) * (2 + self.claims * k)

    def supersteps(self) -> int:
        """Retrieve, grade, three nodes per draft, the end."""
        return 2 + 3 * (self.regenerations + 1) + 1


class NLILoop(Loop):
    """Support by entailment. The judge is the local LLM's three-way log-probabilities unless ``support`` is
    given: ``ClaimSupport(NLICrossEncoder(...))`` with ``caps=Caps(claims=0)`` is the published choice."""

    name = "nli_loop"
    start = "retrieve"
    default_caps = Caps()

    def default_judges(self, parts: Parts) -> Judges:
        support = ClaimSupport(LLMEntailment(parts.client), most_claims=MOST_CLAIMS)
        return super().default_judges(parts) | Judges(support=support)

    def wiring(self) -> Wiring:
        return {
            "retrieve": "grade",
            "grade": (self.after_grades, ["generate", "refuse"]),
            "generate": (self.after_draft, ["check_support", "refuse"]),
            "check_support": (self.after_support, ["check_usefulness", "regenerate", "refuse"]),
            "check_usefulness": (self.after_usefulness, [END, "regenerate", "refuse"]),
            "regenerate": (self.after_draft, ["check_support", "refuse"]),
            "refuse": END,
        }

    def after_usefulness(self, state: State) -> str:
        verdict = state["usefulness"]
        if verdict is None or verdict.failed:
            return "refuse"
        if verdict.label is Usefulness.USEFUL:
            return END
        return "regenerate" if state["regenerations"] < self.caps.regenerations else "refuse"
