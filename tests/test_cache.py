"""The exact cache: off by default, hit only by the very same call, counted apart from calls."""

import pytest
from fake_provider import completion
from pydantic import BaseModel

from cookbook import _cache
from cookbook.errors import ConfigError
from cookbook.providers import LLMClient
from cookbook.providers.meter import Budget, Meter, metered

PROMPT = [{"role": "user", "content": "Is it?"}]


class Second(BaseModel):
    verdict: str
    reason: str


@pytest.fixture
def cache_on(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("COOKBOOK_CACHE_LLM", "1")


def test_it_is_off_unless_asked_for(tmp_path, monkeypatch, provider):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    LLMClient("openai/m").chat(PROMPT)
    LLMClient("openai/m").chat(PROMPT)
    assert len(provider.requests) == 2
    assert _cache.stats()["entries"] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_hit_spends_nothing_and_is_no_call(cache_on, provider):
    hits = _cache.stats()["hits"]
    with metered(Meter(), Budget(calls=1)) as meter:
        first = LLMClient("openai/gpt-4o-mini").complete(PROMPT, max_tokens=5)
        second = LLMClient("openai/gpt-4o-mini").complete(PROMPT, max_tokens=5)
    assert (first.text, first.cached, second.text, second.cached) == ("hello", False, "hello", True)
    assert (meter.calls, meter.cached, meter.prompt_tokens) == (1, 1, 11)
    assert meter.cost == first.cost
    assert len(provider.requests) == 1
    assert _cache.stats()["entries"] == 1
    assert _cache.stats()["hits"] == hits + 1


def test_any_difference_that_affects_the_output_is_another_entry(cache_on, provider):
    provider.replies = [completion('{"verdict": "yes", "reason": "so"}')]
    client = LLMClient("openai/gpt-4o-mini")
    for _ in range(2):
        client.complete(PROMPT, max_tokens=16)
        client.complete(PROMPT, max_tokens=400)
        client.complete(PROMPT, max_tokens=16, logprobs=2)
        client.complete(PROMPT, max_tokens=16, schema={"type": "object"})
        client.ask(PROMPT, Second, max_tokens=16)
        LLMClient("openai/other").complete(PROMPT, max_tokens=16)
        LLMClient("openai/gpt-4o-mini", seed=1).complete(PROMPT, max_tokens=16)
    assert len(provider.requests) == _cache.stats()["entries"] == 7


def test_a_temperature_above_zero_is_never_cached(cache_on, provider):
    for _ in range(2):
        LLMClient("openai/m", temperature=0.7).chat(PROMPT)
        LLMClient("openai/m").complete(PROMPT, max_tokens=5, temperature=1.0)
    assert len(provider.requests) == 4
    assert _cache.stats()["entries"] == 0


def test_a_failure_is_not_cached(cache_on, provider):
    provider.replies = [401, completion("hello")]
    with pytest.raises(Exception, match="refused the key"):
        LLMClient("openai/m").chat(PROMPT)
    assert LLMClient("openai/m").chat(PROMPT) == "hello"


def test_a_cache_that_cannot_be_written_says_what_to_set(tmp_path, monkeypatch, provider):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("COOKBOOK_CACHE_LLM", "1")
    with pytest.raises(ConfigError, match=r"^cannot use .*file.*; set COOKBOOK_CACHE to a folder .*$"):
        LLMClient("openai/m").chat(PROMPT)
