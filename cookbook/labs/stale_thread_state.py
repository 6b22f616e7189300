"""A second question in the same thread: it begins with the query, the counters and the verdicts of the first.

Taught in notebooks/labs/47_leaks.ipynb.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cookbook.errors import ProviderUnavailable
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published import handbook
from cookbook.published.handbook import Caps, State
from cookbook.published.models import Judges, Shelf, gold, in_turn
from cookbook.schema import Support, Trace, Usefulness
from cookbook.tracing import request

LAB = Lab(
    module=__name__,
    title="The second question of a conversation",
    difficulty=3,
    minutes=25,
    you_will=(
        "tell which fields of a graph's state belong to a request and which to the conversation, and begin a "
        "request clean"
    ),
    symptom=(
        "The assistant answers every question of the test set. In a chat it answers the first and refuses "
        "the next. Asked again in a new chat, it knows the answer."
    ),
    task=(
        "Write `send(graph, thread, question)`: one turn of a conversation. `graph.invoke(update, "
        "{\"configurable\": {\"thread_id\": thread}})` runs the graph on a thread and returns its state. "
        "LangGraph first loads what the thread held, then writes `update` over it, field by field. Give "
        "every request a clean start, as in a new thread, and keep the conversation: the field `asked` "
        "collects the questions of the thread. It has a reducer, so `\"asked\": [question]` in an update "
        "*adds* the question."
    ),
    hints=(
        "Compare the two columns of the table above, field by field. Which of these values would you want to "
        "find when a new question arrives? Whoever calls the graph can write any of them.",
        "`handbook.fresh_state(question)` holds every field of a request at its start, and knows nothing of "
        "`asked`. Send it together with `\"asked\": [question]`, at the *beginning* of a turn: a turn may "
        "end in an error, and then nothing after it runs.",
    ),
    in_the_wild=(
        "LangGraph keeps all fields of a thread; a maintainer's issue asks for a way to say that some last "
        "for one run only (langchain-ai/langgraph, issue 6229). Until then it is found by hand: an agent on "
        "LangGraph4j gave the answer to its first question to every later one, because `agent_response` was "
        "still set when the next run began (prasadgaikwad/langchain4j-demo, issue 249)."
    ),
    transfer=(
        "A colleague resets the fields in a node at the *end* of the graph, so that a finished request "
        "leaves a clean thread. In the tests that works. In which two ways can a request leave the graph "
        "without passing that node?"
    ),
    answer=(
        "An error: a provider that times out, a budget that is used up, the recursion limit; what was "
        "checkpointed before stays. An interrupt: the graph waits for a person, who closes the window and "
        "asks something else tomorrow. Cleaning up belongs where every request passes, and that is only the "
        "beginning."
    ),
    pitfall=(
        "They take a new thread id for each question: everything is clean, and \"And on the other plan?\" "
        "has nothing to refer to. Or they reset the fields they have seen go wrong, `query` and `rewrites`, "
        "and the old feedback still reaches the rewriter. Ask for the list of *all* fields, and let them "
        "argue about each."
    ),
)  # fmt: skip


class Chat(State):
    """The state of a thread: the fields of the request in progress, and ``asked``, which grows."""

    asked: Annotated[list[str], operator.add]


Send = Callable[[Any, str, str], Mapping[str, Any]]

EXPORT = "Can I export my data after I cancel my plan?"
CARD = "I binned a single card last month. Is it gone for good?"
PRICE = "How much does the starter plan cost per month?"
REWRITES = {
    EXPORT: ("export window", "retention window owner"),
    CARD: ("restore a deleted task",),
    PRICE: ("price of starter",),
}
"""What the rewriter says to each question, one after the other."""
NO, YES = Usefulness.NOT_USEFUL, Usefulness.USEFUL
DOWN = "the judge did not answer within 60 s; try again later"


# ---------------------------------------------------------------- the code


def send_question(graph: Any, thread: str, question: str) -> Mapping[str, Any]:
    """One turn, as it was: a new thread begins with all fields, a known one goes on with the next question."""
    config = {"configurable": {"thread_id": thread}}
    known = graph.get_state(config).values
    update: dict[str, Any] = {"question": question} if known else {**handbook.fresh_state(question)}
    found: Mapping[str, Any] = graph.invoke({**update, "asked": [question]}, config)
    return found


def send(graph: Any, thread: str, question: str) -> Mapping[str, Any]:
    """Answer `question` on `thread` as in a new thread, and add it to what was `asked` there; the state afterwards."""
    ### BEGIN SOLUTION
    update = {**handbook.fresh_state(question), "asked": [question]}
    found: Mapping[str, Any] = graph.invoke(update, {"configurable": {"thread_id": thread}})
    return found
    ### END SOLUTION


def broken() -> Send:
    return send_question


def solution() -> Send:
    return send


# ---------------------------------------------------------------- a conversation


@dataclass(frozen=True)
class Turn:
    """One question and what came of it: ``before`` is what the thread held, ``after`` what the turn left.

    ``searched`` are the queries the store got, ``told`` the feedback the rewriter got, ``error`` what ended it early.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    searched: list[str]
    told: list[str]
    trace: Trace
    meter: Meter
    error: str = ""


