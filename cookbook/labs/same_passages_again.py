"""A rewritten query finds the passages of the query before, and each of them is graded and paid for once more.

Taught in notebooks/labs/43_repetition.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.published import handbook, steps
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges, Shelf, gold, repeats
from cookbook.published.steps import Update
from cookbook.schema import Hit, Reason, Relevance, Status, Usefulness

LAB = Lab(
    module=__name__,
    title="Fifteen grades for five passages",
    difficulty=2,
    minutes=20,
    you_will="let a loop remember what it has judged, for this question and for no other",
    symptom=(
        "Questions that the handbook does not answer are the dearest of all. The query is rewritten twice, "
        "and each time the "
        "same five passages come back and are graded again."
    ),
    task=(
        "Write the node `grade(state, judges)`. The state has one more field, `judged`: a dict from chunk id "
        "to `Relevance`, empty when a request starts. A passage is graded "
        "**once** in a request, with `judges.relevance(question, hit)`. Return `kept`, those of "
        "`state[\"hits\"]` that are relevant (also when they were judged in an earlier round), and `judged`, "
        "with the verdicts of this round added. Nothing that the caller handed in may be changed, and nothing "
        "may be remembered from one request to the next: a passage that "
        "is irrelevant to one question can answer another."
    ),
    hints=(
        "In the trace, count the different passages. Which of the three rounds learned something?",
        "`judged = dict(state[\"judged\"])` is a copy. For each hit whose `chunk_id` is not in it, ask and "
        "note the verdict. Then `kept` is a line: the hits whose noted verdict "
        "is `Relevance.RELEVANT`.",
    ),
    in_the_wild=(
        "LangGraph's Self-RAG example (langchain-ai/langgraph, `examples/rag/langgraph_self_rag.ipynb`) "
        "grades all that is found after each `transform_query`, with one call for each document. "
        "noi-techpark/stuart-chatbot, issue 5, sees the same chunk in first place after every follow-up "
        "question and proposes to exclude what was found before. The graph here is a published one, kept as "
        "it was in "
        "`cookbook/published/handbook.py`."
    ),
    transfer=(
        "Eight calls are left, and two of them rewrote the question into itself. Which two signs could have "
        "stopped the request sooner, and which of them also stops a rewriter that "
        "says the same in other words?"
    ),
    answer=(
        "The query: if it was tried before, its passages are known without a search. And the ids: if a search "
        "brings no passage that is not in `judged`, nothing "
        "was learned from it. The second also stops the synonym, and a corpus that is smaller than the "
        "retriever's k. Then either end the loop, or exclude the seen ids so that "
        "the next search must look further down. The handbook graph of this cookbook does the first "
        "(`was_tried` in `cookbook/systems/state.py`)."
    ),
    pitfall=(
        "They skip what was seen, and with it the passage that was relevant in round 1: the answer then is "
        "written from nothing. Or they remember verdicts in a "
        "dict outside the state, and the second customer gets the verdicts on the first one's question."
    ),
)  # fmt: skip

Grade = Callable[["State", Judges], Any]

PRICE = "How much does the starter plan cost per month?"
CANCELLED = "Can I export my data after I cancel my plan?"


class State(handbook.State):
    """One request, and what was judged in it: chunk id to verdict."""

    judged: dict[str, Relevance]


def fresh_state(question: str) -> State:
    return State(**handbook.fresh_state(question), judged={})


# ---------------------------------------------------------------- the node


def grade(state: State, judges: Judges) -> Update:
    """`kept`, the relevant ones among the hits, and `judged`, with a verdict for each of them; no passage is asked about twice.

    What was handed in is not changed.
    """
    ### BEGIN SOLUTION
    judged = dict(state["judged"])
    for hit in state["hits"]:
        if hit.chunk_id not in judged:
            judged[hit.chunk_id] = judges.relevance(state["question"], hit)
    kept = [hit for hit in state["hits"] if judged[hit.chunk_id] is Relevance.RELEVANT]
    return {"kept": kept, "judged": judged}
    ### END SOLUTION


def broken() -> Grade:
    return steps.grade


def solution() -> Grade:
    return grade


# ---------------------------------------------------------------- one request


@dataclass(frozen=True)
class Request:
    """A run, and what the grader was asked: chunk id and verdict, in order."""

    run: Run
    asked: list[tuple[str, Relevance]]

    @property
    def different(self) -> int:
        """Passages that were graded, each counted once."""
        return len(dict(self.asked))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each passage: how often the grader was asked about it and what it said, for ``show_table``."""
        said: dict[str, list[str]] = {}
        for chunk_id, verdict in self.asked:
            said.setdefault(chunk_id, []).append(verdict.value)
        return [
            {"passage": chunk_id, "graded": len(verdicts), "verdicts": ", ".join(verdicts)}
            for chunk_id, verdicts in said.items()
        ]


