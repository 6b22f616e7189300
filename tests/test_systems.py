"""What every loop in the registry promises, checked on all of them: each path has a declared end, each edge
is driven, no grader's failure is taken for a "no", and ceilings hold and are named truly."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import fields

import pytest
from standins import DOWN, HAPPY, POSSIBLE, StandInClient, StandInRetriever, build_loop, hits

from cookbook.draw import Edge, edges_of, edges_taken
from cookbook.providers.meter import Budget
from cookbook.schema import Answer, Provenance, Reason, Status
from cookbook.systems import REGISTRY, build, system_class
from cookbook.systems.loop import Loop

LOOPS = [name for name in REGISTRY if issubclass(system_class(name), Loop)]
PLAYS = 400


def loop(name: str, *args, **options):
    return build_loop(system_class(name), *args, **options)[0]


def plays(seed: int, rounds: int):
    """Random plays of all judges, the same for a given seed. A part is well-behaved or erratic as a whole,
    because with all of them erratic no play would get far."""
    dice = random.Random(seed)
    for _ in range(rounds):
        yield {
            name: [dice.choice(POSSIBLE[name]) for _ in range(60)] if dice.random() < 0.6 else HAPPY[name]
            for name in HAPPY
        }


@pytest.fixture(scope="module", params=LOOPS)
def played(request) -> tuple[str, list[tuple[dict, Answer]]]:
    """Many plays of one system, some on a client that is down, some on a search that finds little."""
    name, answers = request.param, []
    retriever, client = StandInRetriever(), StandInClient()
    system, script = build_loop(system_class(name), retriever, client)
    searches = [{}, {"How long?": []}, {"How long?": hits("a"), "query 0": hits("a"), "query 1": []}]
    for n, lines in enumerate(plays(7, PLAYS)):
        client.reply = DOWN if n % 5 == 0 else "19"
        retriever.answers = searches[n % 3]
        script.play(lines)
        answers.append((lines, system.answer("How long?")))
    return name, answers


def test_every_path_has_a_declared_end(played):
    _, answers = played
    for _, answer in answers:
        assert answer.status in Status
        assert answer.trace.stop_reason
        if answer.status is Status.ANSWERED:
            assert answer.text
            assert answer.provenance is not Provenance.NOTHING
        else:
            assert answer.reason is not None
            assert answer.provenance is Provenance.NOTHING
            assert "days" not in answer.text  # a refusal's text is never part of a draft


def test_every_edge_is_driven(played):
    name, answers = played
    taken: Counter[Edge] = Counter()
    for _, answer in answers:
        taken += edges_taken(answer.trace)
    drawn = set(edges_of(loop(name).graph))
    assert set(taken) == drawn, (
        "an edge that no path takes is wired for nothing, or a node does not trace itself"
    )


def test_no_play_passes_the_ceilings(played):
    name, answers = played
    caps = system_class(name).default_caps
    assert max(answer.trace.calls for _, answer in answers) <= caps.calls(5)
    assert max(len(answer.trace.nodes) for _, answer in answers) <= caps.supersteps()
    assert not any(answer.reason is Reason.BUDGET_EXHAUSTED for _, answer in answers)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("part", [part for part in HAPPY if part not in ("gate", "queries", "grades")])
def test_a_part_that_always_fails_is_a_failure_and_not_a_no(name, part):
    system = loop(name, **{part: [DOWN if part == "drafts" else "fail"]})
    answer = system.answer("How long?")
    asked = any(v.failed for step in answer.trace.steps for v in step.verdicts) or "120 s" in str(
        answer.trace
    )
    if asked:  # a system without this judge has nothing to fail
        assert (answer.status, answer.reason) == (Status.FAILED, Reason.GRADER_FAILED)
    else:
        assert answer.status is Status.ANSWERED


@pytest.mark.parametrize("name", LOOPS)
def test_passages_that_nobody_could_grade_are_a_failure(name):
    answer = loop(name, grades=["fail"]).answer("How long?")
    assert (answer.status, answer.reason) == (Status.FAILED, Reason.GRADER_FAILED)


@pytest.mark.parametrize("name", LOOPS)
def test_an_exhausted_budget_is_a_refusal_with_its_reason(name):
    answer = loop(name, budget=Budget(1)).answer("How long?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.BUDGET_EXHAUSTED)
    assert answer.trace.calls == 1


@pytest.mark.parametrize("name", LOOPS)
def test_the_question_is_judged_as_it_was_asked(name):
    """Rewrites move the retrieval query alone."""
    retriever = StandInRetriever({"How long?": []})
    answer = loop(name, retriever).answer("How long?")
    assert answer.question == "How long?"
    assert answer.trace.question == "How long?"
    assert retriever.queries[0] == "How long?"


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_of_an_earlier_question_survives_on_a_reused_thread(name):
    from langgraph.checkpoint.memory import InMemorySaver

    kept = loop(name, checkpointer=InMemorySaver())
    fresh = loop(name)
    for question in ("How long?", "Who may do it?"):
        assert kept.answer(question, thread_id="t").to_dict() == fresh.answer(question).to_dict()


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("k", [1, 5, 8])
def test_the_formula_says_what_the_ceiling_is(name, k):
    caps = system_class(name).default_caps
    names = ["rewrites", "regenerations", *(field.name for field in fields(caps))]
    values = {each: getattr(caps, each) for each in names}
    assert eval(caps.formula, {"k": k, **values}) == caps.calls(k) == system_class(name).most_calls(k)


@pytest.mark.parametrize("name", REGISTRY)
def test_each_system_is_built_from_parts_alone(name):
    from cookbook.assemble import parts_for
    from cookbook.providers import LLMClient

    system = build(name, parts_for(client=LLMClient("scripted/always_yes"), embedder="scripted"))
    assert system.most_calls() >= 0
    if isinstance(system, Loop):
        assert system.name == name
        assert system.budget.calls >= system.most_calls()
