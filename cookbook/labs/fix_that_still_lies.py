"""The loop ends at its cap, and what the judge rejected three times is returned as an answer.

Taught in notebooks/labs/42_endings.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, counts_outside, failed, guard, passed, times, unfit
from cookbook.published import handbook
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps, State
from cookbook.published.models import Judges, in_turn
from cookbook.schema import Reason, Status, Support

LAB = Lab(
    module=__name__,
    title="The fix that still lies",
    difficulty=2,
    minutes=20,
    you_will="say what a loop returns when its cap is reached, and keep a rejected draft from leaving the system",
    symptom=(
        "Since the endless loop was mended the bill is small and nobody waits. Now customers are told things "
        "that our own judge "
        "had rejected, three times in a row."
    ),
    task=(
        "Write `build_graph(judges, caps)`: the same graph, which refuses when the last draft that "
        "`caps.regenerations` allows is not "
        "fully supported either. A draft that becomes supported in time is answered, as now. "
        "`handbook.build(judges, caps=caps, "
        "regenerate=handbook.regenerate_counted, after_support=my_router)` compiles the graph with the "
        "counter mended and your router in "
        "place of `after_support`. A router takes `(state, caps)` and returns the name of the next node; "
        "`state[\"support\"]` is "
        "`Support.FULLY`, `PARTIALLY` or `NONE`. The node `refuse` sets the fixed sentence, the status and "
        "the reason."
    ),
    hints=(
        "In the trace, follow the support verdicts: no, no, no. Which node comes after the third *no*, and is "
        "it another one than after a yes?",
        "Three cases: `Support.FULLY` goes to `\"check_usefulness\"`; anything else with "
        "`state[\"regenerations\"] < caps.regenerations` "
        "to `\"regenerate\"`; the rest to `\"refuse\"`.",
    ),
    in_the_wild=(
        "Caps are added to end a loop, and the end is where nobody looks. A change proposed for LangGraph's "
        "agentic RAG example gave its "
        "endless rewrite loop a limit of two, behind which it goes on to generate from passages that were all "
        "graded irrelevant, so that "
        "the user always gets a response (langchain-ai/langgraph, pull request 5954). The graph here is a "
        "published one, kept as it was "
        "in `cookbook/published/handbook.py`."
    ),
    transfer=(
        "The product owner does not want refusals: \"Return the draft, and let the page say *could not be "
        "verified*.\" Which field of the answer must then be "
        "different from a verified one, and who reads it besides the page?"
    ),
    answer=(
        "The status, or a field as plain as it: a page is one reader of many. The e-mail, the export, the "
        "semantic cache that "
        "answers the next customer, and the evaluation that counts answers all read the status and the text, "
        "and none reads a "
        "sentence in small print. If unverified drafts may leave, let them leave under a name of their own, "
        "without *answered*."
    ),
    pitfall=(
        "They test for `Support.NONE` and forget that *partially* is not *fully*; or they refuse behind "
        "`check_usefulness`, where the "
        "rejected draft has been judged once more, for money. Ask for the number of calls."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

QUESTION = "Can I export my data after I cancel my plan?"
DRAFTS = (
    "Yes, for a year after you cancel.",
    "Yes, everybody on the team can, for a year.",
    "Yes, at any time.",
)
"""What the writer says, one after the other. The handbook says: the owner, for 30 days."""
SUPPORTED = "Yes, the owner can, for 30 days after the cancellation has taken effect."
LIMIT = 60


# ---------------------------------------------------------------- the graph


def counted(judges: Judges, caps: Caps) -> Any:
    """The published graph with its counter mended, and nothing else."""
    return handbook.build(judges, caps=caps, regenerate=handbook.regenerate_counted)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The handbook graph, compiled, which refuses when no draft became fully supported.

    A rejected draft is written again `caps.regenerations` times at most, as before.
    """
    ### BEGIN SOLUTION

    def after_support(state: State, caps: Caps) -> str:
        if state["support"] is Support.FULLY:
            return "check_usefulness"
        return "regenerate" if state["regenerations"] < caps.regenerations else "refuse"

    return handbook.build(
        judges, caps=caps, regenerate=handbook.regenerate_counted, after_support=after_support
    )
    ### END SOLUTION


def broken() -> Builder:
    return counted


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- one request


@dataclass(frozen=True)
class Request:
    """A run, and the judges that it asked."""

    run: Run
    judges: Judges


