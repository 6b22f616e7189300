"""A grounded answer is thrown away when a later search finds nothing, and its verdict is left beside the refusal.

Taught in notebooks/labs/42_endings.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, unfit
from cookbook.published import revise
from cookbook.published.graphs import Run, run
from cookbook.published.models import Judges, in_turn
from cookbook.published.revise import NO_ANSWER, Caps
from cookbook.published.steps import Update
from cookbook.schema import Relevance, Status, Support, Usefulness

LAB = Lab(
    module=__name__,
    title="A refusal that is fully supported",
    difficulty=3,
    minutes=30,
    you_will="carry the best result so far through a loop, and clear what belongs to an earlier round before a request ends",
    symptom=(
        "The page said \"No answer found.\" beside a green tick, *fully supported*. In the log of the same "
        "request stands an answer that "
        "the passages do support."
    ),
    task=(
        "Write `build_graph(judges, caps)`. The state has one more field, `found`. When the request ends in "
        "`no_answer`, `found` must hold "
        "the draft that was fully supported and judged not useful in an earlier round (any of them, if there "
        "were several; \"\" if there was none), and "
        "`support`, `usefulness` and `evidence` must be `None`, `None` and `()`: they are about a draft that "
        "is not the text. "
        "Status and text of the refusal stay. `revise.build(judges, caps=caps, schema=State, "
        "check_usefulness=my_node, ...)` compiles the published "
        "graph with your nodes in place of its own; a node takes `(state, judges)` and returns the fields "
        "that it changes. `revise.no_answer(state, "
        "judges)` and the others are there to be called."
    ),
    hints=(
        "In which node do both verdicts on the first draft become known? And which fields does the last row "
        "of the trace not name?",
        "Replace two nodes. `check_usefulness` returns what it did and, when support is fully and the verdict "
        "is not useful, "
        "`\"found\": state[\"draft\"]` too. `no_answer` returns what it did and the three fields cleared.",
    ),
    in_the_wild=(
        "At its last iteration a revising agent returned the last response, with a placeholder for a text, "
        "though the one before had met "
        "nearly every criterion (langchain-ai/deepagents, issue 5110, seen in production). The graph here is "
        "a published one, kept as it was in "
        "`cookbook/published/revise.py`."
    ),
    transfer=(
        "A support agent is to see `found` beside the refusal. Under which heading may the page show it, and "
        "why is it no answer, although every word of it "
        "is supported?"
    ),
    answer=(
        "Under one that says what it is: *the handbook says this, and it may not resolve the question*. "
        "Support asks whether the passages "
        "say it, usefulness whether the question asked for it; \"Exports come as CSV or JSON\" is true, "
        "supported, and no answer to *may I "
        "still export?*. `Answer.found` in this cookbook is that field: `show` prints it under such a "
        "heading, and only beside a refusal."
    ),
    pitfall=(
        "They keep every draft that comes by, the unsupported ones too; or they return the kept draft as an "
        "answer, against the verdict of the usefulness "
        "judge. Let them name the two verdicts that a draft needs to be kept, and the one it lacks to be an "
        "answer."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]


class State(revise.State):
    """One request, and the best that it found so far: "" until there is something."""

    found: str


def fresh_state(question: str) -> State:
    return State(**revise.fresh_state(question), found="")


# ---------------------------------------------------------------- the graph


def published(judges: Judges, caps: Caps) -> Any:
    """The graph as it was; nothing fills the new field."""
    return revise.build(judges, caps=caps, schema=State)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The revise graph, compiled: a refusal brings the supported draft of an earlier round and no stale verdict.

    An answered request ends as before.
    """
    ### BEGIN SOLUTION

    def check_usefulness(state: State, judges: Judges) -> Update:
        update = revise.check_usefulness(state, judges)
        if state["support"] is Support.FULLY and update["usefulness"] is Usefulness.NOT_USEFUL:
            update["found"] = state["draft"]
        return update

    def no_answer(state: State, judges: Judges) -> Update:
        return {**revise.no_answer(state, judges), "support": None, "usefulness": None, "evidence": ()}

    return revise.build(
        judges, caps=caps, schema=State, check_usefulness=check_usefulness, no_answer=no_answer
    )
    ### END SOLUTION


def broken() -> Builder:
    return published


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- one request

QUESTION = "Can I export my data after I cancel my plan?"
GROUNDED = "Start an export under Settings > Data > Export."
INVENTED = "Everybody can export for a year."
RESOLVES = "Yes, the owner can, for 30 days."
YES, NO = Relevance.RELEVANT, Relevance.IRRELEVANT
FULLY, NONE = Support.FULLY, Support.NONE
USEFUL, USELESS = Usefulness.USEFUL, Usefulness.NOT_USEFUL


