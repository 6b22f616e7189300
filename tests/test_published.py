"""The published loops: their faults are there, their counts are exact, and any part can be replaced."""

from __future__ import annotations

import operator
from collections import Counter
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.draw import draw_graph, edges_of
from cookbook.errors import BudgetExhausted, ConfigError, ProviderUnavailable
from cookbook.paths import ROOT
from cookbook.providers.meter import Budget, Meter, metered
from cookbook.published import best_passage, handbook, nli_loop, recipe, revise
from cookbook.published.graphs import run
from cookbook.published.models import AGREEABLE, Judges, Shelf, gold, in_turn, opens_with
from cookbook.schema import Decision, Hit, Reason, Relevance, Retrieve, Status, Support, Usefulness, Utility

CANCELLED = "Can I export my data after I cancel my plan?"
PRICE = "How much does the starter plan cost per month?"
LOOPS = [handbook, revise, nli_loop, recipe, best_passage]


def ask(loop, question, judges=None, *, recursion_limit=None, budget=None, **options):
    judges = judges or judges_of(loop)()
    graph = loop.build(judges, **options)
    return run(graph, loop.fresh_state(question), recursion_limit=recursion_limit, budget=budget)


def judges_of(loop):
    return {nli_loop: nli_loop.NliJudges, recipe: recipe.WordJudges}.get(loop, Judges)


# ---------------------------------------------------------------- what a run says


def test_a_run_counts_calls_by_kind_by_node_and_by_superstep():
    judges = Judges()
    made = ask(handbook, CANCELLED, judges)
    assert judges.calls == {"retrieve": 1, "relevance": 5, "generate": 1, "support": 1, "usefulness": 1}
    assert [(step.node, step.calls) for step in made.trace.steps] == [
        ("decide_retrieval", 1),
        ("retrieve", 0),
        ("grade", 5),
        ("generate", 1),
        ("check_support", 1),
        ("check_usefulness", 1),
    ]
    assert made.cumulative == (1, 1, 6, 7, 8, 9)
    assert (made.supersteps, made.calls, made.trace.calls, made.trace.embeddings) == (6, 9, 9, 1)
    assert made.ended
    assert made.trace.stop_reason == "end"


def test_the_trace_shows_verdicts_and_which_fields_a_node_wrote():
    made = ask(handbook, CANCELLED, Judges(support=Support.NONE), recursion_limit=6)
    by_node = {step.node: step for step in made.trace.steps}
    assert [verdict.label for verdict in by_node["grade"].verdicts] == [Relevance.RELEVANT] * 5
    assert [v.subject for v in by_node["grade"].verdicts] == [hit.chunk_id for hit in made.state["hits"]]
    assert by_node["grade"].note == "kept: 5"
    draft = "When a cancellation has taken effect, a retention window of 30 days begins."
    assert by_node["regenerate"].note == f"draft: {draft}"  # and no count
    mended = ask(handbook, CANCELLED, Judges(support=Support.NONE), regenerate=handbook.regenerate_counted)
    notes = [step.note for step in mended.trace.steps if step.node == "regenerate"]
    assert notes == [f"draft: {draft}; regenerations: {n}" for n in (1, 2)]


def test_a_limit_and_a_budget_end_a_run_and_are_told():
    stubborn = {"support": Support.NONE}
    stopped = ask(handbook, CANCELLED, Judges(**stubborn), recursion_limit=25)
    assert (stopped.trace.stop_reason, stopped.ended, stopped.supersteps) == ("recursion_limit", False, 25)
    assert stopped.state["regenerations"] == 0
    poor = ask(handbook, CANCELLED, Judges(**stubborn), budget=Budget(12))
    assert (poor.trace.stop_reason, poor.calls) == (Reason.BUDGET_EXHAUSTED.value, 12)


def test_supersteps_are_counted_where_nodes_write_nothing_or_run_side_by_side():
    from langgraph.graph import START, StateGraph

    judges = Judges()
    graph = StateGraph(handbook.State)
    graph.add_node("silent", lambda state: None)
    for name in ("left", "right"):
        graph.add_node(name, lambda state: judges.direct(state["question"]) and {})
    graph.add_edge(START, "silent")
    graph.add_edge("silent", "left")
    graph.add_edge("silent", "right")
    made = run(graph.compile(), handbook.fresh_state("anything"))
    assert made.cumulative == (0, 2)
    assert made.trace.steps == []  # nodes that nobody wrapped leave no step, and their calls count


