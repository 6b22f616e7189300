"""Replaying: the recorded reply to the same call, with its recorded cost, or a miss that says what to do."""

import pytest

from cookbook import paths
from cookbook.errors import ConfigError, ReplayMiss
from cookbook.providers import LLMClient
from cookbook.providers.call import Call, Reply, call_of, to_entry
from cookbook.providers.meter import Meter, metered
from cookbook.providers.names import RECORDED_MODEL
from cookbook.providers.replies import ReplyStore

PROMPT = [{"role": "user", "content": "Can I export\nmy data?"}]


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Recordings of one generated text and one decision."""
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    store = ReplyStore(tmp_path)
    text = Call(RECORDED_MODEL, tuple(PROMPT), 40)
    word = Call(RECORDED_MODEL, tuple(PROMPT), 1, logprobs=10)
    whole = Reply("Yes, as a ZIP.", "stop", 21, 6, RECORDED_MODEL, seconds=2.5)
    first = Reply("Yes", "length", 21, 1, RECORDED_MODEL, seconds=0.5, top_logprobs={"Yes": -0.2, "No": -1.8})
    store.append("demo", to_entry(text, whole) | {"date": "2026-11-02", "machine": "a laptop"})
    store.append("demo", to_entry(word, first) | {"date": "2026-11-30", "machine": "a desk"})


def test_the_recorded_reply_comes_back_with_its_usage_and_seconds(recorded):
    client = LLMClient("replay")
    with metered(Meter()) as meter:
        reply = client.complete(PROMPT, max_tokens=40)
        choice = client.decide(PROMPT, {"relevant": ["yes"], "irrelevant": ["no"]})
    assert reply == Reply("Yes, as a ZIP.", "stop", 21, 6, RECORDED_MODEL, seconds=2.5)
    assert (choice.label, round(choice.probability, 3)) == ("relevant", 0.832)
    assert meter == Meter(calls=2, prompt_tokens=42, completion_tokens=7, seconds=3.0)
    assert client.chat_model == f"replay/{RECORDED_MODEL}"
    assert client.describe() == f"replay of {RECORDED_MODEL}, recorded 2026-11-02 to 2026-11-30"
    assert client.timed_on() == "a desk and a laptop"


@pytest.mark.parametrize(
    "other", [{"max_tokens": 41}, {"max_tokens": 40, "temperature": 0.5}, {"max_tokens": 40, "logprobs": 1}]
)
def test_a_call_that_differs_at_all_is_a_miss(recorded, other):
    with metered(Meter()) as meter, pytest.raises(ReplayMiss) as caught:
        LLMClient("replay").complete(PROMPT, **other)
    said = str(caught.value)
    assert "'Can I export my data?'" in said
    assert f"PROVIDER={RECORDED_MODEL}" in said
    assert "cookbook models fetch qwen2.5-coder-1.5b" in said
    assert "cookbook record" in said
    assert "\n" not in said
    assert meter.calls == 0


def test_a_model_of_which_nothing_is_recorded_is_refused_at_once(recorded):
    with pytest.raises(
        ConfigError, match=rf"^nothing is recorded of local/x; recorded: {RECORDED_MODEL}; .*$"
    ):
        LLMClient("replay/local/x")


def test_before_anything_is_recorded_the_first_call_is_a_miss(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    client = LLMClient("replay/openai/m")
    assert client.describe() == "replay of openai/m, nothing recorded yet"
    with pytest.raises(ReplayMiss, match=r"no recording of openai/m .* PROVIDER=openai/m,"):
        client.complete(PROMPT, max_tokens=40)


def test_every_committed_recording_is_filed_under_its_own_call():
    for entry in ReplyStore(paths.RECORDINGS):
        assert call_of(entry).key == entry["key"], entry["messages"][-1]["content"][:80]
        assert {"weights", "date", "machine", "seconds"} <= entry.keys()