def _after_grades(state: State, caps: Caps) -> Literal["generate", "rewrite", "refuse"]:
    if state["kept"]:
        return "generate"
    return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"


def talk(send: Send, *questions: str, thread: str = "anna", down: bool = False) -> list[Turn]:
    """A conversation on one graph with a memory. The first answer needs a regeneration and two rewrites.

    With ``down`` the judge of usefulness times out in the first turn, after those rewrites.
    """
    told: list[str] = []
    replies = {question: in_turn(*rewrites) for question, rewrites in REWRITES.items()}
    supported = in_turn(Support.NONE, Support.FULLY)
    judged = in_turn(NO, NO, ProviderUnavailable(DOWN) if down else YES, YES)

    def rewrite(question: str, query: str, feedback: str = "") -> Any:
        told.append(feedback)
        return replies[question]()

    def useful(question: str, draft: str) -> Usefulness:
        found = judged() if question == EXPORT else YES
        if isinstance(found, Exception):
            raise ProviderUnavailable(DOWN)
        return Usefulness(found)

    shelf = Shelf.of("larkspur")
    judges = Judges(
        shelf,
        relevance=gold("larkspur"),
        support=lambda question, *given: supported() if question == EXPORT else Support.FULLY,
        usefulness=useful,
        rewrite=rewrite,
    )
    graph = handbook.build(
        judges, schema=Chat, regenerate=handbook.regenerate_counted, after_grades=_after_grades
    )
    graph.checkpointer = _memory()
    config: Any = {"configurable": {"thread_id": thread}}
    turns = []
    for question in questions:
        before, queries, feedbacks = graph.get_state(config).values, len(shelf.queries), len(told)
        error, after = "", {}
        with (
            request(question, system="chat", model="scripted") as trace,
            metered(Meter()) as meter,
        ):
            try:
                after = dict(send(graph, thread, question))
            except ProviderUnavailable as failure:
                error = str(failure)
        turns.append(Turn(before, after, shelf.queries[queries:], told[feedbacks:], trace, meter, error))
    return turns