def test_other_errors_pass_through_and_their_call_counts():
    def down(*_):
        raise ProviderUnavailable("down")

    judges = Judges(support=down)
    with pytest.raises(ProviderUnavailable):
        ask(handbook, CANCELLED, judges)
    assert judges.calls["support"] == 1


# ---------------------------------------------------------------- what can be replaced


@pytest.mark.parametrize("loop", LOOPS)
def test_an_unknown_part_is_refused_with_the_known_ones(loop):
    with pytest.raises(ConfigError, match=r"no node or router 'regrade'; replace one of: .*\bafter_grades"):
        loop.build(judges_of(loop)(), regrade=lambda state, judges: {})


@pytest.mark.parametrize("loop", LOOPS)
def test_every_graph_draws_with_a_guilty_edge(loop):
    made = ask(loop, CANCELLED)
    graph = loop.build(judges_of(loop)())
    assert draw_graph(graph, trace=made.trace, mark=[edges_of(graph)[-1]])


def test_a_replaced_router_says_by_its_type_where_it_leads():
    def after_grades(state, caps) -> Literal["generate", "rewrite", "refuse"]:
        if state["kept"]:
            return "generate"
        return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"

    judges = Judges(relevance=gold("larkspur"))
    graph = handbook.build(judges, after_grades=after_grades)
    assert ("grade", "refuse") in edges_of(graph)
    assert ("grade", "refuse") not in edges_of(handbook.build(judges))
    made = run(graph, handbook.fresh_state(PRICE))
    assert (made.calls, made.state["status"], made.state["reason"]) == (
        18,
        Status.REFUSED,
        Reason.NO_RELEVANT_PASSAGE,
    )


def test_a_replaced_router_without_a_type_may_also_refuse():
    def after_support(state, caps):
        if state["support"] is Support.FULLY:
            return "check_usefulness"
        return "regenerate" if state["regenerations"] < caps.regenerations else "refuse"

    made = ask(
        handbook,
        CANCELLED,
        Judges(support=Support.NONE),
        regenerate=handbook.regenerate_counted,
        after_support=after_support,
    )
    assert (made.calls, made.state["status"], made.state["reason"]) == (
        12,
        Status.REFUSED,
        Reason.NOT_SUPPORTED,
    )


def test_a_router_that_names_a_node_beside_its_type_is_told_so():
    def after_grades(state, caps) -> Literal["generate", "rewrite"]:
        return "refuse"

    with pytest.raises(
        ConfigError,
        match=r"returned 'refuse', but its annotation allows only generate, rewrite: add 'refuse' to",
    ):
        ask(handbook, PRICE, after_grades=after_grades)


def test_a_state_with_a_reducer_takes_the_place_of_the_published_one():
    class Piling(handbook.State):
        hits: Annotated[list[Hit], operator.add]

    judges = Judges(relevance=Relevance.IRRELEVANT)
    assert len(ask(handbook, PRICE, judges, schema=Piling).state["hits"]) == 15
    assert judges.calls["relevance"] == 5 + 10 + 15


def test_caps_reach_the_routers():
    judges = Judges(relevance=Relevance.IRRELEVANT)
    ask(handbook, PRICE, judges, caps=handbook.Caps(rewrites=4))
    assert judges.calls["rewrite"] == 4


# ---------------------------------------------------------------- the faults of the handbook graph


def test_nothing_relevant_is_answered_from_nothing_and_passes_unchecked():
    judges = Judges(relevance=gold("larkspur"))
    made = ask(handbook, PRICE, judges)
    assert made.cumulative == (1, 1, 6, 7, 7, 12, 13, 13, 18, 19, 19, 20)
    assert judges.calls == {"retrieve": 1, "relevance": 15, "rewrite": 2, "generate": 1, "usefulness": 1}
    assert judges.store.queries == [PRICE] * 3
    state = made.state
    assert (state["kept"], state["support"], state["status"]) == ([], Support.FULLY, Status.ANSWERED)
    assert state["draft"] == "As far as I remember, it is 12 dollars."


