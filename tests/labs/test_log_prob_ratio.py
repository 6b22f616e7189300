"""What the check of log_prob_ratio says of rules that leave the logarithms in, or the missing token out."""

import math

import pytest

from cookbook.labs.log_prob_ratio import DELTA, answer_messages, broken, check, decision, solution
from cookbook.reflect.tokens import retrieves as package_rule
from cookbook.reflect.tokens.faults import log_ratio

BROKEN = "skips_when_surest"


def logs_of(token, missing=-100.0):
    found = (token.logprob_of(text) for text in ("[Retrieval]", "[No Retrieval]"))
    return [missing if log is None else log for log in found]


def turned_around(token, delta):
    return log_ratio(token) < 1 - delta


def exp_of_the_ratio(token, delta):
    return math.exp(log_ratio(token)) > delta


def the_emitted_token(token, delta):
    return token.text == "[Retrieval]"


def not_normalised(token, delta):
    yes, _ = logs_of(token)
    return math.exp(yes) > delta


def minus_100_among_probabilities(token, delta):
    yes, no = (-100.0 if log == -100.0 else math.exp(log) for log in logs_of(token))
    return yes / (yes + no) > delta


def crashes_on_none(token, delta):
    yes, no = (math.exp(token.logprob_of(text)) for text in ("[Retrieval]", "[No Retrieval]"))
    return yes / (yes + no) > delta


def negated(token, delta):
    return -log_ratio(token) > delta


WRONG = {
    "turn the comparison around": (turned_around, "turns_elsewhere"),
    "exp of the ratio": (exp_of_the_ratio, "always_retrieves"),
    "minus the ratio": (negated, "never_retrieves"),
    "whichever was emitted": (the_emitted_token, "delta_ignored"),
    "p of one token alone": (not_normalised, "not_normalised"),
    "-100 for what is missing": (minus_100_among_probabilities, "missing_token"),
    "return the ratio": (lambda token, delta: log_ratio(token), "no_bool"),
}


def test_the_symptom():
    rows, meter = answer_messages(broken())
    assert [row["looked up"] for row in rows] == ["no"] * 3 + ["yes"] * 3
    assert meter.calls == 12
    rows, _ = answer_messages(solution())
    assert [row["looked up"] for row in rows] == ["yes"] * 3 + ["no"] * 3


def test_the_message_gives_the_crossover():
    assert "your rule changes its mind at 0.7245, downwards" in check(broken()).message
    assert "you begin to retrieve at p(Retrieval) = 0.2755" in check(turned_around).message


def test_a_missing_token_that_raises_is_explained():
    verdict = check(crashes_on_none)
    assert verdict.diagnosis == "missing_token"
    assert verdict.message.startswith("with [No Retrieval]=0.9 x=0.1 you raise TypeError")


def test_the_packages_own_rule_passes():
    check(package_rule).require()


@pytest.mark.parametrize("p", [0.05, 0.19, 0.21, 0.5, 0.9])
def test_the_solution_is_the_packages_rule(p):
    assert solution()(decision(p), DELTA) == package_rule(decision(p))
