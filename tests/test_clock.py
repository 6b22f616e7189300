"""The clock: three numbers out of real replies, and the same seconds for the same work whoever recorded it."""

import json

import pytest
from eval_stubs import answer

from cookbook.errors import ConfigError
from cookbook.eval.clock import FEWEST, clock_of, fit, keep
from cookbook.providers.call import Reply
from cookbook.schema import Step

ABOUT = {"model": "local/small", "machine": "a desk, 2 cores", "engine": "llama AVX2", "date": "2026-11-30"}
SIZES = [(100, 1), (200, 1), (200, 40), (700, 1), (700, 60), (1000, 5), (50, 20), (300, 300)]


def replies(call=0.2, prompt=0.013, reply=0.07):
    return [Reply("", "stop", p, c, "local/small", call + prompt * p + reply * c) for p, c in SIZES]


def test_the_three_numbers_are_found_again():
    clock = fit(replies(), **ABOUT)
    assert (clock.a_call, clock.a_prompt_token, clock.a_reply_token) == (0.2, 0.013, 0.07)
    assert (clock.replies, clock.error) == (8, 0.0)
    assert clock.seconds(3, 1000, 10) == pytest.approx(0.6 + 13 + 0.7)
    assert str(clock) == "a desk, 2 cores, 13 ms a prompt token and 70 ms a reply token"


def test_no_number_is_below_zero():
    slower_when_short = [Reply("", "stop", p, 1, "local/small", 5 - p / 1000) for p in range(100, 900, 100)]
    clock = fit(slower_when_short, **ABOUT)
    assert min(clock.a_call, clock.a_prompt_token, clock.a_reply_token) == 0.0
    assert clock.error > 0


def test_too_few_replies_are_no_clock():
    with pytest.raises(ConfigError, match=f"needs {FEWEST} replies, there are 7"):
        fit(replies()[:7], **ABOUT)


def test_every_step_is_timed_by_its_own_counts():
    clock = fit(replies(), **ABOUT)
    steps = [
        Step("retrieve", seconds=9.0),
        Step("grade", calls=2, prompt_tokens=400, completion_tokens=2, seconds=31.0, note="kept 1 of 2"),
    ]
    timed = clock.retimed(answer("a?", steps=steps)).trace
    assert [step.seconds for step in timed.steps] == [0.0, pytest.approx(0.4 + 5.2 + 0.14)]
    assert (timed.steps[1].note, steps[1].seconds) == ("kept 1 of 2", 31.0)


def test_a_clock_is_kept_by_model_and_replaced(tmp_path):
    assert clock_of("local/small", tmp_path) is None
    keep(fit(replies(call=1.0), **ABOUT), tmp_path)
    keep(fit(replies(), **ABOUT | {"model": "local/other"}), tmp_path)
    path = keep(fit(replies(), **ABOUT), tmp_path)
    assert [each["model"] for each in json.loads(path.read_text())] == ["local/small", "local/other"]
    assert clock_of("local/small", tmp_path) == fit(replies(), **ABOUT)


@pytest.mark.parametrize("text", ["", "{bad", "null", '{"a": 1}', '[{"model": "local/small"}]'])
def test_a_damaged_file_of_clocks_is_named(tmp_path, text):
    (tmp_path / "clock.json").write_text(text)
    with pytest.raises(ConfigError, match=r"clock\.json holds no clocks .*; restore it$"):
        clock_of("local/small", tmp_path)