def test_a_sum_is_answered_without_the_store():
    judges = Judges(retrieve=Retrieve.NO)
    made = ask(handbook, "What is 9 plus 10?", judges)
    assert (made.state["draft"], made.calls, judges.store.queries) == ("19", 2, [])


@pytest.mark.parametrize(("limit", "regenerations", "calls"), [(25, 10, 28), (200, 98, 203)])
def test_a_count_in_the_router_never_sticks(limit, regenerations, calls):
    made = ask(handbook, CANCELLED, Judges(support=Support.NONE), recursion_limit=limit)
    assert (made.ran("regenerate"), made.calls, made.supersteps) == (regenerations, calls, limit)


def test_a_count_in_the_node_sticks_and_the_answer_still_lies():
    judges = Judges(support=Support.NONE)
    made = ask(handbook, CANCELLED, judges, regenerate=handbook.regenerate_counted)
    assert (made.calls, made.ran("regenerate")) == (13, 2)
    assert (made.state["support"], made.state["status"]) == (Support.NONE, Status.ANSWERED)


def test_a_regeneration_gets_the_checkers_feedback():
    seen = []
    judges = Judges(
        support=in_turn(Support.NONE, Support.FULLY),
        generate=lambda question, hits, feedback: seen.append(feedback) or f"draft {len(seen)}",
    )
    assert ask(handbook, CANCELLED, judges).state["draft"] == "draft 2"
    assert seen == ["", "A previous attempt was rejected because nothing supports it: draft 1"]


def test_a_useless_answer_is_refused_at_the_cap_of_rewrites():
    made = ask(handbook, CANCELLED, Judges(usefulness=Usefulness.NOT_USEFUL))
    assert (made.ran("rewrite"), made.state["reason"]) == (2, Reason.NOT_USEFUL)


def test_the_only_export_passage_gives_a_grounded_answer_without_the_thirty_days():
    export = [hit for hit in Shelf.of("larkspur").retrieve(CANCELLED) if hit.chunk_id == "data-export.md#2"]
    judges = Judges(Shelf([hit.chunk for hit in export]))
    made = ask(handbook, CANCELLED, judges)
    assert made.state["draft"] == "Start an export under Settings > Data > Export."
    assert (made.state["support"], made.state["status"]) == (Support.FULLY, Status.ANSWERED)


# ---------------------------------------------------------------- the revise graph

WORST = {"support": Support.NONE, "usefulness": Usefulness.NOT_USEFUL}


@pytest.mark.parametrize(
    ("swaps", "calls", "supersteps"), [({}, 33, 24), ({"rewrite": revise.rewrite_with_reset}, 45, 36)]
)
def test_the_worst_case_of_the_revise_graph(swaps, calls, supersteps):
    made = ask(revise, CANCELLED, Judges(**WORST), **swaps)
    assert (made.calls, made.supersteps, made.ended) == (calls, supersteps, True)
    assert made.state["status"] is Status.ANSWERED  # neither supported nor useful


def test_a_limit_of_25_holds_by_luck_until_the_revisions_are_reset():
    assert ask(revise, CANCELLED, Judges(**WORST), recursion_limit=25).ended
    assert not ask(revise, CANCELLED, Judges(**WORST), recursion_limit=24).ended
    broken = ask(revise, CANCELLED, Judges(**WORST), recursion_limit=25, rewrite=revise.rewrite_with_reset)
    assert broken.trace.stop_reason == "recursion_limit"


@settings(deadline=None, max_examples=10)
@given(st.data())
def test_no_verdicts_make_the_revise_graph_longer_than_its_worst_case(data):
    def any_of(labels):
        return lambda *given: data.draw(st.sampled_from(list(labels)))

    for swaps, calls, supersteps in (({}, 33, 24), ({"rewrite": revise.rewrite_with_reset}, 45, 36)):
        judges = Judges(support=any_of(Support), usefulness=any_of(Usefulness), relevance=any_of(Relevance))
        made = ask(revise, CANCELLED, judges, **swaps)
        assert made.calls <= calls
        assert made.supersteps <= supersteps


def test_nothing_relevant_ends_the_revise_graph_beside_verdicts_of_an_earlier_pass():
    judges = Judges(
        relevance=in_turn(*[Relevance.RELEVANT] * 5, Relevance.IRRELEVANT), usefulness=Usefulness.NOT_USEFUL
    )
    made = ask(revise, CANCELLED, judges)
    assert (made.state["draft"], made.state["support"]) == ("No answer found.", Support.FULLY)
    assert made.ran("rewrite") == 1
    first = Judges(relevance=Relevance.IRRELEVANT)
    assert ask(revise, CANCELLED, first).ran("rewrite") == 0


