"""Field cases of the graphs: every branch ends declared, routers write nothing, and nothing stale is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import wraps
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from standins import CARD, DOWN, HAPPY, POSSIBLE, StandInRetriever, build_loop, hits

from cookbook.baselines import Vanilla
from cookbook.draw import edges_of, edges_taken
from cookbook.embedders import HashEmbedder
from cookbook.labs import half_true_router_write, piling_documents, same_passages_again
from cookbook.notebooks import listed, read
from cookbook.providers import LLMClient
from cookbook.providers.meter import Meter, metered
from cookbook.providers.scripted import scripted
from cookbook.reflect.relevance import LLMRelevance
from cookbook.retrieval import Retriever
from cookbook.schema import Chunk, Reason, Relevance, Status, Support, Usefulness
from cookbook.spans import failed_reflections
from cookbook.stores import QdrantBackend
from cookbook.systems import REGISTRY, system_class
from cookbook.systems.adaptive_loop import AdaptiveLoop
from cookbook.systems.base import Parts
from cookbook.systems.handbook_graph import Caps, HandbookGraph
from cookbook.systems.loop import Loop
from cookbook.systems.revise_graph import ReviseGraph
from cookbook.systems.state import fresh_state
from cookbook.tracing import request

LOOPS = [name for name in REGISTRY if issubclass(system_class(name), Loop)]
NO = Relevance.IRRELEVANT

# ---------------------------------------------------------------- every branch


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("part", HAPPY)
def test_field_case_G08_each_judge_forced_to_each_answer_ends_in_a_declared_state(name, part):
    system_type = system_class(name)
    known = {*map(str, Reason), system_type.answered_because, "answered_directly"}
    for forced in POSSIBLE[part]:
        system, _ = build_loop(system_type, **{part: [forced]})
        answer = system.answer("What about apples?")
        assert answer.trace.stop_reason in known
        assert (
            (answer.status is Status.ANSWERED)
            == (answer.reason is None)
            == bool(answer.provenance != "nothing")
        )
        assert set(edges_taken(answer.trace)) <= set(edges_of(system.graph))


def test_field_case_G08_every_edge_of_the_graph_in_the_notebook_is_taken():
    """Coverage of branches, counted; tests/test_systems.py counts it for every system with random judges."""
    plays: list[dict[str, Any]] = [{part: [forced]} for part in HAPPY for forced in POSSIBLE[part]]
    plays += [
        {"support": [Support.NONE], "drafts": ["a", None]},
        {"support": [Support.NONE], "drafts": ["a", DOWN]},
        {"support": [Support.NONE], "drafts": ["a", "b", "b"]},
        {"grades": [NO], "queries": ["x", "x"]},
        {"support": [Support.NONE, Support.FULLY], "drafts": ["a", "b"]},
        {"usefulness": [Usefulness.NOT_USEFUL], "drafts": [f"draft {n}" for n in range(9)]},
    ]
    taken: Counter = Counter()
    for lines in plays:
        system, _ = build_loop(HandbookGraph, **lines)
        taken += edges_taken(system.answer("What about apples?").trace)
    assert set(taken) == set(edges_of(system.graph))


def test_field_case_G08_a_notebook_that_builds_a_graph_compares_it_with_one_that_is_covered():
    for notebook in listed():
        if "labs" in notebook.name or "solutions" in notebook.name:
            continue  # theirs are held to by tests/labs
        code = "\n".join(cell.source for cell in read(notebook.path).cells if cell.cell_type == "code")
        assert "StateGraph(" not in code or "edges_of(packaged.graph)" in code, notebook.name


# ---------------------------------------------------------------- loops end


@pytest.mark.parametrize("rewrites", [2, 12, 40])
def test_field_case_L01_a_subject_that_is_not_there_ends_in_a_refusal_after_the_cap(rewrites):
    queries = [f"query {n}" for n in range(rewrites + 1)]
    system, _ = build_loop(HandbookGraph, grades=[NO], queries=queries, caps=Caps(rewrites, 2))
    with metered(Meter()) as spent:
        answer = system.answer("What about apples?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NO_RELEVANT_PASSAGE)
    assert answer.text.startswith("I looked, and none of the passages I found answers this.")
    assert answer.trace.nodes.count("rewrite") == rewrites
    assert answer.trace.nodes.count("retrieve") == rewrites + 1
    assert len(answer.trace.nodes) <= system.caps.supersteps()  # LangGraph's limit is derived from this
    assert answer.trace.calls == spent.calls <= system.caps.calls(5)


# ---------------------------------------------------------------- routers


class ReadOnly(Mapping):
    """A state that a router can read and not write."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state

    def __getitem__(self, name: str) -> Any:
        value = self._state[name]
        return tuple(value) if isinstance(value, list) else value

    def __iter__(self):
        return iter(self._state)

    def __len__(self) -> int:
        return len(self._state)


