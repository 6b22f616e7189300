"""The handbook graph: grade each passage, check the answer twice, rewrite or regenerate, or refuse.

Three loops around retrieve-and-generate, each with its own counter and its own cap:
no relevant passage -> rewrite the query; not supported -> regenerate with the checker's feedback;
not useful -> rewrite with that feedback. A loop that would only repeat itself ends early: a passage is
graded once, a query tried before stops the search, and a draft that comes back word for word sends the
search to other passages.
Taught in notebooks/20_handbook_graph.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cookbook.systems.loop import END, Loop, Wiring


@dataclass(frozen=True)
class Caps:
    """How often each loop may run in one request."""

    rewrites: int = 2
    regenerations: int = 2

    formula: ClassVar[str] = "1 + (rewrites + 1) * (k + 3) + rewrites + 2 * regenerations"

    def calls(self, k: int) -> int:
        """The gate, each round's k grades, one draft, two checks, the rewrites between rounds, and a
        draft with its support check per regeneration."""
        return 1 + (self.rewrites + 1) * (k + 3) + self.rewrites + 2 * self.regenerations

    def supersteps(self) -> int:
        """The gate, five nodes a round, the rewrites, two per regeneration, the end."""
        return 1 + 5 * (self.rewrites + 1) + self.rewrites + 2 * self.regenerations + 1


class HandbookGraph(Loop):
    """Every step of the frame, wired in three loops."""

    name = "handbook_graph"
    default_caps = Caps()

    def wiring(self) -> Wiring:
        return {
            "decide_retrieval": (self.after_gate, ["retrieve", "answer_directly"]),
            "answer_directly": END,
            "retrieve": "grade",
            "grade": (self.after_grades, ["generate", "rewrite", "refuse"]),
            "generate": (self.after_draft, ["check_support", "rewrite", "refuse"]),
            "check_support": (self.after_support, ["check_usefulness", "regenerate", "refuse"]),
            "regenerate": (self.after_draft, ["check_support", "rewrite", "refuse"]),
            "check_usefulness": (self.after_usefulness, [END, "rewrite", "refuse"]),
            "rewrite": (self.after_rewrite, ["retrieve", "refuse"]),
            "refuse": END,
        }