def test_the_revise_graph_keeps_any_quote_and_loses_the_reason():
    given = []
    judges = Judges(
        support=(Support.FULLY, ("a quote that no passage holds",)),
        usefulness=in_turn(Usefulness.NOT_USEFUL, Usefulness.USEFUL),
        rewrite=lambda question, query, feedback: given.append(feedback) or question,
    )
    made = ask(revise, CANCELLED, judges)
    assert made.state["evidence"] == ("a quote that no passage holds",)
    assert given == [""]


# ---------------------------------------------------------------- the NLI loop

OPTIMIZER = "Which optimizer was used for training?"
COMPANY = "Which company did the author who proposed replacing recurrence with attention work for?"


@pytest.mark.parametrize(
    ("question", "drafts", "swaps", "calls", "loads", "status"),
    [
        (OPTIMIZER, opens_with, {}, 7, 1, Status.ANSWERED),
        (OPTIMIZER, in_turn("It was Adagrad.", "It was Adam."), {}, 9, 2, Status.ANSWERED),
        (OPTIMIZER, "It was Adagrad.", {}, 9, 2, Status.REFUSED),
        (COMPANY, opens_with, {}, 9, 2, Status.REFUSED),
        (COMPANY, opens_with, {"after_grades": nli_loop.after_grades_short}, 5, 0, Status.REFUSED),
    ],
)
def test_what_the_nli_loop_costs(question, drafts, swaps, calls, loads, status):
    judges = nli_loop.NliJudges(relevance=gold("attention_digest"), generate=drafts)
    made = ask(nli_loop, question, judges, **swaps)
    assert (made.calls, judges.loads, made.state["status"]) == (calls, loads, status)


def test_the_entailment_model_stops_reading_after_512_words():
    reader = nli_loop.WordEntailment()
    evidence = "The optimizer was Adam."
    assert reader.entails("padding " * 508 + evidence, "Adam was the optimizer")
    assert not reader.entails("padding " * 509 + evidence, "Adam was the optimizer")
    assert not reader.entails("", "Adam")
    assert not reader.entails(evidence, "")


# ---------------------------------------------------------------- the recipe

SCOPE = "In what order are the variables of one scope dropped?"


def test_the_recipe_answers_for_eleven_calls_and_refuses_for_nine():
    judges = recipe.WordJudges(relevance=gold("rust_notes"))
    made = ask(recipe, SCOPE, judges)
    assert judges.calls == {"retrieve": 1, "relevance": 8, "generate": 1, "support": 1}
    assert (made.calls, made.trace.embeddings, made.state["status"]) == (11, 1, Status.ANSWERED)
    made = ask(recipe, SCOPE, recipe.WordJudges(relevance=Relevance.IRRELEVANT))
    assert (made.calls, made.trace.embeddings, made.state["reason"]) == (9, 1, Reason.NO_RELEVANT_PASSAGE)


@pytest.mark.parametrize(
    ("reply", "kept"),
    [("USEFUL", 8), ("useful.", 8), ("NOT_USEFUL", 0), ("I think: USEFUL", 0), ("", 0)],
)
def test_the_recipe_takes_for_no_what_does_not_begin_with_yes(reply, kept):
    assert len(ask(recipe, SCOPE, recipe.WordJudges(relevance=reply)).state["kept"]) == kept


def test_another_reading_of_the_words_can_be_given():
    judges = recipe.WordJudges(relevance="NOT_USEFUL", reads=lambda reply, yes: yes in reply)
    assert len(ask(recipe, SCOPE, judges).state["kept"]) == 8


def test_the_recipe_refuses_what_is_not_supported_and_answers_directly():
    refused = ask(recipe, SCOPE, recipe.WordJudges(support=Support.NONE))
    assert refused.state["reason"] is Reason.NOT_SUPPORTED
    direct = ask(recipe, "Hello", recipe.WordJudges(retrieve="NO_RETRIEVE"))
    assert (direct.state["draft"], direct.calls) == ("19", 2)


