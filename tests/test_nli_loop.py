"""The NLI loop: one more try with the failed claims, claims against passages, and what the judge costs."""

from standins import build_loop

from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.entailment import LLMEntailment
from cookbook.reflect.support import ClaimSupport
from cookbook.schema import Reason, Relevance, Status, Support, Usefulness
from cookbook.systems.nli_loop import Caps, NLILoop


def build(**options):
    return build_loop(NLILoop, **options)


def test_one_pass_and_no_gate():
    answer = build()[0].answer("How long?")
    assert answer.trace.nodes == ["retrieve", "grade", "generate", "check_support", "check_usefulness"]
    assert answer.trace.calls == 5 + 3  # the scripted judge charges a call for its check


def test_nothing_relevant_costs_the_grades_alone():
    answer = build(grades=[Relevance.IRRELEVANT])[0].answer("How long?")
    assert (answer.reason, answer.trace.calls) == (Reason.NO_RELEVANT_PASSAGE, 5)


def test_a_rejected_draft_is_written_once_more_with_the_reason():
    loop, script = build(drafts=["For 90 days.", "For 30 days."], support=[Support.NONE, Support.FULLY])
    answer = loop.answer("How long?")
    assert answer.text == "For 30 days."
    assert "For 90 days." in script.seen_feedback[1]


def test_two_rejections_are_a_refusal():
    answer = build(drafts=["a", "b", "c"], support=[Support.NONE])[0].answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.nodes.count("regenerate") == 1


def test_a_useless_answer_is_written_once_more_and_kept_as_found():
    loop, script = build(drafts=["a", "b"], usefulness=[Usefulness.NOT_USEFUL])
    answer = loop.answer("How long?")
    assert (answer.status, answer.reason, answer.found) == (Status.REFUSED, Reason.NOT_USEFUL, "a")
    assert 'did not resolve it: "a"' in script.seen_feedback[1]


def test_the_same_useless_words_again_end_it():
    answer = build(drafts=["a"], usefulness=[Usefulness.NOT_USEFUL])[0].answer("How long?")
    assert answer.reason is Reason.NOT_USEFUL
    assert answer.trace.nodes[-2:] == ["regenerate", "refuse"]


def test_the_ceiling_depends_on_the_judge():
    assert NLILoop.most_calls(5) == 5 + 2 * (2 + 15) == 39  # three claims, five passages, by LLM
    assert Caps(claims=0).calls(5) == 9  # an encoder: the published figure with a retry
    assert Caps(claims=0, regenerations=0).calls(5) == 7


def test_each_claim_meets_the_passages_until_one_entails_it():
    model = scripted_table({"<statement>": "yes"})
    support = ClaimSupport(LLMEntailment(LLMClient(model)), most_claims=3)
    loop, _ = build(drafts=["It is kept. It is free."])
    loop.support = support
    answer = loop.answer("How long?")
    assert answer.status is Status.ANSWERED
    (checked,) = (step for step in answer.trace.steps if step.node == "check_support")
    assert checked.calls == 2  # two claims, each entailed by the first passage it met
