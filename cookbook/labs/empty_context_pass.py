"""Nothing relevant is found and an answer is written all the same: the check of its support has nothing to check.

Taught in notebooks/labs/42_endings.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, times, unfit
from cookbook.published import handbook
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps, State
from cookbook.published.models import Judges, gold, in_turn
from cookbook.schema import Reason, Relevance, Status, Support

LAB = Lab(
    module=__name__,
    title="An answer from nothing, fully supported",
    difficulty=2,
    minutes=20,
    you_will="find the path on which nothing was retrieved, and end it before anything is written",
    symptom=(
        "The assistant told a customer that the starter plan costs 12 dollars, and marked the answer as fully "
        "supported. "
        "The handbook names no price anywhere."
    ),
    task=(
        "Write `build_graph(judges, caps)`: the same graph, which refuses when no search found a relevant "
        "passage, **before** anything "
        "is written. While rewrites are left it searches again first, as now. `handbook.build(judges, "
        "caps=caps, "
        "after_grades=my_router)` compiles the published graph with your router in place of its own "
        "`after_grades`. A router takes "
        "`(state, caps)` and returns the name of the next node; if you annotate the return type, the `Literal` must list "
        "every node that it may name. The graph has a node `refuse`, which sets the "
        "fixed sentence, the status and the reason."
    ),
    hints=(
        "Find the first row of the trace that should not be there. The row before it is a node with a router "
        "behind it: "
        "which one, and what did the state hold when that router was asked?",
        "Write `my_router(state, caps)` with three cases: something in `state[\"kept\"]` goes to "
        "`\"generate\"`, nothing there and "
        "`state[\"rewrites\"] < caps.rewrites` goes to `\"rewrite\"`, and the rest to `\"refuse\"`.",
    ),
    in_the_wild=(
        "The graph is a published one, a customer handbook answered with LangGraph, kept as it was in "
        "`cookbook/published/handbook.py`. "
        "Evaluation tools have the same hole: without any context DeepEval's hallucination metric had no "
        "verdicts to count, gave "
        "0, and 0 passed (confident-ai/deepeval, pull request 2794); Ragas gave an invented answer to an "
        "empty context a faithfulness of 1 "
        "(vibrantlabsai/ragas, issue 793). Spring AI changed its default so that an empty context no longer "
        "reaches the writer "
        "(spring-projects/spring-ai, pull request 1767)."
    ),
    transfer=(
        "`all(is_supported(claim) for claim in claims(answer))` is a support check over the claims of an "
        "answer. For which answers is it true "
        "without a single call, and what should stand in front of it?"
    ),
    answer=(
        "For each answer from which no claim was extracted: `all` of nothing is true. An empty text, a "
        "greeting, and every answer on which the "
        "extractor fails passes as fully supported. In front of it: if there are no claims, the check has not "
        "run, which is a third "
        "value and no yes. Whoever asks *how many were checked?* beside *did all pass?* sees it at once."
    ),
    pitfall=(
        "They mend `check_support`, where the false yes is said. Then the loop behind it starts: a *no* sends "
        "the request to "
        "`regenerate`, again and again, from nothing. Let them count what was paid for before the check could "
        "speak."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

QUESTION = "How much does the starter plan cost per month?"
ANSWERED = "Can I export my data after I cancel my plan?"
LIMIT = 60
"""Supersteps after which a run is stopped here: a refusal with two rewrites takes ten."""


# ---------------------------------------------------------------- the graph


def published(judges: Judges, caps: Caps) -> Any:
    """The graph as it was."""
    return handbook.build(judges, caps=caps)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The handbook graph, compiled, which refuses before it writes when no search found a relevant passage.

    As long as fewer than `caps.rewrites` rewrites were made it searches again first.
    """
    ### BEGIN SOLUTION

    def after_grades(state: State, caps: Caps) -> str:
        if state["kept"]:
            return "generate"
        return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"

    return handbook.build(judges, caps=caps, after_grades=after_grades)
    ### END SOLUTION


def broken() -> Builder:
    return published


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- one request


@dataclass(frozen=True)
class Request:
    """A run, and the judges that it asked: ``judges.calls`` tallies their calls by kind."""

    run: Run
    judges: Judges

    @property
    def paid(self) -> str:
        """``20 calls: 15 relevance, 2 rewrite, 1 generate``."""
        return f"{self.run.calls} calls: {', '.join(f'{n} {kind}' for kind, n in self.judges.calls.items())}"


def nowhere(build: Builder, caps: Caps) -> Request:
    """The question about a price, which no passage of the handbook answers, to a judge that knows it."""
    return _ask(build, QUESTION, caps, relevance=gold("larkspur"))


