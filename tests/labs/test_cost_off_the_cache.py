"""What the check of cost_off_the_cache says of clients that count in the wrong place."""

import pytest

from cookbook.errors import ProviderUnavailable
from cookbook.labs.cost_off_the_cache import CASES, broken, charge, check, compare, solution, uncounted
from cookbook.providers.meter import Meter, metered

BROKEN = "nothing_charged"


def at_the_call_site(model, cache, prompt, temperature):
    reply = uncounted(model, cache, prompt, temperature)
    charge(prompt, reply)
    return reply


def what_the_cache_gained(model, cache, prompt, temperature):
    before = len(cache)
    reply = uncounted(model, cache, prompt, temperature)
    if len(cache) > before:
        charge(prompt, reply)
    else:
        charge(prompt, reply, cached=True)
    return reply


def misses_only(model, cache, prompt, temperature):
    if temperature == 0 and prompt in cache:
        return cache[prompt]
    return solution()(model, cache, prompt, temperature)


def when_it_worked(model, cache, prompt, temperature):
    hit = temperature == 0 and prompt in cache
    reply = uncounted(model, cache, prompt, temperature)
    charge(prompt, reply, cached=hit)
    return reply


def cache_everything(model, cache, prompt, temperature):
    return solution()(model, cache, prompt, 0.0)


def say_nothing(model, cache, prompt, temperature):
    try:
        return solution()(model, cache, prompt, temperature)
    except ProviderUnavailable:
        return ""


def once(model, cache, prompt, temperature):
    if temperature == 0 and prompt in cache:
        charge(prompt, cache[prompt], cached=True)
        return cache[prompt]
    try:
        reply = model.complete(prompt)
    finally:
        charge(prompt, "")
    if temperature == 0:
        cache[prompt] = reply
    return reply


def never_cache(model, cache, prompt, temperature):
    return solution()(model, {}, prompt, temperature)


WRONG = {
    "one for each question asked": (at_the_call_site, "hit_charged_as_call"),
    "charge what the cache gained": (what_the_cache_gained, "wrong_count"),
    "charge what missed the cache": (misses_only, "hit_not_charged"),
    "charge what came back": (when_it_worked, "failure_not_charged"),
    "cache whatever the temperature": (cache_everything, "sampled_reply_cached"),
    "an outage is an empty reply": (say_nothing, "outage_hidden"),
    "one attempt": (once, "no_second_attempt"),
    "do without the cache": (never_cache, "cache_not_kept"),
}


def test_the_symptom():
    (plain, loop), today = compare(broken())
    assert (plain["new cache entries"], loop["new cache entries"]) == (4, 0)
    assert (plain["on the wire"], loop["on the wire"]) == (5, 0)
    assert (today.calls, today.cached) == (0, 0)


def test_the_meter_tells_calls_from_hits():
    (plain, loop), today = compare(solution())
    assert (plain["meter: calls"], plain["meter: from the cache"]) == (5, 0)
    assert (loop["meter: calls"], loop["meter: from the cache"]) == (0, 36)
    assert (today.calls, today.cached) == (5, 36)


def test_the_message_has_all_three_counts():
    assert check(broken()).message.startswith(
        "nine prompts, an empty cache: 9 attempts reached the model; the meter says 0 calls and 0 from the cache, and the cache "
        "has 9 entries."
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.situation)
def test_the_solution_in_each_situation(case):
    assert case.judge(solution()) is None


def test_a_hit_reads_no_tokens():
    with metered(Meter()) as meter:
        charge("two words", "three more words", cached=True)
    assert (meter.prompt_tokens, meter.completion_tokens) == (0, 0)
