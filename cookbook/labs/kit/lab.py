"""The facts about a lab that its header, the lists and the teachers' pages are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from cookbook.labs.families import Family, family_of
from cookbook.labs.kit.verdict import LabVerdict


@dataclass(frozen=True)
class Lab:
    """A lab. Every text is Markdown, a sentence or a short paragraph; none repeats another.

    ``module`` is ``__name__``: the slug, the family and the functions follow from it.
    """

    module: str
    title: str
    difficulty: int  # 1 (read one function) .. 5 (hold a whole graph in mind)
    minutes: int
    you_will: str  # "After this lab you can ...", beginning with a verb
    symptom: str  # what somebody would report, in one sentence
    task: str  # what to write, in terms of the learner's function
    hints: tuple[str, str]  # the first says where to look, the second what to do
    in_the_wild: str  # where it happened; names its source
    transfer: str  # one question that the same idea answers elsewhere
    answer: str  # its answer
    pitfall: str  # what a class gets wrong first, for teachers

    @property
    def slug(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def family(self) -> Family:
        return family_of(self.slug)

    @property
    def dots(self) -> str:
        return "●" * self.difficulty + "○" * (5 - self.difficulty)

    def code(self) -> ModuleType:
        """The lab's module."""
        return import_module(self.module)

    def broken(self) -> Callable[..., Any]:
        """A candidate that fails as published code does."""
        found: Callable[..., Any] = self.code().broken()
        return found

    def solution(self) -> Callable[..., Any]:
        """A candidate that passes: the learner's function, written out."""
        found: Callable[..., Any] = self.code().solution()
        return found

    def check(self, candidate: Any) -> LabVerdict:
        """What the lab's check says of a candidate; never raises."""
        verdict: LabVerdict = self.code().check(candidate)
        return verdict