def refuse_at_the_cap(state: State, caps: Caps) -> str:
    """The published router behind the grades, mended: it refuses where that one writes from nothing."""
    if state["kept"]:
        return "generate"
    return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"


def ask(
    node: Grade, question: str, *, query: str = "", start: State | None = None, **replies: Any
) -> Request:
    """One request, whose grader agrees with the eval set and whose rewriter says the question again.

    ``query`` is what the first search looks for, the question itself if not given.
    """
    asked, knows = [], gold("larkspur")

    def relevance(question: str, hit: Hit) -> Relevance:
        asked.append((hit.chunk_id, knows(question, hit)))
        return asked[-1][1]

    judges = Judges(**{"relevance": relevance, "rewrite": repeats} | replies)
    graph = handbook.build(judges, schema=State, grade=node, after_grades=refuse_at_the_cap)
    first = {**(start or fresh_state(question)), "question": question, "query": query or question}
    return Request(run(graph, first), asked)


# ---------------------------------------------------------------- the check


@guard(returns="the fields it changes, {'kept': ..., 'judged': ...}")
def check(candidate: Grade) -> LabVerdict:
    """Nothing relevant, three times the same passages; another question to those passages, then new ones; relevant ones again."""
    start = fresh_state(PRICE)
    price = ask(candidate, PRICE, start=start)
    if (verdict := _graded_once(price, "three searches find the same passages, none relevant")) is not None:
        return verdict
    if start["judged"]:
        return failed(
            "input_changed",
            f"the caller's own `judged` was empty, and holds {len(start['judged'])} verdicts after the "
            "request. The next request that starts "
            'from this state begins with them. Write into a copy, `dict(state["judged"])`, and return that',
        )
    other = ask(candidate, CANCELLED, query=PRICE)
    again = ask(candidate, CANCELLED, usefulness=Usefulness.NOT_USEFUL)
    for request, query, saw in (
        (price, PRICE, "the first request"),
        (other, PRICE, "a second request, with another question,"),
        (again, CANCELLED, "a third request, with the question of the second,"),
    ):
        found = Shelf.of("larkspur").retrieve(query, handbook.K)
        if missing := [hit.chunk_id for hit in found if hit.chunk_id not in dict(request.asked)]:
            return failed(
                "remembered_between_requests",
                f"the first search of {saw} finds {len(found)} passages, and the grader was not asked about "
                f"{len(missing)} of them ({missing[0]}, ...). "
                'It must judge each for this question. Where are the verdicts kept, if not in `state["judged"]`?',
            )
    if other.run.state["status"] is not Status.ANSWERED or not other.run.state["kept"]:
        return failed(
            "new_passages_not_graded",
            "the second search finds passages that the first did not, two of them relevant. The grader was "
            f"asked about {other.different} passages in both, and "
            f"`kept` holds {len(other.run.state['kept'])}. Grade what has no verdict yet, in every round",
        )
    if (verdict := _graded_once(other, "the second search finds other passages")) is not None:
        return verdict
    if (verdict := _graded_once(again, "three searches find the same passages, two relevant")) is not None:
        return verdict
    if len(again.run.state["kept"]) != 2 or again.run.state["reason"] is not Reason.NOT_USEFUL:
        return failed(
            "relevant_forgotten",
            "three searches find the same passages, and two of them are relevant. After the last, `kept` "
            f"holds {len(again.run.state['kept'])}, and the request is refused "
            f"as '{again.run.state['reason']}'. A passage that was relevant in round 1 is relevant still: "
            "look its verdict up and keep it",
        )
    return passed(
        f"nothing relevant: {len(price.asked)} grades and {price.run.calls} calls, where the published node "
        "makes 15 and 18; what is new is graded, what was "
        "relevant is kept, and the next question starts from nothing"
    )


def _graded_once(request: Request, saw: str) -> LabVerdict | None:
    noted = request.run.state["judged"]
    if len(request.asked) > request.different:
        return failed(
            "graded_again",
            f"{saw}: {len(request.asked)} grades were paid for, of {request.different} passages "
            f"({request.run.calls} calls). When the request ends `judged` holds "
            f'{len(noted)} verdicts. Ask about a passage whose `chunk_id` is not in `state["judged"]`, note the verdict, and return `judged`',
        )
    return None