@pytest.mark.parametrize("name", LOOPS)
def test_field_case_L02_routers_only_read(name, monkeypatch):
    """Run whole requests through the compiled graph with routers that get a state they cannot write."""
    system_type = system_class(name)
    asked: Counter[str] = Counter()
    wiring = system_type.wiring

    def guarded(self):
        def read_only(node, router):
            @wraps(router)  # LangGraph reads the type of the state off it
            def route(state):
                asked[node] += 1
                return router(ReadOnly(state))

            return route

        return {
            node: then if isinstance(then, str) else (read_only(node, then[0]), then[1])
            for node, then in wiring(self).items()
        }

    monkeypatch.setattr(system_type, "wiring", guarded)
    for lines in ({}, {"grades": [NO]}, {"support": [Support.NONE]}, {"usefulness": [Usefulness.NOT_USEFUL]}):
        build_loop(system_type, **lines)[0].answer("How long?")
    assert asked["grade"] >= 2


def test_field_case_L02_a_lab_shows_why_the_router_must_be_tested_through_the_graph():
    wrong = half_true_router_write.check(half_true_router_write.broken())
    assert not wrong.passed
    assert half_true_router_write.check(half_true_router_write.solution()).passed


# ---------------------------------------------------------------- nothing piles up

REPLACING = [name for name in LOOPS if system_class(name) is not AdaptiveLoop]


@pytest.mark.parametrize("name", REPLACING)
def test_field_case_L04_the_writer_sees_the_passages_of_the_last_search_only(name):
    """The adaptive loop keeps evidence on purpose and bounds it in tokens: tests/test_adaptive_loop.py."""
    shown: list[tuple[str, list[str]]] = []
    retriever = StandInRetriever()
    system, script = build_loop(
        system_class(name),
        retriever,
        usefulness=[Usefulness.NOT_USEFUL],
        drafts=[f"draft {n}" for n in range(20)],
    )
    write = script.write

    def recording(question, found, feedback=""):
        shown.append((retriever.queries[-1], [hit.chunk_id for hit in found]))
        return write(question, found, feedback)

    script.write = recording
    system.answer("How long?")
    assert shown
    for query, passages in shown:
        assert len(passages) <= 5
        assert all(chunk_id.startswith(query) for chunk_id in passages)


def test_field_case_L04_the_failure_of_an_earlier_attempt_is_forgotten():
    system, _ = build_loop(HandbookGraph, grades=[NO] * 5 + ["fail"] * 2 + [Relevance.RELEVANT])
    answer = system.answer("How long?")
    assert answer.status is Status.ANSWERED
    assert [step.note for step in answer.trace.steps if step.node == "grade"][
        -1
    ] == "kept 3 of 5, 2 not graded"


def test_field_case_L04_a_lab_shows_what_an_appending_field_does():
    assert not piling_documents.check(piling_documents.broken()).passed
    assert piling_documents.check(piling_documents.solution()).passed


