"""Nothing relevant ends the request at once: the rewriter is asked when it can do little, and not when it could help.

Taught in notebooks/labs/44_queries.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from cookbook.errors import ConfigError
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, times
from cookbook.published import revise
from cookbook.published.graphs import Run, run
from cookbook.published.models import Judges, gold, in_turn
from cookbook.published.revise import Caps, State
from cookbook.schema import Relevance, Status

LAB = Lab(
    module=__name__,
    title="The rewriter that is never asked",
    difficulty=2,
    minutes=20,
    you_will="send a search that found nothing to the rewriter, as often as the budget says and not once more",
    symptom=(
        "Customers who do not know our words get \"No answer found.\" within a second. The system has a "
        "rewriter for exactly them, and its log is empty."
    ),
    task=(
        "Write the router `after_grades(state, caps)`. `state[\"kept\"]` holds the passages that were judged "
        "relevant, `state[\"rewrites\"]` how often this request was rewritten so far (the node `rewrite` "
        "counts), `caps.rewrites` how often it may be. Return the name of the next node: `\"generate\"`, "
        "`\"rewrite\"` or `\"no_answer\"`."
    ),
    hints=(
        "Look at the red edge: what is true of a request that takes it, and which node could still do "
        "something for it? How would a request get to that node today?",
        "Three cases in this order: something kept, then `generate`; nothing kept and rewrites left (`<`), "
        "then `rewrite`; nothing kept and none left, then `no_answer`. The router only reads: `rewrite` has "
        "its own counter.",
    ),
    in_the_wild=(
        "The graph is a published one, kept as it was in `cookbook/published/revise.py`. The Corrective-RAG "
        "demo of patchy631/ai-engineering-hub had the same hole for another reason: its grader's \"no.\" did "
        "not equal \"no\", so the web search that was to follow irrelevant passages never ran (pull request "
        "246). In the CRAG paper (arXiv 2401.15884) it is the other way round: that every passage is bad is "
        "what starts the second search."
    ),
    transfer=(
        "The team logs how often the rewriter ran: in 2% of all requests. They call the rewriter \"rarely "
        "needed\" and plan to remove it. Which number would you ask for first?"
    ),
    answer=(
        "How many requests ended without a relevant passage while rewrites were left. A component that is "
        "rarely *reached* looks like one that is rarely *needed*; only the requests that needed it tell them "
        "apart. A branch that no test drives is the same: count the edges taken, and ask about the zeros."
    ),
    pitfall=(
        "They write `if not kept: return \"rewrite\"` and have built a loop without an end, because the "
        "router has no cap any more. Or they send an empty request to `generate` at the cap, so that the "
        "customer gets *something*. Ask what the writer would read there."
    ),
)  # fmt: skip

Router = Callable[[State, Caps], str]

QUESTION = "I binned a single card last month. Is it gone for good?"
REWRITE = "restore a deleted task"
"""The same in the handbook's words: a card is a task there, and nothing is binned."""
FOUND = "A deleted task goes to the trash of its project and stays there for 60 days."
LIMIT = 60
"""Supersteps after which a run is stopped here: three passes take sixteen."""


# ---------------------------------------------------------------- the graph


def after_grades(state: State, caps: Caps) -> Literal["generate", "rewrite", "no_answer"]:
    """`generate` from what was kept; without anything `rewrite` while the budget lasts, then `no_answer`."""
    ### BEGIN SOLUTION
    if state["kept"]:
        return "generate"
    return "rewrite" if state["rewrites"] < caps.rewrites else "no_answer"
    ### END SOLUTION


def build(judges: Judges, caps: Caps, router: Router) -> Any:
    """The revise graph, compiled, with this router behind ``grade``; all three edges are drawn."""

    def after_grades(state: State, caps: Caps) -> Literal["generate", "rewrite", "no_answer"]:
        return router(state, caps)  # type: ignore[return-value]

    return revise.build(judges, caps=caps, after_grades=after_grades)


def broken() -> Router:
    return revise.after_grades


def solution() -> Router:
    return after_grades


# ---------------------------------------------------------------- one request


def ask(
    router: Router, caps: Caps | None = None, *, rewrites: Sequence[str] = (REWRITE,), relevance: Any = None
) -> Run:
    """One request. The rewriter says ``rewrites``, one after the other; unless told otherwise the grader knows the gold passages."""
    judges = Judges(rewrite=in_turn(*rewrites), relevance=relevance or gold("larkspur"))
    return run(
        build(judges, caps or Caps(), router),
        revise.fresh_state(QUESTION),
        recursion_limit=LIMIT,
    )