def _memory() -> Any:
    """A checkpointer that keeps threads in memory, and may read our own types back."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    types = "Retrieve Support Usefulness Status Reason ScoreKind Chunk Hit".split()
    return InMemorySaver(
        serde=JsonPlusSerializer(allowed_msgpack_modules=[("cookbook.schema", name) for name in types])
    )


# ---------------------------------------------------------------- the check


@guard(returns="the state of the thread, which `graph.invoke` returns")
def check(candidate: Send) -> LabVerdict:
    """Two conversations and one whose first turn breaks off; each second turn is compared with the same question in a new thread."""
    for second, down in ((CARD, False), (PRICE, False), (CARD, True)):
        [first, turn] = talk(candidate, EXPORT, second, down=down)
        [fresh] = talk(send_question, second)
        for verdict in (_memory_kept(turn, second), _clean(turn, fresh, second, down)):
            if verdict is not None:
                return verdict
        if not down and first.after.get("draft") != talk(send_question, EXPORT)[0].after["draft"]:
            return failed(
                "first_turn_changed",
                f"the first question of a thread, {EXPORT!r}, is now answered with {first.after.get('draft')!r}",
            )
    again = talk(candidate, EXPORT, CARD)[1]
    return passed(
        f"{CARD!r} as second question: searched for in its own words first, answered after "
        f"{again.meter.calls} calls as in a new thread, also when the turn before broke off; and the thread "
        f"remembers both questions. As it was, the search was for {REWRITES[EXPORT][1]!r}, and it refused "
        "after 6 calls"
    )  # fmt: skip


def _memory_kept(turn: Turn, second: str) -> LabVerdict | None:
    """What the thread forgot; None when it holds both questions."""
    asked = list(turn.after.get("asked", []))
    if asked == [EXPORT, second]:
        return None
    saw = f"after two questions the thread's `asked` is {asked!r}"
    if second in asked and EXPORT not in asked:
        return failed(
            "memory_lost",
            f"{saw}. The first question is gone: the second was not sent to the thread it belongs to, or the "
            "thread was deleted",
        )
    if second not in asked:
        return failed(
            "turn_not_remembered",
            f'{saw}. {second!r} is missing; send `"asked": [question]` with each turn',
        )
    return failed(
        "remembered_twice", f"{saw}. `asked` has a reducer that adds: send the new question only, once"
    )


def _clean(turn: Turn, fresh: Turn, second: str, down: bool) -> LabVerdict | None:
    """Where the second turn differs from the same question in a new thread; None when nowhere."""
    when = "after a turn that broke off in an error" if down else f"after {EXPORT!r}"
    saw = f"{second!r}, asked {when}"
    if turn.error or not turn.searched:
        return failed(
            "turn_lost", f"{saw}: the turn ended in {turn.error or 'nothing, the store was not asked'!r}"
        )
    if down and turn.searched != fresh.searched:
        return failed(
            "reset_comes_too_late",
            f"{saw}: searches made for it {len(turn.searched)}, in a new thread {len(fresh.searched)}. It "
            f"arrived with `rewrites` at {turn.before['rewrites']} of {Caps().rewrites}: what cleans up "
            "after a turn does not run when the turn fails. Clean up at the beginning",
        )
    if turn.searched[0] != second:
        return failed(
            "old_query_searched",
            f"{saw}: the store was asked {turn.searched[0]!r}. That is the last query of the *first* "
            "question: `query` was not in the update, so it kept its value, and so did `rewrites`, "
            f"{turn.before['rewrites']}. The request ends after {turn.meter.calls} calls with status "
            f"'{turn.after.get('status')}'; in a new thread it makes {fresh.meter.calls}",
        )
    if turn.told != fresh.told:
        told = next((text for text in turn.told if text), "")
        if len(turn.told) < len(fresh.told):
            return failed(
                "budget_used_up",
                f"{saw}: rewrites made for it {len(turn.told)}, in a new thread {len(fresh.told)}. It "
                f"arrived with `rewrites` at {turn.before['rewrites']} of {Caps().rewrites}: the first "
                "question had spent them",
            )
        return failed(
            "feedback_leaks",
            f"{saw}: the rewriter was told {told!r}. That is about the answer to the *first* question; "
            "`feedback` was not in the update",
        )
    stale = [
        name
        for name in handbook.State.__annotations__
        if name != "hits" and turn.after.get(name) != fresh.after[name]
    ]
    if stale:
        name = stale[0]
        return failed(
            "stale_fields",
            f"{saw}: the state ends with `{name}` = {_said(turn.after.get(name))}, in a new thread with "
            f"{_said(fresh.after[name])} (in all {len(stale)}: {', '.join(stale)}). Whoever reads the state "
            "reads a verdict on another question",
        )
    return None


def _said(value: Any) -> str:
    return f"'{value}'" if value is not None else "None"
