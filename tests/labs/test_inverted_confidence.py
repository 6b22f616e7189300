"""What the check of inverted_confidence says of rules that use one of the two fields, or the wrong way round."""

from cookbook.labs.inverted_confidence import SURE, answer_messages, broken, check, solution
from cookbook.schema import Retrieve

BROKEN = "confidence_of_what"


def turned_around(routed):
    return routed.confidence is None or routed.confidence < SURE


def the_choice_alone(routed):
    return routed.choice is Retrieve.YES


def a_sure_yes(routed):
    return routed.choice is Retrieve.YES and (routed.confidence is None or routed.confidence >= SURE)


def always(routed):
    return True


def percent_is_sure(routed):
    return not (routed.choice is Retrieve.NO and (routed.confidence or 0.0) >= SURE)


def none_skips(routed):
    if routed.confidence is None or not 0 <= routed.confidence <= 1:
        return routed.choice is Retrieve.NO
    return not (routed.choice is Retrieve.NO and routed.confidence >= SURE)


def one_probability(routed):
    """P(retrieval is needed), cut at 0.3: a choice of yes with a low confidence becomes a no."""
    sure = routed.confidence if routed.confidence is not None and 0 <= routed.confidence <= 1 else 0.5
    return (sure if routed.choice is Retrieve.YES else 1 - sure) > 1 - SURE


WRONG = {
    "turn the sign around": (turned_around, "sure_yes_is_skipped"),
    "the choice alone": (the_choice_alone, "unsure_no_is_skipped"),
    "only a sure yes": (a_sure_yes, "unsure_yes_is_skipped"),
    "always": (always, "nothing_is_skipped"),
    "85 is sure": (percent_is_sure, "unusable_is_trusted"),
    "without a number, the wrong way round": (none_skips, "unusable_yes_is_skipped"),
    "return the number": (lambda routed: routed.confidence or 0.0, "no_bool"),
}


def test_the_symptom():
    rows, meter = answer_messages(broken())
    assert [row["looked up"] for row in rows] == ["yes", "yes", "no", "no", "no", "yes", "yes", "yes"]
    assert meter.calls == 16
    rows, _ = answer_messages(solution())
    assert [row["looked up"] for row in rows] == ["yes"] * 5 + ["no"] * 3


def test_the_message_names_both_sides():
    assert check(broken()).message.startswith(
        "(yes, 0.6) is answered from memory and (no, 0.9) is looked up. You read the confidence as"
    )


def test_a_low_probability_of_yes_is_no_sure_no():
    verdict = check(one_probability)
    assert verdict.diagnosis == "unsure_yes_is_skipped"
    assert verdict.message.startswith("(yes, 0.2) is answered from memory (2 of 6 such replies).")
