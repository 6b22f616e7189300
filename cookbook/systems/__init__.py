"""The registry of systems: one line each. A new system is its module, its notebook and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from cookbook.errors import ConfigError
from cookbook.systems.base import Parts, System


@dataclass(frozen=True)
class Entry:
    """Where a system lives (``module:Class``), what it is in one line, and whether it calls PROVIDER's model.

    ``own_model`` names the model that a system brings along.
    """

    target: str
    summary: str
    needs_model: bool = True
    own_model: str = ""


REGISTRY = {
    "closed_book": Entry("cookbook.baselines:ClosedBook", "no retrieval: the model's memory alone"),
    "vanilla": Entry("cookbook.baselines:Vanilla", "retrieve k passages, write one answer, check nothing"),
    "extractive": Entry(
        "cookbook.baselines:Extractive", "no LLM: quotes sentences of passages that score high", False
    ),
    "handbook_graph": Entry(
        "cookbook.systems.handbook_graph:HandbookGraph",
        "grades passages, checks support and usefulness; rewrites, regenerates or refuses",
    ),
    "best_passage": Entry(
        "cookbook.systems.best_passage:BestPassage",
        "one candidate per relevant passage, ranked by support and usefulness from 1 to 5",
    ),
    "nli_loop": Entry(
        "cookbook.systems.nli_loop:NLILoop",
        "splits the answer into claims and asks of each whether a passage entails it; one more try",
    ),
    "revise_graph": Entry(
        "cookbook.systems.revise_graph:ReviseGraph",
        "support with verified quotes; a weak draft is revised, a useless one rewrites the query",
    ),
    "prompt_recipe": Entry(
        "cookbook.systems.prompt_recipe:PromptRecipe",
        "gate, grades, one draft, one support check: no way back, refuses at each step",
    ),
    "adaptive_loop": Entry(
        "cookbook.systems.adaptive_loop:AdaptiveLoop",
        "splits compound questions, hybrid search, encoder grades; rewrites for search, regenerates for writing",
    ),
    "lean": Entry(
        "cookbook.systems.lean:Lean",
        "an encoder grades, the few kept passages are written from, one check for support and usefulness",
    ),
    "token_selfrag": Entry(
        "cookbook.systems.token_selfrag:TokenSelfRAG",
        "a tiny model trained here emits the paper's reflection tokens; quotes the best sentence or refuses",
        needs_model=False,
        own_model="its own tiny Self-RAG (committed weights)",
    ),
}


def entry(name: str) -> Entry:
    """The registry line of a system; ConfigError lists the known names."""
    if name not in REGISTRY:
        raise ConfigError(f"no system called {name!r}; known: {', '.join(REGISTRY)}")
    return REGISTRY[name]


def system_class(name: str) -> type[System]:
    """The class of a system; its module is imported here and not before."""
    module, _, attribute = entry(name).target.partition(":")
    found: type[System] = getattr(import_module(module), attribute)
    return found


def build(name: str, parts: Parts) -> System:
    """Build a system from shared parts."""
    return cast(Callable[[Parts], System], system_class(name))(parts)
