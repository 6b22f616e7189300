"""What the check of truncated_json says of clients that ask again in vain, or believe half a reply."""

import json

import pytest

from cookbook.errors import ReplyTruncated, ReplyUnparsable
from cookbook.labs.truncated_json import CASES, LIMIT, MOST, ask, broken, check, solution, verdict_on

BROKEN = "same_limit_again"


def parsed(reply):
    try:
        found = json.loads(reply.text)
    except json.JSONDecodeError as error:
        raise ReplyUnparsable("no JSON") from error
    if not isinstance(found, dict):
        raise ReplyUnparsable("no object")
    return found


def name_it_and_ask_the_same(call):
    for _ in range(2):
        reply = call(LIMIT)
        if not reply.truncated:
            return parsed(reply)
    raise ReplyTruncated(f"cut off at max_tokens={MOST}")


def close_the_brackets(call):
    reply = call(LIMIT)
    text = reply.text
    if reply.truncated and "[" in text:
        text = text[: text.rindex('", "') + 1] + "]}" if '", "' in text else text
    return parsed(type(reply)(text, False))


def parse_first(call):
    for limit in (LIMIT, MOST):
        try:
            return parsed(call(limit))
        except ReplyUnparsable:
            continue
    raise ReplyTruncated(f"cut off at max_tokens={MOST}")


def double_it(call):
    limit = LIMIT
    while (reply := call(limit)).truncated:
        limit *= 2
    return parsed(reply)


def parse_before_the_flag(call):
    """Whole or not is asked only of what does not parse."""
    for limit in (LIMIT, MOST):
        reply = call(limit)
        try:
            return parsed(reply)
        except ReplyUnparsable:
            if not reply.truncated:
                raise
    raise ReplyTruncated(f"cut off at max_tokens={MOST}")


def an_error_about_json(call):
    reply = call(LIMIT)
    return parsed(call(MOST) if reply.truncated else reply)


def an_error_without_a_number(call):
    for limit in (LIMIT, MOST):
        reply = call(limit)
        if not reply.truncated:
            return parsed(reply)
    raise ReplyTruncated("the reply was cut off")


def no_second_call(call):
    reply = call(LIMIT)
    if reply.truncated:
        raise ReplyTruncated(f"cut off at max_tokens={LIMIT}, not {MOST}")
    return parsed(reply)


def whatever_parses(call):
    for limit in (LIMIT, MOST):
        reply = call(limit)
        if not reply.truncated:
            return {"reply": json.loads(reply.text)} if reply.text.startswith("[") else parsed(reply)
    raise ReplyTruncated(f"cut off at max_tokens={MOST}")


WRONG = {
    "call it by its name, and ask the same": (name_it_and_ask_the_same, "same_limit_again"),
    "close the brackets": (close_the_brackets, "half_a_reply_accepted"),
    "raise the limit whenever it does not parse": (parse_first, "failure_hidden"),
    "double the limit": (double_it, "limit_without_end"),
    "the error that was there": (an_error_about_json, "blames_the_json"),
    "an error without a number": (an_error_without_a_number, "limit_not_named"),
    "no second call": (no_second_call, "not_asked_again"),
    "whatever parses": (whatever_parses, "unparsable_accepted"),
}


def test_the_symptom():
    made, judge, meter = ask(broken(), verdict_on(12))
    assert str(made) == "no valid JSON in 3 attempts"
    assert judge.limits == [64, 64, 64]
    assert (meter.calls, meter.completion_tokens) == (3, 192)
    assert [row["it ends in"] for row in judge.rows] == [judge.rows[0]["it ends in"]] * 3


def test_a_second_call_that_ends_differently():
    made, judge, meter = ask(solution(), verdict_on(12))
    assert len(made["unsupported"]) == 12
    assert judge.limits == [64, 256]
    assert (meter.calls, meter.completion_tokens) == (2, 64 + 87)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.situation)
def test_the_solution_in_each_situation(case):
    made, judge, _ = ask(solution(), case.text)
    assert case.judge(made, judge.limits) is None
    assert len(judge.limits) == case.calls


def test_asking_for_the_most_at_once_is_a_mend_too():
    def at_once(call):
        reply = call(MOST)
        if reply.truncated:
            raise ReplyTruncated(f"cut off at max_tokens={MOST}")
        return parsed(reply)

    assert check(at_once).passed


def test_half_a_thought_that_parses_is_not_the_verdict():
    assert check(parse_before_the_flag).diagnosis == "failure_hidden"
    assert "a first thought, then white space" in check(parse_before_the_flag).message


def test_a_whole_reply_is_not_asked_for_twice():
    def twice(call):
        for limit in (LIMIT, MOST):
            reply = call(limit)
            if not reply.truncated and reply.text.startswith("{"):
                return parsed(reply)
        return parsed(reply) if not reply.truncated else solution()(lambda limit: reply)

    assert check(twice).diagnosis == "asked_again_for_nothing"
