"""The prompt recipe: four one-word verdicts and no way back. What does not survive a check is refused.

Gate, retrieve, grade each passage, write from what is left, check support. There is no loop, so its
ceiling is also its usual price. Published over a Rust corpus with k = 8: 11 calls when something is kept,
9 when nothing is, where a reader expects the refusal to be nearly free.
Taught in notebooks/24_prompt_recipe.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cookbook.schema import Support
from cookbook.systems.loop import END, Loop, Wiring
from cookbook.systems.state import State


@dataclass(frozen=True)
class Caps:
    """No loop runs, so there is nothing to set."""

    rewrites: ClassVar[int] = 0
    regenerations: ClassVar[int] = 0
    formula: ClassVar[str] = "k + 3"

    def calls(self, k: int) -> int:
        """The gate, k grades, one draft, one support check."""
        return k + 3

    def supersteps(self) -> int:
        """Gate, retrieve, grade, generate, check, the end."""
        return 6


class PromptRecipe(Loop):
    """Straight through, with a refusal after each step that finds nothing."""

    name = "prompt_recipe"
    default_caps = Caps()
    answered_because = "supported"

    def wiring(self) -> Wiring:
        return {
            "decide_retrieval": (self.after_gate, ["retrieve", "answer_directly"]),
            "answer_directly": END,
            "retrieve": "grade",
            "grade": (self.after_grades, ["generate", "refuse"]),
            "generate": (self.after_draft, ["check_support", "refuse"]),
            "check_support": (self.after_support, [END, "refuse"]),
            "refuse": END,
        }

    def after_support(self, state: State) -> str:
        verdict = state["support"]
        return END if verdict is not None and verdict.label is Support.FULLY else "refuse"
