"""A hosted provider that is slow, busy, broken or wrong: always one line, never a key, never a hang."""

import time

import pytest
from fake_provider import KEY, completion
from pydantic import BaseModel

from cookbook.assemble import parts_for
from cookbook.errors import (
    CallError,
    ConfigError,
    ContextOverflow,
    MissingKey,
    ProviderUnavailable,
    ReplyTruncated,
    ReplyUnparsable,
)
from cookbook.providers import LLMClient, gateway
from cookbook.providers.meter import Meter, metered

PROMPT = [{"role": "user", "content": "Is it?"}]
YES_NO = {"relevant": ["yes"], "irrelevant": ["no"]}


class Grade(BaseModel):
    verdict: str


def failure(client: LLMClient) -> tuple[CallError, Meter]:
    with metered(Meter()) as meter, pytest.raises(CallError) as caught:
        client.complete(PROMPT, max_tokens=5)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return caught.value, meter


def test_a_reply_its_usage_and_the_price_when_litellm_knows_one(provider):
    with metered(Meter()) as meter:
        known = LLMClient("openai/gpt-4o-mini").complete(PROMPT, max_tokens=5)
        assert (known.text, known.prompt_tokens, known.completion_tokens) == ("hello", 11, 3)
        assert known.cost == pytest.approx(11 * 0.15e-6 + 3 * 0.6e-6)
        assert LLMClient("openai/in-house").complete(PROMPT, max_tokens=5).cost is None
    assert (meter.calls, meter.prompt_tokens, meter.completion_tokens, meter.cost) == (2, 22, 6, None)
    sent = {key: value for key, value in provider.requests[0].items() if key != "messages"}
    assert sent == {"model": "gpt-4o-mini", "max_tokens": 5, "temperature": 0.0, "seed": 0}


@pytest.mark.parametrize("trouble", [429, 500, 503, "half", "<html>502</html>", {"hello": 1}])
def test_trouble_that_passes_is_retried_and_every_attempt_is_counted(provider, trouble):
    provider.replies = [trouble, completion("at last")]
    with metered(Meter()) as meter:
        assert LLMClient("openai/m").chat("Is it?") == "at last"
    assert (len(provider.requests), meter.calls, meter.prompt_tokens) == (2, 2, 11)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (429, "answered 429, too many requests"),
        (503, r"failed \(503\)"),
        ("half", "the connection failed"),
        ("<html>", "failed"),
        ({**completion(""), "choices": []}, "failed"),
    ],
)
def test_trouble_that_stays_ends_after_the_retries(provider, trouble, said):
    provider.replies = [trouble]
    error, meter = failure(LLMClient("openai/m"))
    assert isinstance(error, ProviderUnavailable)
    assert error.args[0].startswith("openai/m")
    with pytest.raises(ProviderUnavailable, match=said):
        LLMClient("openai/m", max_retries=0).chat("?")
    assert (len(provider.requests), meter.calls) == (4, 3)


@pytest.mark.parametrize(
    ("status", "said"), [(401, "refused the key"), (400, "400"), (404, "check the model's")]
)
def test_a_refusal_is_not_retried(provider, status, said):
    provider.replies = [status]
    error, meter = failure(LLMClient("openai/m"))
    assert said in str(error)
    assert (len(provider.requests), meter.calls) == (1, 1)


@pytest.mark.parametrize("slow", ["hang", "drip"])
def test_nothing_waits_longer_than_the_timeout(provider, slow):
    LLMClient("openai/m").chat("warm up: the first call imports litellm")
    provider.replies = [slow]
    started = time.monotonic()
    error, _ = failure(LLMClient("openai/m", timeout=0.5))
    assert "did not answer within 0.5 s" in str(error)
    assert time.monotonic() - started < 1.5


def test_a_call_given_up_ends_before_the_process_does(provider):
    LLMClient("openai/m").chat("warm up: the first call imports litellm")
    provider.replies = ["drip"]
    failure(LLMClient("openai/m", timeout=0.3))
    assert len(gateway._running) == 1
    gateway._let_threads_finish()
    assert not gateway._running


