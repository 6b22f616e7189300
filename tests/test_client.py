"""LLMClient on scripted models: budgets, meters, decisions, structured replies, published names."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest
from pydantic import BaseModel

from cookbook.errors import (
    BudgetExhausted,
    ConfigError,
    ContextOverflow,
    ProviderUnavailable,
    ReplyTruncated,
    ReplyUnparsable,
)
from cookbook.providers import LLMClient
from cookbook.providers.meter import Budget, Meter, metered
from cookbook.providers.scripted import scripted_table

PROMPT = [{"role": "user", "content": "Is it so?"}]
YES_NO = {"relevant": ["yes"], "irrelevant": ["no"]}


class Grade(BaseModel):
    verdict: str


def test_importing_and_making_a_client_does_not_load_litellm():
    code = (
        "import sys; from cookbook.providers import LLMClient; c = LLMClient('openai'); c.provider; "
        "LLMClient('replay').describe(); import cookbook._cache; cookbook._cache.stats(); "
        "print([m for m in ('litellm', 'torch', 'xllamacpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_published_names(monkeypatch):
    monkeypatch.setenv("PROVIDER", "scripted/echo")
    client = LLMClient()
    assert (client.provider, client.chat_model) == ("scripted", "scripted/echo")
    assert client.chat("hello") == client.chat([{"role": "user", "content": "hello"}]) == "hello"
    assert client.describe() == "model scripted/echo"
    assert client.timed_on() == ""
    monkeypatch.delenv("PROVIDER")
    with pytest.raises(ConfigError, match="PROVIDER is not set"):
        LLMClient()


def test_every_open_meter_is_charged_once_a_call():
    client = LLMClient(scripted_table({"": "two words"}))
    with metered(Meter()) as outer:
        client.chat("one two three")
        with metered(Meter()) as inner:
            client.chat("one two three")
    assert (inner.calls, inner.prompt_tokens, inner.completion_tokens, inner.cost) == (1, 3, 2, 0.0)
    assert (outer.calls, outer.prompt_tokens, outer.completion_tokens, outer.cost) == (2, 6, 4, 0.0)


def test_the_call_that_would_break_the_budget_is_not_made():
    client = LLMClient("scripted/always_yes")
    with metered(Meter(), Budget(calls=2)) as meter:
        client.chat("1")
        client.decide(PROMPT, YES_NO)
        with pytest.raises(BudgetExhausted):
            client.chat("3")
    assert meter.calls == 2


def test_a_failed_call_is_counted():
    with metered(Meter()) as meter, pytest.raises(ProviderUnavailable):
        LLMClient("scripted/unavailable").chat("?")
    assert (meter.calls, meter.cost) == (1, 0.0)


def test_threads_that_carry_the_context_lose_no_count():
    client = LLMClient("scripted/echo")
    client.chat("the first call imports litellm")
    with metered(Meter()) as meter, ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(copy_context().run, client.chat, f"prompt {n}") for n in range(40)]
        assert [run.result() for run in runs] == [f"prompt {n}" for n in range(40)]
    assert meter.calls == 40


# ---------------------------------------------------------------- decisions


def test_spellings_are_added_up_and_normalised_over_the_labels():
    model = scripted_table({"": {"Yes": 0.2, " yes": 0.1, "no": 0.1, "maybe": 0.5, "know": 0.1}})
    choice = LLMClient(model).decide(PROMPT, YES_NO)
    assert choice.label == "relevant"
    assert choice.probabilities == pytest.approx({"relevant": 0.75, "irrelevant": 0.25}, abs=1e-4)
    assert choice.probability == choice.probabilities["relevant"]
    assert choice.mass == pytest.approx(0.4, abs=1e-4)


def test_exponentials_are_taken_before_the_ratio():
    for yes in (0.99, 0.5, 0.01):  # a ratio of logarithms would rank these the other way round
        model = scripted_table({"": {"yes": yes, "no": 1 - yes}})
        choice = LLMClient(model).decide(PROMPT, YES_NO)
        assert choice.probabilities["relevant"] == pytest.approx(yes, abs=1e-4)


def test_a_label_that_is_absent_has_probability_zero():
    choice = LLMClient(scripted_table({"": {"no": 0.9, "the": 0.1}})).decide(PROMPT, YES_NO)
    assert choice.probabilities == {"relevant": 0.0, "irrelevant": 1.0}


@pytest.mark.parametrize("reply", [{"know": 0.5, "eyes": 0.5}, "cannot tell", "", "yesterday"])
def test_no_label_at_all_is_a_failure_that_quotes_what_came(reply):
    client = LLMClient(scripted_table({"": reply}))
    with metered(Meter()) as meter, pytest.raises(ReplyUnparsable) as caught:
        client.decide(PROMPT, YES_NO)
    first = reply.split(" ")[0] if isinstance(reply, str) else "know"
    assert repr(first) in str(caught.value)
    assert client.chat_model in str(caught.value)
    assert meter.calls == 1


def test_labels_that_share_a_word_are_refused_before_the_call():
    with metered(Meter()) as meter, pytest.raises(ConfigError):
        LLMClient("scripted/always_yes").decide(PROMPT, {"a": ["yes"], "b": ["Yes."]})
    assert meter.calls == 0


# ---------------------------------------------------------------- replies


def test_ask_returns_the_model_or_fails():
    good = scripted_table({"": 'Here:\n```json\n{"verdict": "yes"}\n```'})
    assert LLMClient(good).ask(PROMPT, Grade, max_tokens=50) == Grade(verdict="yes")
    with pytest.raises(ReplyUnparsable, match="scripted/garbage"):
        LLMClient("scripted/garbage").ask(PROMPT, Grade, max_tokens=50)


def test_a_reply_cut_off_raises_in_chat_and_ask_and_is_marked_in_complete():
    client = LLMClient(scripted_table({"": 'one {"verdict": "yes"}'}))
    assert client.complete(PROMPT, max_tokens=2).truncated
    with pytest.raises(ReplyTruncated, match="max_tokens=2"):
        client.chat(PROMPT, max_tokens=2)
    with metered(Meter()) as meter, pytest.raises(ReplyTruncated, match="max_tokens=2"):
        client.ask(PROMPT, Grade, max_tokens=2)
    assert meter.calls == 1


def test_thinking_does_not_reach_the_caller():
    client = LLMClient(scripted_table({"": '<think>{"verdict": "no"}</think> {"verdict": "yes"}'}))
    assert client.complete(PROMPT, max_tokens=50).text == '{"verdict": "yes"}'
    assert client.ask(PROMPT, Grade, max_tokens=50) == Grade(verdict="yes")
    endless = LLMClient(scripted_table({"": "<think> on and on"}))
    with pytest.raises(ReplyTruncated, match="still thinking"):
        endless.chat(PROMPT, max_tokens=3)


def test_a_window_set_by_hand_holds_for_any_model(monkeypatch):
    monkeypatch.setenv("COOKBOOK_CONTEXT_WINDOW", "40")
    client = LLMClient("scripted/echo")
    assert client.chat("short", max_tokens=20) == "short"
    with metered(Meter()) as meter, pytest.raises(ContextOverflow, match="window of 40 tokens by"):
        client.chat("short", max_tokens=40)
    assert meter.calls == 0


# ---------------------------------------------------------------- embeddings


def test_embed_gives_plain_lists_and_counts_one_request(monkeypatch):
    asked = []

    class Fixed:
        def embed(self, texts):
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    def get_embedder(name):
        asked.append(name)
        return Fixed()

    monkeypatch.setattr("cookbook.embedders.get_embedder", get_embedder)
    with metered(Meter()) as meter:
        assert LLMClient("replay").embed(["a", "bcd"]) == [[1.0, 1.0], [3.0, 1.0]]
        assert LLMClient("openai").embed([""]) == [[0.0, 1.0]]
    assert asked == [None, "openai/text-embedding-3-small"]
    assert (meter.embeddings, meter.calls) == (2, 0)
    with pytest.raises(ConfigError, match="no embedding model is set for groq"):
        LLMClient("groq").embed(["a"])
