"""The first steps of a request, which the published loops have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from cookbook.published.models import Judges
from cookbook.schema import Relevance, Retrieve

State = Mapping[str, Any]
Update = dict[str, Any]


def decide_retrieval(state: State, judges: Judges) -> Update:
    return {"retrieve": judges.retrieve(state["question"])}


def after_gate(state: State, caps: Any) -> Literal["retrieve", "answer_directly"]:
    return "answer_directly" if state["retrieve"] is Retrieve.NO else "retrieve"


def answer_directly(state: State, judges: Judges) -> Update:
    return {"draft": judges.direct(state["question"])}


def grade(state: State, judges: Judges) -> Update:
    """One call for each passage."""
    question = state["question"]
    kept = [hit for hit in state["hits"] if judges.relevance(question, hit) is Relevance.RELEVANT]
    return {"kept": kept}


def generate(state: State, judges: Judges) -> Update:
    """A draft from what was kept, be it nothing."""
    return {"draft": judges.generate(state["question"], state["kept"])}
