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
    """Where a system lives (``module:Class``), what it is in one line, and whether it calls an LLM."""

    target: str
    summary: str
    needs_model: bool = True


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
    "prompt_recipe": Entry(
        "cookbook.systems.prompt_recipe:PromptRecipe",
        "gate, grades, one draft, one support check: no way back, refuses at each step",
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
