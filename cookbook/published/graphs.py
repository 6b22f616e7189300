"""How a published graph is put together from plain functions, with any of them replaced, and how it is run.

A node is ``(state, judges) -> update``, a router ``(state, caps) -> name of the next node``. Each node is
traced as a step whose note lists the fields that it returned: what is not in the note was not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from cookbook.errors import BudgetExhausted, ConfigError
from cookbook.providers.meter import Budget, Meter, metered
from cookbook.published.models import Judges
from cookbook.schema import Reason, Trace
from cookbook.tracing import request, step

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    Graph = CompiledStateGraph[Any, Any, Any, Any]

Node = Callable[[Any, Any], Mapping[str, Any] | None]
Router = Callable[[Any, Any], str]


@dataclass(frozen=True)
class Blueprint:
    """A graph on paper: its functions, which node follows which, and which router is asked after a node.

    The first node is where it starts; ``edges`` maps a node to the next one, ``routers`` a node to the
    router after it. Functions go by their names. ``refuses`` names the node that refuses, if there is one.
    """

    name: str
    schema: type
    nodes: Sequence[Node]
    edges: Mapping[str, str]
    routers: Mapping[str, Router]
    refuses: str = ""

    def build(
        self, judges: Judges, caps: Any, swaps: Mapping[str, Callable[..., Any]], schema: type | None = None
    ) -> Graph:
        """Compile it, with nodes and routers replaced by name. ConfigError for a name it does not have.

        The edges after a router are those of its return type, ``Literal["grade", "refuse"]``. A
        replacement that declares none has those of the published router, and may refuse besides.
        """
        from langgraph.graph import START, StateGraph

        known = [function.__name__ for function in (*self.nodes, *self.routers.values())]
        if unknown := sorted(swaps.keys() - set(known)):
            raise ConfigError(
                f"{self.name} has no node or router {unknown[0]!r}; replace one of: {', '.join(known)}"
            )
        graph: Any = StateGraph(schema or self.schema)
        for node in self.nodes:
            name = node.__name__
            graph.add_node(name, _traced(name, swaps.get(name, node), judges))
        graph.add_edge(START, self.nodes[0].__name__)
        for source, target in self.edges.items():
            graph.add_edge(source, target)
        for source, published in self.routers.items():
            router = swaps.get(published.__name__, published)
            targets = _targets(router) or [*_targets(published), *filter(None, [self.refuses])]
            routed = self._bound(published.__name__, router, caps, targets)
            graph.add_conditional_edges(source, routed, list(dict.fromkeys(targets)))
        compiled: Graph = graph.compile(name=self.name)
        return compiled

    def _bound(self, name: str, router: Router, caps: Any, targets: Sequence[str]) -> Callable[[Any], str]:
        def run_router(state: Any) -> str:
            target = router(state, caps)
            if target not in targets:
                raise ConfigError(self._astray(name, target, router, targets))
            return target

        run_router.__name__ = name  # LangGraph names a branch after its function
        return run_router

    def _astray(self, name: str, target: str, router: Router, targets: Sequence[str]) -> str:
        """What to do about a router that named what it may not."""
        may, declared = ", ".join(targets), bool(_targets(router))
        if target == "__end__" and self.refuses:
            may = ", ".join(dict.fromkeys([*targets, self.refuses]))
            return (
                f"the router {name} returned END and may name {may}; end through `{self.refuses}`, not `END`"
            )
        if declared and target in [node.__name__ for node in self.nodes]:
            return (
                f"the router {name} returned {target!r}, but its annotation allows only {may}: add {target!r} to "
                "the `Literal`, or leave the annotation out"
            )
        return f"the router {name} returned {target!r} and may name {may}; name one of them"


def _traced(name: str, node: Node, judges: Judges) -> Callable[[Any], Any]:
    def run_node(state: Any) -> Any:
        with step(name) as entry:
            update = node(state, judges)
            entry.note = "; ".join(f"{field}: {_short(value)}" for field, value in (update or {}).items())
            return update

    return run_node


def _targets(router: Router) -> list[str]:
    returned = get_type_hints(router).get("return")
    return list(get_args(returned)) if get_origin(returned) is Literal else []


def _short(value: Any) -> str:
    """A value in a note: how many for a list, the text itself for anything else."""
    return str(len(value)) if isinstance(value, list | dict) else " ".join(str(value).split())


# ---------------------------------------------------------------- running one


@dataclass(frozen=True)
class Run:
    """One request. ``state`` is what the last superstep left, ``cumulative`` the LLM calls after each superstep.

    ``trace.stop_reason`` is ``end``, ``recursion_limit`` or ``budget_exhausted``.
    """

    trace: Trace
    state: Mapping[str, Any]
    cumulative: tuple[int, ...]
    calls: int

    @property
    def supersteps(self) -> int:
        return len(self.cumulative)

    @property
    def ended(self) -> bool:
        """True when the graph came to its end, rather than being stopped by a limit."""
        return self.trace.stop_reason == "end"

    def ran(self, node: str) -> int:
        """How often a node ran."""
        return self.trace.nodes.count(node)


def run(
    graph: Graph,
    state: Mapping[str, Any],
    *,
    recursion_limit: int | None = None,
    budget: Budget | None = None,
) -> Run:
    """Run a compiled graph from ``state``; without a limit LangGraph's own default holds.

    A limit that is reached ends the run and is told in the trace; any other error passes through.
    Supersteps are counted from the graph's stream and calls by a meter around it, so both are right for
    a graph that was built elsewhere too.
    """
    from langgraph.errors import GraphRecursionError

    meter, last = Meter(), dict(state)
    after: dict[int, int] = {}
    config: RunnableConfig = {} if recursion_limit is None else {"recursion_limit": recursion_limit}
    with request(str(state.get("question", "")), system=graph.name, model="scripted", budget=budget) as trace:
        trace.stop_reason = "end"
        try:
            with metered(meter):
                events: Iterator[Any] = graph.stream(state, config, stream_mode=["values", "debug"])
                for mode, event in events:
                    if mode == "values":
                        last = event
                    else:
                        after[event["step"]] = meter.calls
        except GraphRecursionError:
            trace.stop_reason = "recursion_limit"
        except BudgetExhausted:
            trace.stop_reason = Reason.BUDGET_EXHAUSTED.value
    return Run(trace, last, tuple(after[number] for number in sorted(after)), meter.calls)