def _ask(build: Builder, question: str, caps: Caps, **replies: Any) -> Request:
    judges = Judges(**replies)
    return Request(run(build(judges, caps), handbook.fresh_state(question), recursion_limit=LIMIT), judges)


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """A question that nothing answers, with two caps; one that a second search answers; one that the first does."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    spent = []
    for rewrites in (2, 1):
        asked = nowhere(candidate, Caps(rewrites=rewrites))
        if (verdict := _refused(asked, rewrites)) is not None:
            return verdict
        spent.append(asked.run.calls)
    second = in_turn(*[Relevance.IRRELEVANT] * 5, Relevance.RELEVANT)
    for saw, replies in (
        ("the first search finds nothing relevant and the second does", {"relevance": second}),
        ("the first search finds relevant passages", {"relevance": gold("larkspur")}),
    ):
        asked = _ask(candidate, ANSWERED, Caps(), **replies)
        if (verdict := _answered(asked, saw)) is not None:
            return verdict
    return passed(
        f"nothing relevant: refused after {spent[0]} calls with two rewrites and after {spent[1]} with one, "
        "and nothing was written. The "
        "published graph makes 20 calls and answers. What the first or the second search finds is still "
        "answered"
    )


def _refused(asked: Request, rewrites: int) -> LabVerdict | None:
    """What is wrong with the end of a request for which nothing relevant was found; None when nothing is."""
    done, state = asked.run, asked.run.state
    searched = (
        f"{done.ran('retrieve')} search{'' if done.ran('retrieve') == 1 else 'es'} found nothing relevant"
    )
    if not done.ended:
        return failed(
            "goes_round_from_nothing",
            f"{searched}, and the graph did not end: regenerate ran {times(done, 'regenerate')}, each time "
            "from 0 passages, and "
            f"{done.calls} calls were made when it was stopped. Rejecting the draft afterwards only gets it written again "
            "(and this graph does not count its regenerations: that is the lab `stuck_router_counter`). "
            "Send the request to another node before `generate`",
        )
    if done.ran("rewrite") < rewrites and asked.judges.calls["generate"]:
        return failed(
            "written_with_rewrites_left",
            f"{searched}, and a draft was written from 0 passages, with {rewrites - done.ran('rewrite')} of "
            f"{rewrites} rewrites left: {state['draft']!r}. "
            f'`state["hits"]` holds all that was found, {len(state["hits"])} passages, and `state["kept"]` those of them that are relevant: none',
        )
    if done.ran("rewrite") < rewrites:
        return failed(
            "gives_up_early",
            f"{searched}, and `caps.rewrites` allows {rewrites}: rewrite ran {times(done, 'rewrite')}. Refuse "
            "when "
            "nothing is kept *and* no rewrite is left",
        )
    if done.ran("rewrite") > rewrites:
        return failed(
            "wrong_count",
            f'`caps.rewrites` is {rewrites} and rewrite ran {times(done, "rewrite")}. Is `state["rewrites"]` compared with `<`?',
        )
    if state["status"] is Status.ANSWERED and asked.judges.calls["generate"] > 0:
        return failed(
            "answered_from_nothing",
            f"{searched}, and a draft was written from 0 passages all the same. {state['draft']!r} went out "
            "with status "
            f"'{state['status']}' and support {_said(state['support'])}, though "
            f"{asked.judges.calls['support']} support calls were made "
            f"({asked.paid}). When nothing is kept and no rewrite is left, the router behind `grade`, "
            "`after_grades`, has to "
            "name `refuse` and not `generate`",
        )
    if state["status"] is Status.ANSWERED:
        return failed(
            "refusal_sold_as_answer",
            f"{searched}, and the text is {state['draft']!r}, but the request ends with status 'answered' and "
            "support "
            f"{_said(state['support'])}. Whoever reads the status shows it as an answer. The node `refuse` "
            "sets text, status and reason",
        )
    if asked.judges.calls["generate"]:
        return failed(
            "refused_too_late",
            f"{searched}, and the request was refused in the end, after a draft was written from 0 passages "
            f"({asked.paid}). "
            "Only a bug away from being shown, and paid for: refuse before `generate` runs",
        )
    if done.ran("generate"):
        return failed(
            "goes_on_after_refusing",
            f"{searched}, and nothing was written; but the request that is refused still passed through "
            f"{', '.join(done.trace.nodes[-3:])} ({asked.paid}). "
            "A refusal is an end: let `after_grades` name `refuse`, and leave `generate` to requests that "
            "have passages",
        )
    if state["reason"] is not Reason.NO_RELEVANT_PASSAGE:
        return failed(
            "wrong_reason",
            f"{searched}, and the reason of the refusal is {_said(state['reason'])}; it is "
            f"'{Reason.NO_RELEVANT_PASSAGE}'",
        )
    return None


def _answered(asked: Request, saw: str) -> LabVerdict | None:
    state = asked.run.state
    if state["status"] is Status.ANSWERED and state["kept"] and state["support"] is Support.FULLY:
        return None
    return failed(
        "answer_lost",
        f"{saw}, and the request ends with status '{state['status']}', reason {_said(state['reason'])} and "
        f"{len(state['kept'])} "
        "passages kept. Only a request that found nothing is refused",
    )


def _said(value: Any) -> str:
    return "None" if value is None else f"'{value}'"