# ---------------------------------------------------------------- best passage


def test_an_unsupported_answer_beats_a_partly_supported_one():
    judges = Judges(support=in_turn(Support.PARTIALLY, Support.NONE), utility=in_turn(3, 5))
    made = ask(best_passage, CANCELLED, judges)
    assert (made.state["best"].support, made.state["best"].utility) == (Support.NONE, Utility.FIVE)
    assert (made.calls, made.state["status"]) == (1 + 5 + 5 * 3, Status.ANSWERED)


def test_a_fully_supported_answer_wins_whatever_its_utility():
    judges = Judges(support=in_turn(Support.NONE, Support.FULLY, Support.NONE), utility=in_turn(5, 1, 5))
    assert ask(best_passage, CANCELLED, judges).state["best"].utility is Utility.ONE


def test_nothing_relevant_is_answered_from_a_placeholder_unchecked():
    judges = Judges(relevance=Relevance.IRRELEVANT)
    made = ask(best_passage, CANCELLED, judges)
    assert judges.calls == {"retrieve": 1, "relevance": 5, "generate": 1}
    assert made.state["status"] is Status.ANSWERED


# ---------------------------------------------------------------- the scripted model


def test_a_script_of_an_unknown_kind_or_of_the_wrong_type_is_refused():
    with pytest.raises(ConfigError, match="no call is of the kind 'grade'; kinds: retrieve, relevance"):
        Judges(grade=Relevance.RELEVANT)
    with pytest.raises(ConfigError, match=r"'support' replied 'no'; let it reply with a Support"):
        Judges(support="no").support("q", "a", [])
    with pytest.raises(ConfigError, match=r"'support' replied 'no'; let it reply with a Support"):
        Judges(support="no").support_with_quotes("q", "a", [])


def test_every_call_is_charged_once_and_within_the_budget():
    judges, meter = Judges(), Meter()
    (hit,) = judges.store.retrieve("export", 1)
    with metered(meter, Budget(10)):
        judges.retrieve("q")
        judges.relevance("q", hit)
        judges.support("q", "a", [hit])
        judges.support_with_quotes("q", "a", [hit])
        judges.usefulness("q", "a")
        judges.utility("q", "a")
        judges.direct("q")
        judges.generate("q", [hit])
        judges.rewrite("q", "q")
        judges.revise("q", "a", [hit])
        with pytest.raises(BudgetExhausted):
            judges.direct("q")
    assert meter.calls == 10
    assert judges.calls == Counter(dict.fromkeys(AGREEABLE, 1)) + Counter(support=1)


def test_gold_agrees_with_the_eval_set_and_knows_no_other_question():
    judge = gold("larkspur")
    hits = Shelf.of("larkspur").retrieve(CANCELLED)
    relevant = [hit.chunk_id for hit in hits if judge(CANCELLED, hit) is Relevance.RELEVANT]
    assert relevant == ["cancellation.md#1", "data-export.md#2"]
    assert judge("something else", hits[0]) is Relevance.IRRELEVANT


def test_a_shelf_gives_k_chunks_in_the_same_order_and_remembers_the_queries():
    shelf, meter = Shelf.of("larkspur"), Meter()
    with metered(meter):
        first, again = shelf.retrieve("retention window", 3), shelf.retrieve("retention window", 3)
        nothing = shelf.retrieve("zebra", 4)
    assert first == again
    assert first[0].chunk_id == "cancellation.md#1"
    assert [hit.score for hit in nothing] == [0.0] * 4
    assert (shelf.queries, meter.embeddings) == (["retention window"] * 2 + ["zebra"], 3)


def test_the_words_of_the_recipe_cover_every_label_it_can_be_given():
    assert {decision: set(words) for decision, words in recipe.WORDS.items()} == {
        Decision.RETRIEVE: {"RETRIEVE", "NO_RETRIEVE"},
        Decision.RELEVANCE: {"USEFUL", "NOT_USEFUL"},
        Decision.SUPPORT: {"SUPPORTED", "UNSUPPORTED"},
    }


def test_nothing_but_labs_and_figures_imports_these_loops():
    package = ROOT / "cookbook"
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "cookbook.published" in path.read_text(encoding="utf-8")
    }
    assert {user for user in users if not user.startswith(("published/", "labs/"))} == {"cli/figures.py"}
