"""The handbook graph: grade each passage, check the answer twice, rewrite or regenerate, or refuse.

Three loops around retrieve-and-generate, each with its own counter and its own cap:
no relevant passage -> rewrite the query; not supported -> regenerate with the checker's feedback;
not useful -> rewrite with that feedback. A loop that would only repeat itself ends early: a passage is
graded once, a query tried before stops the search, and a draft that comes back word for word sends the
search to other passages. Counters move in nodes, routers only read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers.meter import Budget
from cookbook.reflect.gate import Gate, LLMGate
from cookbook.reflect.generate import Draft, LLMWriter, Writer
from cookbook.reflect.refuse import refusal
from cookbook.reflect.relevance import LLMRelevance, RelevanceGrader, kept
from cookbook.reflect.rewrite import LLMRewriter, Rewriter
from cookbook.reflect.support import LLMSupport, SupportGrader
from cookbook.reflect.usefulness import LLMUsefulness, UsefulnessGrader
from cookbook.schema import (
    Answer,
    Hit,
    Provenance,
    Reason,
    Relevance,
    Retrieve,
    Status,
    Support,
    Trace,
    Usefulness,
    Verdict,
)
from cookbook.systems.base import Parts, run_request
from cookbook.tracing import step

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

NAME = "handbook_graph"


@dataclass(frozen=True)
class Caps:
    """How often each loop may run in one request."""

    rewrites: int = 2
    regenerations: int = 2

    def calls(self, k: int) -> int:
        """The most LLM calls a request can make: the gate, each round's k grades, one draft, two
        checks, the rewrites between rounds, and a draft with its support check per regeneration."""
        rounds = self.rewrites + 1
        return 1 + rounds * (k + 3) + self.rewrites + 2 * self.regenerations

    def supersteps(self) -> int:
        """The most nodes on a path: gate, five nodes a round, the rewrites, two per regeneration, the end."""
        return 1 + 5 * (self.rewrites + 1) + self.rewrites + 2 * self.regenerations + 1


class State(TypedDict):
    """One request. ``question`` is never overwritten. ``judged`` remembers the grade of every passage by
    its chunk id, because a passage that comes back after a rewrite need not be paid for twice. The hits,
    the draft and the checks belong to the current round and are replaced, never appended to."""

    question: str
    retrieval_query: str
    tried: list[str]
    hits: list[Hit]
    judged: dict[str, Verdict[Relevance]]
    keeps: list[Hit]
    draft: Draft | None
    repeated: bool
    feedback: str
    gate: Verdict[Retrieve] | None
    support: Verdict[Support] | None
    usefulness: Verdict[Usefulness] | None
    rewrites: int
    regenerations: int
    failure: str


def fresh_state(question: str) -> State:
    """Every field set, so that nothing of an earlier question survives on a reused thread."""
    return State(
        question=question,
        retrieval_query=question,
        tried=[],
        hits=[],
        judged={},
        keeps=[],
        draft=None,
        repeated=False,
        feedback="",
        gate=None,
        support=None,
        usefulness=None,
        rewrites=0,
        regenerations=0,
        failure="",
    )


class HandbookGraph:
    """The system. ``graph`` is the compiled LangGraph; ``answer`` runs one question through it.

    Graders default to the LLM behind ``parts.client``; any of them can be replaced by keyword.
    The call budget and the recursion limit are derived from ``caps``.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        caps: Caps | None = None,
        budget: Budget | None = None,
        gate: Gate | None = None,
        relevance: RelevanceGrader | None = None,
        writer: Writer | None = None,
        support: SupportGrader | None = None,
        usefulness: UsefulnessGrader | None = None,
        rewriter: Rewriter | None = None,
        checkpointer: Any = None,
    ) -> None:
        self.parts = parts
        self.caps = caps or Caps()
        self.budget = budget or Budget(self.caps.calls(parts.k))
        self.gate = gate or LLMGate(parts.client, parts.card)
        self.relevance = relevance or LLMRelevance(parts.client)
        self.writer = writer or LLMWriter(parts.client)
        self.support = support or LLMSupport(parts.client)
        self.usefulness = usefulness or LLMUsefulness(parts.client)
        self.rewriter = rewriter or LLMRewriter(parts.client, parts.card)
        self.graph = self._build(checkpointer)

    # ------------------------------------------------------------ the graph

    def _build(self, checkpointer: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(State)
        nodes = {
            "decide_retrieval": self._decide_retrieval,
            "answer_directly": self._answer_directly,
            "retrieve": self._retrieve,
            "grade": self._grade,
            "generate": self._generate,
            "check_support": self._check_support,
            "regenerate": self._regenerate,
            "check_usefulness": self._check_usefulness,
            "rewrite": self._rewrite,
            "refuse": self._refuse,
        }
        for name, node in nodes.items():
            graph.add_node(name, node)
        routes = {
            "decide_retrieval": (self._after_gate, ["retrieve", "answer_directly"]),
            "grade": (self._after_grades, ["generate", "rewrite", "refuse"]),
            "generate": (self._after_draft, ["check_support", "rewrite", "refuse"]),
            "regenerate": (self._after_draft, ["check_support", "rewrite", "refuse"]),
            "check_support": (self._after_support, ["check_usefulness", "regenerate", "refuse"]),
            "check_usefulness": (self._after_usefulness, [END, "rewrite", "refuse"]),
            "rewrite": (self._after_rewrite, ["retrieve", "refuse"]),
        }
        graph.add_edge(START, "decide_retrieval")
        graph.add_edge("retrieve", "grade")
        for name, (router, targets) in routes.items():
            graph.add_conditional_edges(name, router, targets)
        graph.add_edge("answer_directly", END)
        graph.add_edge("refuse", END)
        return graph.compile(checkpointer=checkpointer, name=NAME)

    def answer(self, question: str, *, thread_id: str = "default") -> Answer:
        """Run one question. Raises ConfigError for an empty one; refuses rather than guesses."""

        def body(trace: Trace) -> Answer:
            # One more than the longest path: LangGraph raises when the limit is reached, done or not.
            config: RunnableConfig = {
                "recursion_limit": self.caps.supersteps() + 1,
                "configurable": {"thread_id": thread_id},
            }
            return self._to_answer(cast(State, self.graph.invoke(fresh_state(question), config)), trace)

        return run_request(self.parts, NAME, question, self.budget, body)

    # ------------------------------------------------------------ nodes: they act, and they count

    def _decide_retrieval(self, state: State) -> dict[str, Any]:
        with step("decide_retrieval"):
            return {"gate": self.gate.decide(state["question"])}

    def _answer_directly(self, state: State) -> dict[str, Any]:
        with step("answer_directly") as entry:
            try:
                text = self.parts.client.chat(
                    prompts.DIRECT.messages(question=prompts.as_data(state["question"]))
                )
            except GRADER_FAILURES as error:
                entry.note = str(error)
                return {"failure": str(error)}
            entry.note = "from the model's memory, no passage was read"
            return {"draft": Draft(text=text.strip())}

    def _retrieve(self, state: State) -> dict[str, Any]:
        query = state["retrieval_query"]
        with step("retrieve") as entry:
            hits = self.parts.retriever.retrieve(query, self.parts.k)
            entry.note = f"{len(hits)} passages for: {query}"
        # Verdicts and drafts of an earlier round would be stale from here on.
        return {
            "hits": hits,
            "tried": [*state["tried"], query],
            "keeps": [],
            "draft": None,
            "repeated": False,
            "support": None,
            "usefulness": None,
            "feedback": "",
        }

    def _grade(self, state: State) -> dict[str, Any]:
        hits = state["hits"]
        with step("grade") as entry:
            fresh = [hit for hit in hits if hit.chunk_id not in state["judged"]]
            grades = self.relevance.grade(state["question"], fresh) if fresh else []
            # A failed grade is not remembered: should the passage come back, it is asked again.
            judged = state["judged"] | {v.subject: v for v in grades if not v.failed}
            keeps = kept(hits, [*judged.values(), *grades])
            failed = sum(verdict.failed for verdict in grades)
            entry.note = (
                f"kept {len(keeps)} of {len(hits)}"
                + (f", {len(hits) - len(fresh)} judged before" if len(fresh) < len(hits) else "")
                + (f", {failed} not graded" if failed else "")
            )
        # What nobody could judge is no "no": with nothing kept, a rewrite would only look away from it.
        failure = "no new passage could be graded" if grades and failed == len(grades) and not keeps else ""
        return {"judged": judged, "keeps": keeps, "failure": failure}

    def _generate(self, state: State) -> dict[str, Any]:
        with step("generate") as entry:
            return self._write(state, entry)

    def _regenerate(self, state: State) -> dict[str, Any]:
        with step("regenerate") as entry:
            written = self._write(state, entry)
            rejected, again = state["draft"], written["draft"]
            written["regenerations"] = state["regenerations"] + 1
            if rejected and again and again.text == rejected.text:
                # The same words again would be rejected again: what is wrong is the passages.
                entry.note = f"{again.text} (the same again)"
                written |= {"repeated": True, "support": state["support"]}
            return written

    def _write(self, state: State, entry: Any) -> dict[str, Any]:
        try:
            draft = self.writer.write(state["question"], state["keeps"], state["feedback"])
        except GRADER_FAILURES as error:
            entry.note = str(error)
            return {"draft": None, "failure": str(error)}
        entry.note = "abstained: no answer in the passages" if draft.abstained else draft.text
        return {"draft": draft, "support": None, "usefulness": None}

    def _check_support(self, state: State) -> dict[str, Any]:
        draft = _written(state)
        with step("check_support"):
            verdict = self.support.check(state["question"], draft.text, state["keeps"])
        if verdict.label is Support.FULLY:
            return {"support": verdict, "feedback": ""}
        feedback = (
            "A previous attempt was rejected because the passages do not support it: "
            f'"{draft.text}" Say only what the passages state. {verdict.reason}'
        )
        return {"support": verdict, "feedback": feedback.strip()}

    def _check_usefulness(self, state: State) -> dict[str, Any]:
        draft = _written(state)
        with step("check_usefulness"):
            verdict = self.usefulness.judge(state["question"], draft.text)
        if verdict.label is Usefulness.USEFUL:
            return {"usefulness": verdict}
        return {"usefulness": verdict, "feedback": f'This answer did not resolve it: "{draft.text}"'}

    def _rewrite(self, state: State) -> dict[str, Any]:
        with step("rewrite") as entry:
            try:
                query = self.rewriter.rewrite(state["question"], state["tried"], state["feedback"])
            except GRADER_FAILURES as error:
                entry.note = str(error)
                return {"failure": str(error), "rewrites": state["rewrites"] + 1}
            entry.note = f"{query} (tried before: stopping)" if _tried(state, query) else query
        return {"retrieval_query": query, "rewrites": state["rewrites"] + 1}

    def _refuse(self, state: State) -> dict[str, Any]:
        with step("refuse") as entry:
            entry.note = _why(state).value
        # A draft that was rejected leaves the state here, so that nothing downstream can print it.
        return {"draft": None}

    # ------------------------------------------------------------ routers: they read, nothing else

    def _may_rewrite(self, state: State) -> str:
        return "rewrite" if state["rewrites"] < self.caps.rewrites else "refuse"

    def _after_gate(self, state: State) -> str:
        # A failed gate retrieves: looking costs a little, answering from memory can mislead.
        gate = state["gate"]
        return "answer_directly" if gate is not None and gate.label is Retrieve.NO else "retrieve"

    def _after_grades(self, state: State) -> str:
        if state["failure"]:
            return "refuse"
        return "generate" if state["keeps"] else self._may_rewrite(state)

    def _after_draft(self, state: State) -> str:
        if state["failure"]:
            return "refuse"
        if _written(state).abstained or state["repeated"]:
            return self._may_rewrite(state)
        return "check_support"

    def _after_support(self, state: State) -> str:
        verdict = state["support"]
        if verdict is None or verdict.failed:
            return "refuse"
        if verdict.label is Support.FULLY:
            return "check_usefulness"
        return "regenerate" if state["regenerations"] < self.caps.regenerations else "refuse"

    def _after_usefulness(self, state: State) -> str:
        verdict = state["usefulness"]
        if verdict is None or verdict.failed:
            return "refuse"
        return "__end__" if verdict.label is Usefulness.USEFUL else self._may_rewrite(state)

    def _after_rewrite(self, state: State) -> str:
        # The same words find the same passages: another round could only pay again.
        again = _tried(state, state["retrieval_query"])
        return "refuse" if state["failure"] or again else "retrieve"

    # ------------------------------------------------------------ the result

    def _to_answer(self, state: State, trace: Trace) -> Answer:
        gate, draft = state["gate"], state["draft"]
        direct = gate is not None and gate.label is Retrieve.NO
        if draft is None:
            return refusal(
                state["question"],
                _why(state),
                trace,
                hand_off=self.parts.card.hand_off,
                contexts=state["hits"],
                retrieval_query=state["retrieval_query"],
            )
        trace.stop_reason = "answered_directly" if direct else "supported_and_useful"
        return Answer(
            question=state["question"],
            text=draft.text,
            status=Status.ANSWERED,
            provenance=Provenance.MODEL_MEMORY if direct else Provenance.PASSAGES,
            trace=trace,
            citations=draft.citations,
            attributed=draft.attributed,
            contexts=tuple(state["keeps"]),
            retrieval_query=state["retrieval_query"],
        )


def _written(state: State) -> Draft:
    draft = state["draft"]
    assert draft is not None, "a check was reached without a draft: the graph is wired wrongly"
    return draft


def _tried(state: State, query: str) -> bool:
    return query.casefold() in {tried.casefold() for tried in state["tried"]}


def _why(state: State) -> Reason:
    """The reason of a refusal, read from what the last round left in the state."""
    checks = (state["support"], state["usefulness"])
    if state["failure"] or any(v is not None and v.failed for v in checks):
        return Reason.GRADER_FAILED
    if state["usefulness"] is not None:
        return Reason.NOT_USEFUL
    if state["support"] is not None:
        return Reason.NOT_SUPPORTED
    return Reason.NO_RELEVANT_PASSAGE