def test_a_closed_door_says_so(provider, monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    error, meter = failure(LLMClient("openai/m"))
    assert "Connection refused" in str(error)
    assert meter.calls == 3


def test_a_missing_key_is_named_and_nothing_is_sent(provider, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    client = LLMClient("openai/m")  # naming a model needs no key yet
    with metered(Meter()) as meter, pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        client.chat("Is it?")
    assert (provider.requests, meter.calls) == ([], 0)
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        parts_for("larkspur", client=client)  # before an index is built for nothing


def test_a_provider_that_litellm_does_not_know_is_a_setting_gone_wrong():
    with pytest.raises(ConfigError, match="no provider 'foo'"):
        LLMClient("foo/bar").chat("Is it?")


def test_the_context_window_is_checked_with_numbers_before_anything_is_sent(provider, monkeypatch):
    long = [{"role": "user", "content": "word " * 200_000}]
    with pytest.raises(ContextOverflow, match=r"max_tokens=100 exceed the window of 128000 tokens by \d+"):
        LLMClient("openai/gpt-4o-mini").complete(long, max_tokens=100)
    monkeypatch.setenv("COOKBOOK_CONTEXT_WINDOW", "50")
    with pytest.raises(ContextOverflow, match="window of 50 tokens"):
        LLMClient("openai/in-house").complete(PROMPT, max_tokens=60)
    assert provider.requests == []


# ---------------------------------------------------------------- decisions and structured replies


def test_one_token_decides_where_log_probabilities_come_back(provider):
    provider.replies = [completion("Yes", "length", {"Yes": -0.3, " no": -2.0, "The": -3.0})]
    with metered(Meter()) as meter:
        choice = LLMClient("openai/m").decide(PROMPT, YES_NO)
    assert choice.label == "relevant"
    assert choice.probability == pytest.approx(0.8455, abs=1e-4)
    assert meter.calls == 1
    assert (provider.requests[0]["max_tokens"], provider.requests[0]["top_logprobs"]) == (1, 10)


@pytest.mark.parametrize("without", [completion("Yes"), 400])
def test_a_schema_decides_where_they_do_not_and_that_is_remembered(provider, without):
    provider.replies = [without, completion('{"verdict": "no"}')]
    client = LLMClient("openai/m")
    assert client.decide(PROMPT, YES_NO).label == "irrelevant"
    assert len(provider.requests) == 2
    choice = client.decide(PROMPT, YES_NO)
    assert (choice.label, choice.probability, choice.mass) == ("irrelevant", None, None)
    assert choice.probabilities == {"relevant": 0.0, "irrelevant": 1.0}
    assert len(provider.requests) == 3
    form = provider.requests[-1]["response_format"]["json_schema"]["schema"]
    assert form["properties"]["verdict"]["enum"] == ["yes", "no"]


def test_models_without_log_probabilities_are_known_without_a_call():
    assert gateway.supports("openai/gpt-4o-mini", "logprobs", "top_logprobs")
    assert not gateway.supports("anthropic/claude-haiku-4-5", "logprobs", "top_logprobs")
    assert gateway.supports("local/qwen2.5-coder-1.5b", "logprobs")


@pytest.mark.parametrize(
    "text",
    [
        "The passage seems quite relevant to me.",
        '{"score": "yes"}',
        "",
        '{"verdict": "maybe", "verdict": "yes"}',
    ],
)
def test_a_provider_that_ignores_the_schema_is_found_out_here(provider, text):
    provider.replies = [completion(text)]
    with pytest.raises(ReplyUnparsable, match="openai/gpt-4o-mini"):
        LLMClient("openai/gpt-4o-mini").ask(PROMPT, Grade, max_tokens=20)
    assert len(provider.requests) == 1


def test_a_schema_is_told_in_words_where_nobody_is_known_to_enforce_it(provider):
    provider.replies = [completion('{"verdict": "yes"}')]
    assert LLMClient("openai/gpt-4o-mini").ask(PROMPT, Grade, max_tokens=20) == Grade(verdict="yes")
    assert LLMClient("openai/in-house").ask(PROMPT, Grade, max_tokens=20) == Grade(verdict="yes")
    form = provider.requests[0]["response_format"]["json_schema"]
    assert form["strict"]
    assert form["schema"]["properties"] == {"verdict": {"type": "string"}}  # without limits, see gateway
    known, unknown = (request["messages"][-1]["content"] for request in provider.requests)
    assert known == "Is it?"
    assert unknown.startswith("Is it?\n\nReply with one JSON object")


def test_half_an_object_is_truncation_and_not_asked_for_again(provider):
    provider.replies = [completion('{"verdict": "ye', "length")]
    with pytest.raises(ReplyTruncated, match="max_tokens=20"):
        LLMClient("openai/m").ask(PROMPT, Grade, max_tokens=20)
    provider.replies = [completion('{"verdict": "yes"}', "length")]
    with pytest.raises(ReplyTruncated):
        LLMClient("openai/m").ask(PROMPT, Grade, max_tokens=20)
    assert len(provider.requests) == 2
