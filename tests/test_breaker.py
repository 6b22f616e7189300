"""A provider that keeps failing is left alone, tried once after a while, and never taken for a "no"."""

import pytest
from standins import build_loop

from cookbook.errors import BudgetExhausted, ConfigError, ProviderUnavailable
from cookbook.providers import LLMClient
from cookbook.providers.breaker import Breaker
from cookbook.providers.failures import Rejected
from cookbook.providers.meter import Budget, Meter, metered
from cookbook.providers.scripted import scripted
from cookbook.reflect.relevance import LLMRelevance
from cookbook.schema import Reason
from cookbook.systems.handbook_graph import HandbookGraph


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, cooldown=30.0, clock=clock)


@pytest.fixture
def provider():
    """A model that fails as long as ``provider["error"]`` is set, and counts what reaches it."""
    state = {"error": ProviderUnavailable("the provider is down"), "asked": 0}

    @scripted("patient")
    def patient(messages):
        state["asked"] += 1
        if state["error"]:
            raise state["error"]
        return "yes"

    return state


def ask(breaker: Breaker) -> str:
    return LLMClient("scripted/patient", breaker=breaker).chat("Are you there?")


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(ProviderUnavailable, match="is down"):
            ask(breaker)


def test_it_opens_after_failures_in_a_row(breaker, provider):
    fail(breaker, 2)
    assert breaker.state == "closed"
    fail(breaker, 1)
    assert breaker.state == "open"
    with pytest.raises(ProviderUnavailable, match="left alone for 30 s after 3 failed calls in a row; wait"):
        ask(breaker)
    assert provider["asked"] == 3


def test_a_success_starts_the_count_again(breaker, provider):
    fail(breaker, 2)
    provider["error"] = None
    assert ask(breaker) == "yes"
    provider["error"] = ProviderUnavailable("the provider is down")
    fail(breaker, 2)
    assert breaker.state == "closed"


def test_after_the_cooldown_one_call_decides(breaker, clock, provider):
    fail(breaker, 3)
    clock.now += 29.9
    with pytest.raises(ProviderUnavailable, match="left alone"):
        ask(breaker)
    clock.now += 0.1
    assert breaker.state == "half_open"
    fail(breaker, 1)  # one failure is enough to open it again, for the whole time
    assert breaker.state == "open"
    clock.now += 30
    provider["error"] = None
    assert ask(breaker) == "yes"
    assert breaker.state == "closed"


def test_a_half_open_breaker_lets_one_call_through(breaker, clock, provider):
    fail(breaker, 3)
    clock.now += 30
    provider["error"] = None
    with breaker.watch("m"), pytest.raises(ProviderUnavailable, match="left alone for 0 s"):
        ask(breaker)
    assert ask(breaker) == "yes"


def test_a_rejected_request_is_the_fault_of_the_request(breaker, provider):
    provider["error"] = Rejected("the prompt is faulty")
    for _ in range(5):
        with pytest.raises(Rejected):
            ask(breaker)
    assert breaker.state == "closed"


def test_a_call_that_was_never_sent_decides_nothing(breaker, clock, provider):
    fail(breaker, 3)
    clock.now += 30
    with metered(Meter(), Budget(0)), pytest.raises(BudgetExhausted):
        ask(breaker)
    assert breaker.state == "half_open"
    provider["error"] = None
    assert ask(breaker) == "yes"  # and the trial was given back


def test_a_loop_behind_an_open_breaker_fails_at_once_and_says_failed(breaker, provider):
    client = LLMClient("scripted/patient", breaker=breaker)
    loop, _ = build_loop(HandbookGraph, relevance=LLMRelevance(client))
    answer = loop.answer("How long?")
    assert answer.reason is Reason.GRADER_FAILED
    assert provider["asked"] == 3  # of five passages
    [grading] = [step for step in answer.trace.steps if step.node == "grade"]
    assert grading.calls == 3
    assert "left alone" in grading.verdicts[-1].failure
    assert loop.answer("How long?").reason is Reason.GRADER_FAILED
    assert provider["asked"] == 3


def test_it_needs_a_number_to_count_to():
    with pytest.raises(ConfigError, match="at least 1 failure; got 0"):
        Breaker(failures=0)
