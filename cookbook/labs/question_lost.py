"""A rewriter that overwrites the question: the answer is judged against what is left of it, and passes.

Taught in notebooks/labs/44_queries.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, unfit
from cookbook.published import handbook
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps, State
from cookbook.published.models import Judges, Shelf, in_turn
from cookbook.published.steps import Update
from cookbook.schema import Relevance, Status, Support, Usefulness

LAB = Lab(
    module=__name__,
    title="The answer to another question",
    difficulty=2,
    minutes=25,
    you_will="keep the question apart from the query, and say which parts of a loop may see which",
    symptom=(
        "A customer asked who may *not* export. She was told who may, and the judge had found that useful. "
        "The same judge had rejected the same answer a moment before."
    ),
    task=(
        "Write `build_graph(judges, caps)`: the same graph, in which only the *search* uses the rewritten "
        "query. Whoever grades, writes, judges or rewrites gets the customer's question, always. The state "
        "has a field `question` and a field `query`, and both begin as the customer's question. "
        "`build(judges, caps, retrieve=my_retrieve, rewrite=my_rewrite)` compiles the graph above with your "
        "nodes in place of its own. A node takes `(state, judges)` and returns the fields that change; "
        "`judges.store.retrieve(query, handbook.K)` searches, `judges.rewrite(question, query, feedback)` "
        "gives the next query, where `query` is the one that failed."
    ),
    hints=(
        "In the trace, look for the row that returned `question`. A customer asks once, so that field should "
        "never be returned by anybody. Which two nodes have to change so that the search still gets the new "
        "words?",
        "`my_rewrite` returns `{\"query\": judges.rewrite(state[\"question\"], state[\"query\"], "
        "state[\"feedback\"]), \"rewrites\": state[\"rewrites\"] + 1}`, and `my_retrieve` searches for "
        "`state[\"query\"]`. No other node has to change: they read `state[\"question\"]` already.",
    ),
    in_the_wild=(
        "LangGraph's own example of Self-RAG has one field for both: `transform_query` returns "
        "`\"question\": better_question`, and the function that judges the answer reads `question` "
        "(langchain-ai/langgraph, `examples/rag/langgraph_self_rag.ipynb`, and much code that followed it). "
        "Users notice: \"User's original question was changed\" (infiniflow/ragflow, issue 5700)."
    ),
    transfer=(
        "A chat rewrites \"And on the other plan?\" into \"How many guests may a Starter workspace have?\" "
        "before anything else runs. Here the judge should see the rewritten question. What is different, and "
        "what must be true of the rewrite so that you can allow it?"
    ),
    answer=(
        "That rewrite completes the question with words the customer said before; a search query leaves "
        "words out. It is made once, before the loop, and is the question from then on. It may add what the "
        "conversation holds and take nothing away, which can be checked (every constraint of the message is "
        "still there), and showing it to the customer (\"I read this as ...\") lets her say no."
    ),
    pitfall=(
        "They stop the overwriting in `rewrite` and forget that `retrieve` reads the same field. Every judge "
        "is right again, and each rewrite is paid for and searched for nobody. Let them print "
        "`judges.store.queries`."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

QUESTION = "Who is not allowed to export anything?"
REWRITES = ("who can export", "viewers and guests")
"""What the rewriter says, one after the other. Only the second thinks of the people who are left out."""
MAY = "The owner and admins can export the whole workspace."
MAY_NOT = "Viewers and guests cannot export anything."
LIMIT = 60
"""Supersteps after which a run is stopped here: three passes take eighteen."""


# ---------------------------------------------------------------- the graph


def search_question(state: State, judges: Judges) -> Update:
    return {"hits": judges.store.retrieve(state["question"], handbook.K)}


def rewrite_question(state: State, judges: Judges) -> Update:
    better = judges.rewrite(state["question"], state["question"], state["feedback"])
    return {"question": better, "rewrites": state["rewrites"] + 1}


def build(judges: Judges, caps: Caps, **swaps: Callable[..., Any]) -> Any:
    """The handbook graph with one field for question and query, compiled; nodes are replaced by name."""
    nodes: dict[str, Any] = {"retrieve": search_question, "rewrite": rewrite_question}
    return handbook.build(judges, caps=caps, **nodes | swaps)


def one_field(judges: Judges, caps: Caps) -> Any:
    """The graph as it was."""
    return build(judges, caps)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The graph, compiled, in which rewriting changes what is searched for and nothing else.

    Each rewrite is made from the customer's question and the query that failed, and is counted in `rewrites`.
    """
    ### BEGIN SOLUTION

    def retrieve(state: State, judges: Judges) -> Update:
        return {"hits": judges.store.retrieve(state["query"], handbook.K)}

    def rewrite(state: State, judges: Judges) -> Update:
        query = judges.rewrite(state["question"], state["query"], state["feedback"])
        return {"query": query, "rewrites": state["rewrites"] + 1}

    return build(judges, caps, retrieve=retrieve, rewrite=rewrite)
    ### END SOLUTION


def broken() -> Builder:
    return one_field


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- one request


