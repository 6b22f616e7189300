"""The frame of every graph: parts and judges go in, a wiring table becomes a LangGraph, an Answer comes out.

A system is a subclass: its caps, its wiring, its routers. Everything that is the same for all of them is
here and in ``steps``, so that two systems differ in their loop and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, cast

from cookbook.providers.meter import Budget
from cookbook.reflect.gate import LLMGate
from cookbook.reflect.generate import LLMWriter
from cookbook.reflect.refuse import refusal
from cookbook.reflect.relevance import LLMRelevance
from cookbook.reflect.rewrite import LLMRewriter
from cookbook.reflect.support import LLMSupport
from cookbook.reflect.usefulness import LLMUsefulness
from cookbook.schema import Answer, Provenance, Reason, Retrieve, Status, Support, Trace, Usefulness
from cookbook.systems.base import Parts, run_request
from cookbook.systems.state import Caps, Judges, State, Update, fresh_state, was_tried, written
from cookbook.systems.steps import Steps, why

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

END = "__end__"
"""LangGraph's own name for the end, so that a wiring can be written without importing it."""

Router = Callable[[Any], str]
Wiring = Mapping[str, "str | tuple[Router, Sequence[str]]"]
"""From each node to what follows: one node, or a router with all the nodes it may name."""


class Loop(Steps):
    """A system as a graph. ``graph`` is the compiled LangGraph; ``answer`` runs one question through it.

    Judges default to those of :meth:`default_judges`; any can be replaced by keyword. The call budget and
    the recursion limit follow from the caps.
    """

    name: ClassVar[str]
    start: ClassVar[str] = "decide_retrieval"
    default_caps: ClassVar[Caps]
    state_type: ClassVar[Any] = State
    answered_because: ClassVar[str] = "supported_and_useful"
    encoders: ClassVar[frozenset[str]] = frozenset()
    """The judges that ask no LLM unless they are replaced; the ceiling counts no call for them."""

    caps: Caps

    def __init__(
        self,
        parts: Parts,
        *,
        caps: Caps | None = None,
        budget: Budget | None = None,
        checkpointer: Any = None,
        **judges: Unpack[Judges],
    ) -> None:
        self.parts = parts
        self.caps = caps or self.default_caps
        for name, judge in (self.default_judges(parts) | judges).items():
            setattr(self, name, judge)
        self.budget = budget or Budget(self.most_calls_here())
        self.graph = self._compile(checkpointer)

    # ------------------------------------------------------------ what a system says about itself

    def default_judges(self, parts: Parts) -> Judges:
        """The LLM behind ``parts.client`` in all six roles; a system that judges otherwise overrides some."""
        client = parts.client
        return Judges(
            gate=LLMGate(client, parts.card),
            relevance=LLMRelevance(client),
            writer=LLMWriter(client),
            support=LLMSupport(client),
            usefulness=LLMUsefulness(client),
            rewriter=LLMRewriter(client, parts.card),
        )

    def wiring(self) -> Wiring:
        """What follows each node. The nodes are the methods of these names."""
        raise NotImplementedError

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        """The call ceiling of the system as it is built by default, with k passages."""
        return cls.default_caps.calls(k)

    def most_calls_here(self) -> int:
        """The call ceiling of this object, with its own caps and k."""
        return self.caps.calls(self.parts.k)

    # ------------------------------------------------------------ running it

    def answer(self, question: str, *, thread_id: str = "default") -> Answer:
        """Run one question. Raises ConfigError for an empty one; refuses rather than guesses."""

        def body(trace: Trace) -> Answer:
            # One more than the longest path: LangGraph raises when the limit is reached, done or not.
            config: RunnableConfig = {
                "recursion_limit": self.caps.supersteps() + 1,
                "configurable": {"thread_id": thread_id},
            }
            return self.result(cast(State, self.graph.invoke(self.first_state(question), config)), trace)

        return run_request(self.parts, self.name, question, self.budget, body)

    def first_state(self, question: str) -> Any:
        """The state a request starts with: every field set."""
        return fresh_state(question)

    def result(self, state: State, trace: Trace) -> Answer:
        """The answer, from what the graph left in the state: no draft means a refusal."""
        draft = state["draft"]
        if draft is None:
            return self._refusal(state, trace)
        direct = state["gate"] is not None and state["gate"].label is Retrieve.NO
        trace.stop_reason = "answered_directly" if direct else self.answered_because
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

    def _refusal(self, state: State, trace: Trace) -> Answer:
        reason, found = why(state), state["found"]
        if reason is Reason.GRADER_FAILED:
            found = None
        shown = {hit.chunk_id: hit for hit in (*state["hits"], *(found.keeps if found else ()))}
        return refusal(
            state["question"],
            reason,
            trace,
            hand_off=self.parts.card.hand_off,
            contexts=tuple(shown.values()),
            retrieval_query=state["retrieval_query"],
            found=found.draft if found else None,
        )

    # ------------------------------------------------------------ routers that several systems share

    def after_gate(self, state: State) -> str:
        # A failed gate retrieves: looking costs a little, answering from memory can mislead.
        gate = state["gate"]
        return "answer_directly" if gate is not None and gate.label is Retrieve.NO else "retrieve"

    def may_rewrite(self, state: State) -> str:
        return "rewrite" if state["rewrites"] < self.caps.rewrites else "refuse"

    def after_grades(self, state: State) -> str:
        if state["failure"]:
            return "refuse"
        return "generate" if state["keeps"] else self.may_rewrite(state)

    def after_draft(self, state: State) -> str:
        if state["failure"]:
            return "refuse"
        if written(state).abstained or state["repeated"]:
            return self.may_rewrite(state)
        return "check_support"

    def after_support(self, state: State) -> str:
        verdict = state["support"]
        if verdict is None or verdict.failed:
            return "refuse"
        if verdict.label is Support.FULLY:
            return "check_usefulness"
        return "regenerate" if state["regenerations"] < self.caps.regenerations else "refuse"

    def after_usefulness(self, state: State) -> str:
        verdict = state["usefulness"]
        if verdict is None or verdict.failed:
            return "refuse"
        return END if verdict.label is Usefulness.USEFUL else self.may_rewrite(state)

    def after_rewrite(self, state: State) -> str:
        # The same words find the same passages: another round could only pay again.
        again = was_tried(state, state["retrieval_query"])
        return "refuse" if state["failure"] or again else "retrieve"

    # ------------------------------------------------------------ from the wiring to the graph

    def _compile(self, checkpointer: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import START, StateGraph

        graph = StateGraph(self.state_type)
        wiring = self.wiring()
        for name in wiring:
            node: Callable[[Any], Update] = getattr(self, name)
            graph.add_node(name, cast(Any, node))
        graph.add_edge(START, self.start)
        for name, then in wiring.items():
            if isinstance(then, str):
                graph.add_edge(name, then)
            else:
                router, targets = then
                graph.add_conditional_edges(name, router, list(targets))
        return graph.compile(checkpointer=checkpointer, name=self.name)