def rejected(build: Builder, caps: Caps, *verdicts: Support, drafts: Sequence[str] = DRAFTS) -> Request:
    """A request to a writer of ``drafts`` and a support judge of ``verdicts``; the last of each holds for ever after."""
    judges = Judges(support=in_turn(*verdicts), generate=in_turn(*drafts))
    return Request(run(build(judges, caps), handbook.fresh_state(QUESTION), recursion_limit=LIMIT), judges)


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """Requests that share a graph; a judge that never says yes, two budgets, two kinds of no; one that accepts the second draft."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    if (verdict := counts_outside(candidate, handbook.fresh_state)) is not None:
        return verdict
    spent = []
    for no, budget in ((Support.NONE, 2), (Support.NONE, 1), (Support.PARTIALLY, 2)):
        asked = rejected(candidate, Caps(regenerations=budget), no)
        if (verdict := _refused(asked, no, budget)) is not None:
            return verdict
        spent.append(asked.run.calls)
    asked = rejected(candidate, Caps(), Support.NONE, Support.FULLY, drafts=(DRAFTS[0], SUPPORTED))
    if asked.run.state["status"] is not Status.ANSWERED or asked.run.state["draft"] != SUPPORTED:
        return failed(
            "second_draft_lost",
            f"the judge accepts the second draft, {SUPPORTED!r}, and the request ends with status "
            f"'{asked.run.state['status']}' "
            f"and the text {asked.run.state['draft']!r}. Only what is rejected at the cap is refused",
        )
    return passed(
        f"never supported: refused as not_supported after {spent[0]} calls with two regenerations and "
        f"{spent[1]} with one, also when the "
        "judge says 'partially'. The graph as it was makes 13 and answers. A draft that is accepted in time "
        "is still returned"
    )


def _refused(asked: Request, no: Support, budget: int) -> LabVerdict | None:
    """What is wrong with the end of a request whose drafts were all rejected; None when nothing is."""
    done, state = asked.run, asked.run.state
    saw = f"the judge said '{no}' to {asked.judges.calls['support']} draft{'s' * (asked.judges.calls['support'] != 1)}"
    if not done.ended or done.ran("regenerate") > budget:
        return failed(
            "wrong_count",
            f"{saw}: `caps.regenerations` is {budget} and regenerate ran {times(done, 'regenerate')}. Is it "
            "compared with `<`, and is "
            "`regenerate=handbook.regenerate_counted` still there to count?",
        )
    leaked = next((draft for draft in DRAFTS if draft in state["draft"]), None)
    if state["status"] is Status.ANSWERED and leaked is None:
        return failed(
            "refusal_sold_as_answer",
            f"{saw}, and the text is {state['draft']!r}, but the status is 'answered'. Whoever reads the "
            "status shows it as an answer. "
            "The node `refuse` sets text, status and reason",
        )
    if state["status"] is Status.ANSWERED and state["draft"] != leaked:
        return failed(
            "disclaimer",
            f"{saw}, and {state['draft']!r} went out with status 'answered'. The words around it do not take "
            "the claim back, and "
            f"a program that reads the status never sees them. At the cap `after_support` has to name `refuse`",
        )
    if state["status"] is Status.ANSWERED and no is Support.PARTIALLY:
        return failed(
            "partly_passed",
            f"{saw}, and {leaked!r} went out with status 'answered'. Half of it is supported, and nobody "
            "knows which half. "
            "Only 'fully' goes on to `check_usefulness`",
        )
    if state["status"] is Status.ANSWERED:
        return failed(
            "rejected_and_answered",
            f"{saw}, and {leaked!r} went out with status 'answered' and support '{state['support']}' "
            f"({done.calls} calls). The loop ends "
            "at its cap, and behind the cap is the same node as behind a yes: `after_support` names "
            "`check_usefulness`. There it has to "
            "name `refuse`",
        )
    if done.ran("regenerate") < budget:
        return failed(
            "gives_up_early",
            f"{saw}: `caps.regenerations` is {budget} and regenerate ran {times(done, 'regenerate')}. Refuse "
            "when no regeneration is left",
        )
    if leaked is not None:
        return failed(
            "draft_in_refusal",
            f"{saw}, and the status is 'refused', but the text is still {state['draft']!r}. A page that shows "
            "the text shows the "
            "rejected draft. The node `refuse` puts a fixed sentence there",
        )
    if asked.judges.calls["usefulness"]:
        return failed(
            "judged_for_nothing",
            f"{saw}, and then a draft that nobody will see was judged for its usefulness: {done.calls} calls, "
            "and "
            f"{done.calls - asked.judges.calls['usefulness']} are enough. Refuse behind `check_support`, in "
            "`after_support`",
        )
    if state["reason"] is not Reason.NOT_SUPPORTED:
        return failed(
            "wrong_reason",
            f"{saw}, and the reason of the refusal is {str(state['reason'])!r}; it is '{Reason.NOT_SUPPORTED}'",
        )
    return None