@dataclass
class Request:
    """A run; ``heard`` is who was asked about which question, ``failed`` the query each rewrite started from."""

    run: Run
    searched: list[str]
    heard: list[tuple[str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def asked(self, who: str) -> list[str]:
        """The questions that one kind of call was given, in order."""
        return [question for kind, question in self.heard if kind == who]


def ask(build: Builder, *, drafts: tuple[str, ...] = (MAY, MAY, MAY_NOT)) -> Request:
    """One request. The writer says ``drafts``, one after the other; the judge of usefulness takes a question at its word."""
    heard: list[tuple[str, str]] = []
    failed_queries: list[str] = []
    rewrites = in_turn(*REWRITES)

    def listening(kind: str, reply: Callable[..., Any]) -> Callable[..., Any]:
        def answer(question: str, *given: Any) -> Any:
            heard.append((kind, question))
            return reply(question, *given)

        return answer

    def useful(question: str, draft: str) -> Usefulness:
        fits = ("not" in question.lower().split()) == ("cannot" in draft)
        return Usefulness.USEFUL if fits else Usefulness.NOT_USEFUL

    def rewrite(question: str, query: str, feedback: str = "") -> Any:
        failed_queries.append(query)
        return rewrites()

    shelf = Shelf.of("larkspur")
    judges = Judges(
        shelf,
        relevance=listening("relevance", lambda *given: Relevance.RELEVANT),
        generate=listening("generate", in_turn(*drafts)),
        support=listening("support", lambda *given: Support.FULLY),
        usefulness=listening("usefulness", useful),
        rewrite=listening("rewrite", rewrite),
    )
    done = run(build(judges, Caps()), handbook.fresh_state(QUESTION), recursion_limit=LIMIT)
    return Request(done, shelf.queries, heard, failed_queries)


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """A request in which two drafts are rejected, where it listens to what everybody is asked; then one that never ends well."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    request = ask(candidate)
    if (verdict := _question_kept(request) or _query_used(request)) is not None:
        return verdict
    if (verdict := _counted(ask(candidate, drafts=(MAY,)))) is not None:
        return verdict
    return passed(
        f"{len(request.heard)} calls heard {QUESTION!r}, the store was asked {_quoted(request.searched)}, "
        f"and the third draft is returned: {request.run.state['draft']!r} ({request.run.calls} calls). The "
        "graph as it was stopped at the second, after 18"
    )


def _question_kept(request: Request) -> LabVerdict | None:
    """Who heard another question than the customer's; None when nobody did."""
    strangers = {who: others for who in _WHO if (others := [q for q in request.asked(who) if q != QUESTION])}
    if not strangers:
        return None
    who, others = next(iter(strangers.items()))
    saw = f"{_WHO[who]} was asked about {others[0]!r} ({len(others)} of {len(request.asked(who))} times)"
    if "usefulness" not in strangers:
        return failed(
            "half_of_them_hear_it",
            f"{saw}, while the judge of usefulness got the customer's question. Whoever grades, writes or "
            "checks against another question does other work than the one that was asked for. Do not give "
            "the question back to some of them: never overwrite it",
        )
    if all("not" in question.lower().split() for question in others):
        return failed(
            "question_changed",
            f"the customer asked {QUESTION!r}, and {saw}. Nothing is lost from it yet; but everybody now "
            "works on a text that she did not write, and the next rewriter starts from there. Leave the "
            "field `question` alone",
        )
    return failed(
        "question_overwritten",
        f"the customer asked {QUESTION!r}, and {saw}. The word `not` is gone. The request ended with "
        f"{request.run.state['draft']!r}, status '{request.run.state['status']}': the answer did not "
        "improve, the question was made to fit it. A node returned the field `question`; a rewrite belongs "
        "into `query`",
    )


def _query_used(request: Request) -> LabVerdict | None:
    """What is wrong with the rewrites and the searches; None when nothing is."""
    done, made = request.run, len(request.asked("rewrite"))
    if made == 0:
        return failed(
            "never_rewritten",
            "two drafts were rejected and the rewriter was never called; the store was asked "
            f"{_quoted(request.searched)}. The question is safe, and the loop is gone",
        )
    if len(set(request.searched)) == 1 and made:
        return failed(
            "query_not_searched",
            f"{made} rewrites were paid for, and the store was asked {QUESTION!r} {len(request.searched)} "
            "times. The new query stands in a field that `retrieve` does not read",
        )
    if request.searched != [QUESTION, *REWRITES]:
        return failed(
            "other_query_searched",
            f"the rewriter said {_quoted(REWRITES)}, and the store was asked {_quoted(request.searched)}. "
            "Search for what the rewriter said, as it said it",
        )
    if request.failed != [QUESTION, REWRITES[0]]:
        return failed(
            "same_query_named_as_failed",
            f"the second rewrite was told that {request.failed[1]!r} had failed; it was {REWRITES[0]!r} that "
            "failed. Give `judges.rewrite` the question *and* the last query, or it may say the same again",
        )
    if done.state["status"] is not Status.ANSWERED or done.state["draft"] != MAY_NOT:
        return failed(
            "answer_lost",
            f"the third draft, {MAY_NOT!r}, is the right one, and the request ended with "
            f"{done.state['draft']!r}, status '{done.state['status']}'",
        )
    return None


def _counted(request: Request) -> LabVerdict | None:
    """What is wrong with the end of a request that no draft ever answers; None when nothing is."""
    made, state = len(request.asked("rewrite")), request.run.state
    if made != Caps().rewrites or state["status"] is not Status.REFUSED:
        return failed(
            "rewrites_not_counted",
            f"when no draft answers the question, the rewriter runs {made} "
            f"times{'' if request.run.ended else ' until the run is stopped'}, `rewrites` stands at "
            f"{state['rewrites']} and the status is '{state['status']}'; `caps.rewrites` is "
            f"{Caps().rewrites}, and then it refuses. The node that rewrites also returns the count plus one",
        )
    return None


def _quoted(texts: Any) -> str:
    return ", ".join(repr(text) for text in texts)


_WHO = {
    "usefulness": "the judge of usefulness",
    "relevance": "the grader of passages",
    "generate": "the writer",
    "support": "the judge of support",
    "rewrite": "the rewriter",
}