def test_field_case_L06_one_grade_of_five_that_raises_leaves_four_in_their_order():
    @scripted("breaks_on_c")
    def breaks(messages):
        if "About c." in messages[-1]["content"]:
            raise DOWN
        return "no" if "About d." in messages[-1]["content"] else "yes"

    found = hits(*"abcde")
    grader = LLMRelevance(LLMClient("scripted/breaks_on_c", max_retries=0))
    system, _ = build_loop(HandbookGraph, StandInRetriever({"How long?": found}), relevance=grader)
    answer = system.answer("How long?")
    (grade,) = [step for step in answer.trace.steps if step.node == "grade"]
    assert [v.subject for v in grade.verdicts] == [hit.chunk_id for hit in found]
    assert [str(v.label) for v in grade.verdicts] == [
        "relevant",
        "relevant",
        "None",
        "irrelevant",
        "relevant",
    ]
    assert [hit.chunk_id[0] for hit in answer.contexts] == ["a", "b", "e"]


def test_field_case_L07_a_graph_inside_a_graph_counts_everything_once():
    from langgraph.graph import END, START, StateGraph

    system, _ = build_loop(HandbookGraph)
    plain = system.answer("How long?").trace
    parent = StateGraph(system.state_type)
    parent.add_node("inner", system.graph)
    parent.add_edge(START, "inner")
    parent.add_edge("inner", END)
    system, _ = build_loop(HandbookGraph)
    with metered(Meter()) as spent, request("How long?", system="parent") as trace:
        state = parent.compile().invoke(fresh_state("How long?"))
    assert trace.nodes == plain.nodes
    assert (trace.calls, trace.tokens) == (plain.calls, plain.tokens)
    assert (trace.calls, trace.cost) == (spent.calls, spent.cost)
    assert len(state["hits"]) == len({hit.chunk_id for hit in state["hits"]}) == 5


# ---------------------------------------------------------------- a retry that can help


def corpus(n: int, right: int) -> Retriever:
    texts = [f"note {i:03} about the seasonal harvest" for i in range(n)]
    texts[right] = "the shed key hangs behind the blue door"
    store = QdrantBackend("notes", 256)
    store.index(
        [Chunk(f"n{i:03}.md#0", f"n{i:03}.md", t, 0, len(t)) for i, t in enumerate(texts)], HashEmbedder()
    )
    return Retriever(store, HashEmbedder())


class OnlyTheKey:
    """Relevant is what states where the key is."""

    def grade(self, question, found):
        from cookbook.schema import Decision, Verdict
        from cookbook.tracing import note_verdict

        verdicts = [
            Verdict(Decision.RELEVANCE, Relevance.RELEVANT if "key" in hit.text else NO, subject=hit.chunk_id)
            for hit in found
        ]
        for verdict in verdicts:
            note_verdict(verdict)
        return verdicts


SAME_WORDS = ["seasonal harvest notes", "harvest seasonal", "note on harvest"]


def test_field_case_L08_a_retry_over_the_same_candidates_is_noticed_and_not_paid_for():
    retriever = corpus(5, 0)
    system, _ = build_loop(HandbookGraph, retriever, grades=[NO], queries=SAME_WORDS)
    answer = system.answer("the seasonal harvest")
    notes = [step.note for step in answer.trace.steps if step.node == "grade"]
    assert notes == ["kept 0 of 5", "kept 0 of 5, 5 judged before", "kept 0 of 5, 5 judged before"]
    assert sum(len(step.verdicts) for step in answer.trace.steps if step.node == "grade") == 5


def test_field_case_L08_a_retry_in_a_large_corpus_answers_what_the_first_search_missed():
    question = "the seasonal harvest"
    first = [hit.chunk_id for hit in corpus(200, 25).retrieve(question, 25)]
    assert "n025.md#0" not in first
    system, _ = build_loop(
        HandbookGraph,
        corpus(200, 25),
        relevance=OnlyTheKey(),
        queries=["shed key door"],
        drafts=["Behind the door."],
    )
    answer = system.answer(question)
    assert answer.status is Status.ANSWERED
    assert answer.trace.nodes.count("retrieve") == 2
    assert answer.citations == ("n025.md#0",)