# ---------------------------------------------------------------- the check

USELESS = "recover a binned card"


@guard(returns="the name of a node")
def check(candidate: Router) -> LabVerdict:
    """A rewrite that helps at once, one that helps the second time, three budgets when nothing helps, and a search that needs none."""
    try:
        return _check(candidate)
    except ConfigError as error:
        return failed("no_such_edge", str(error).partition(";")[0])


def _check(candidate: Router) -> LabVerdict:
    first = ask(candidate)
    if (verdict := _helped(first, "the first rewrite", 1)) is not None:
        return verdict
    for rewrites in (2, 1, 0):
        done = ask(candidate, Caps(rewrites=rewrites), relevance=Relevance.IRRELEVANT)
        if (verdict := _gave_up(done, rewrites)) is not None:
            return verdict
    if (verdict := _helped(ask(candidate, rewrites=(USELESS, REWRITE)), "the second rewrite", 2)) is not None:
        return verdict
    one = Relevance.IRRELEVANT, Relevance.RELEVANT, Relevance.IRRELEVANT
    kept = ask(candidate, relevance=in_turn(*one))
    if kept.ran("rewrite") or not kept.ran("generate"):
        return failed(
            "found_and_rewritten",
            "one of five passages was relevant at the first search, and rewrite ran "
            f"{times(kept, 'rewrite')}, generate {times(kept, 'generate')}. One relevant passage is enough "
            "to write from; whether the answer is good is for the checks behind it",
        )
    return passed(
        f"the rewrite finds it: {first.state['draft']!r}, {first.calls} calls instead of 6 and a refusal. "
        "When nothing helps, budgets of 2, 1 and 0 rewrites end in no_answer after 18, 12 and 6 calls, and "
        "nothing is written"
    )


def _helped(done: Run, which: str, wanted: int) -> LabVerdict | None:
    """What is wrong with a request that a rewrite can save; None when nothing is."""
    saw = (
        f"the first search found nothing relevant, {which} finds the passage, and rewrite ran "
        f"{times(done, 'rewrite')}"
    )
    if done.ran("rewrite") == 0 and done.ran("generate"):
        return failed(
            "written_from_nothing",
            f"{saw}: the writer was asked without a passage and said {done.state['draft']!r}. Nothing kept "
            "is no reason to write",
        )
    if done.ran("rewrite") == 0:
        return failed(
            "never_rewritten",
            f"{saw}: after {done.calls} calls the customer is told {done.state['draft']!r}. `rewrites` "
            f"stands at {done.state['rewrites']}, two were allowed. The router knows an empty `kept` and "
            "does not look at what is left of the budget",
        )
    if done.ran("rewrite") < wanted:
        return failed(
            "gives_up_early",
            f"{saw}, then it ended with {done.state['draft']!r}. {wanted} were allowed: compare "
            "`state['rewrites']` with `caps.rewrites`, not with 0",
        )
    if done.state["draft"] != FOUND or done.state["status"] is not Status.ANSWERED:
        return failed(
            "found_and_not_used",
            f"{saw}, and it ended with {done.state['draft']!r}. What was kept goes to `generate`",
        )
    return None


def _gave_up(done: Run, budget: int) -> LabVerdict | None:
    """What is wrong with a request that nothing can save; None when nothing is."""
    saw = (
        f"no search finds anything, `caps.rewrites` is {budget}: rewrite ran {times(done, 'rewrite')} in "
        f"{done.calls} calls"
    )
    if not done.ended:
        return failed(
            "no_end",
            f"{saw}, and it was stopped after {LIMIT} supersteps. `rewrites` stands at "
            f"{done.state['rewrites']}; compare it with `caps.rewrites`",
        )
    if done.ran("generate"):
        return failed(
            "written_from_nothing",
            f"{saw}, then the writer was asked without a passage and said {done.state['draft']!r}. At the "
            "cap an empty `kept` goes to `no_answer`",
        )
    if done.ran("rewrite") < budget:
        return failed(
            "gives_up_early",
            f"{saw}. {budget} were allowed: compare `state['rewrites']` with `caps.rewrites`, not with a "
            "number of your own",
        )
    if done.ran("rewrite") > budget:
        return failed("one_too_many", f"{saw}. Compare with `<`: when {budget} are made, none is left")
    return None