def ask(
    build: Builder,
    *rounds: tuple[str, Support],
    then: Relevance = NO,
    usefulness: Sequence[Usefulness] = (USELESS,),
) -> Run:
    """One request: a draft and its support for each round with relevant passages; after them a search finds ``then``.

    Nothing is revised: a draft that is not supported stays as it is, and so does the verdict.
    """
    judges = Judges(
        relevance=in_turn(*[YES] * 5 * len(rounds), then),
        generate=in_turn(*[draft for draft, _ in rounds], ""),
        support=lambda question, draft, hits: (dict(rounds)[draft], (draft,)),
        usefulness=in_turn(*usefulness),
        rewrite=in_turn("export after cancellation", "data retention"),
    )
    return run(build(judges, Caps()), fresh_state(QUESTION))


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """Five requests: four that end with nothing relevant, after rounds that did and did not find something; one answered."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    for saw, rounds, found in (
        ("round 1 wrote a draft that is fully supported and not useful, and round 2 found nothing relevant", ((GROUNDED, FULLY),), GROUNDED),
        ("round 1 wrote a draft that nothing supports, and round 2 found nothing relevant", ((INVENTED, NONE),), ""),
        ("round 1 wrote a supported draft, round 2 one that nothing supports, and round 3 found nothing relevant", ((GROUNDED, FULLY), (INVENTED, NONE)), GROUNDED),
        ("the first search found nothing relevant", (), ""),
    ):  # fmt: skip
        if (verdict := _refused(ask(candidate, *rounds), saw, found)) is not None:
            return verdict
    done = ask(candidate, (GROUNDED, FULLY), (RESOLVES, FULLY), then=YES, usefulness=(USELESS, USEFUL))
    state = done.state
    if (state["status"], state["draft"], state["support"]) != (Status.ANSWERED, RESOLVES, FULLY):
        return failed(
            "answer_spoiled",
            f"round 2 wrote a draft that is supported and useful, {RESOLVES!r}: the request ends with status "
            f"'{state['status']}', support "
            f"{_said(state['support'])} and the text {state['draft']!r}. An answered request ends as before",
        )
    return passed(
        f"a refusal after a supported draft brings {GROUNDED!r} in `found` and no verdict; what nothing "
        "supports is not kept; an "
        "answer in round 2 is returned as before"
    )


def _refused(done: Run, saw: str, found: str) -> LabVerdict | None:
    """What is wrong with the end of a request whose last search found nothing relevant; None when nothing is."""
    state = done.state
    stale = {name: state[name] for name in ("support", "usefulness", "evidence") if state[name]}
    beside = ", ".join(f"{name} {_said(value)}" for name, value in stale.items())
    if state["status"] is not Status.REFUSED:
        return failed(
            "not_useful_and_answered",
            f"{saw}: the request ends with status '{state['status']}' and the text {state['draft']!r}. The "
            "usefulness judge said that it does "
            "not resolve the question: keep it in `found`, beside the refusal",
        )
    if state["draft"] != NO_ANSWER:
        return failed(
            "draft_in_refusal",
            f"{saw}: the status is 'refused' and the text is {state['draft']!r}; it is {NO_ANSWER!r}. What "
            "was found has a field of its own, `found`",
        )
    if stale and found and not state["found"]:
        return failed(
            "overwritten",
            f"{saw}: the text is {NO_ANSWER!r}, `found` is empty, and beside it stand {beside}, which were "
            f"said of the draft {found!r}. "
            "Keep that draft in `found` when it is judged, and clear the three fields in `no_answer`",
        )
    if found and not state["found"]:
        return failed(
            "answer_lost",
            f"{saw}: nothing stale is left, and `found` is empty. The draft was {found!r}. Both its verdicts "
            "are known in "
            "`check_usefulness`, before the next round writes over it",
        )
    if state["found"] and state["found"] != found:
        return failed(
            "unsupported_kept",
            f"{saw}: `found` is {state['found']!r} and should be {found!r}. Only a draft whose support is "
            "'fully' is worth keeping",
        )
    if stale:
        return failed(
            "stale_verdict",
            f"{saw}: beside {NO_ANSWER!r} still stand {beside}. They were said of an earlier draft; a node "
            "that changes the text has to clear them",
        )
    return None


def _said(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, tuple) else f"'{value}'"