def test_field_case_L08_a_lab_shows_the_retry_that_sees_the_same():
    assert not same_passages_again.check(same_passages_again.broken()).passed
    assert same_passages_again.check(same_passages_again.solution()).passed


# ---------------------------------------------------------------- no answer in the corpus


def test_field_case_L10_a_loop_abstains_at_least_as_often_as_the_plain_pipeline_and_says_why_it_went_on():
    questions = [f"What is impossible {n}?" for n in range(20)]

    @scripted("half_inventing")
    def half(messages):
        system, text = messages[0]["content"], messages[-1]["content"]
        if system.startswith("Sort"):
            return "search"
        if system.startswith("Turn the question"):
            return f"other words {text.count('Already tried')}"
        if system.startswith("Answer the question"):
            odd = int("".join(c for c in text.rpartition("impossible")[2] if c.isdigit())) % 2
            return "It was founded in 1066 [1]." if odd else "NO ANSWER"
        return "no" if "check an answer" in system else "yes"

    client = LLMClient("scripted/half_inventing")
    plain = [Vanilla(Parts(client, StandInRetriever(), CARD)).answer(question) for question in questions]
    loop = HandbookGraph(Parts(client, StandInRetriever(), CARD))
    looped = [loop.answer(question) for question in questions]
    abstained = [sum(answer.status is Status.REFUSED for answer in answers) for answers in (plain, looped)]
    assert abstained == [10, 20]
    for answer in looped:
        assert answer.trace.calls <= HandbookGraph.most_calls()
        reasons = {row["step"]: row for row in failed_reflections([answer.trace])}
        for n, node in enumerate(answer.trace.nodes):
            if node in ("rewrite", "regenerate"):
                before = answer.trace.steps[n - 1]
                assert n in reasons or before.note.startswith("abstained") or "same again" in before.note


# ---------------------------------------------------------------- streaming


@pytest.mark.parametrize(
    "lines", [{}, {"support": [Support.NONE]}, {"support": [Support.NONE, Support.FULLY]}, {"grades": [NO]}]
)
def test_field_case_X05_a_rejected_draft_is_gone_at_the_end_of_a_stream(lines):
    drafts = [f"draft {n}" for n in range(9)]
    answered = build_loop(HandbookGraph, drafts=drafts, **lines)[0].answer("How long?")
    system, _ = build_loop(HandbookGraph, drafts=drafts, **lines)
    with request("How long?", system="stream") as trace:
        states = list(
            system.graph.stream(
                fresh_state("How long?"),
                {"recursion_limit": 50, "configurable": {"thread_id": "s"}},
                stream_mode="values",
            )
        )
    final = system.result(states[-1], trace)
    assert (final.text, final.status, final.reason) == (answered.text, answered.status, answered.reason)
    if final.status is Status.REFUSED:
        assert states[-1]["draft"] is None
        assert "draft" not in json.dumps(final.to_dict()["answer"])
    ended = [n for n, state in enumerate(states) if state["usefulness"] is not None or state["draft"] is None]
    assert ended[-1] == len(states) - 1  # one final state, and it is the last


def test_field_case_X05_nothing_is_streamed_by_the_package_itself():
    """``answer`` gives one Answer, once, after its checks: there is no provisional text that could be shown."""
    for name in LOOPS:
        assert not hasattr(system_class(name), "stream")
    system, _ = build_loop(ReviseGraph, support=[Support.NONE])
    assert "days" not in system.answer("How long?").text


class Appending(TypedDict):
    documents: Annotated[list[str], add]


def test_field_case_L04_no_state_of_ours_appends():
    from typing import get_type_hints

    assert "__metadata__" in dir(get_type_hints(Appending, include_extras=True)["documents"])
    for name in LOOPS:
        fields = get_type_hints(system_class(name).state_type, include_extras=True)
        assert [field for field, kind in fields.items() if hasattr(kind, "__metadata__")] == []
