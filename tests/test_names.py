"""What PROVIDER may say."""

import pytest

from cookbook.errors import ConfigError
from cookbook.providers.names import DEFAULT_MODELS, RECORDED_MODEL, int_setting, resolve


def test_a_provider_stands_for_its_default_model(monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay")
    target = resolve(None)
    assert (target.provider, target.route, target.model) == (
        "replay",
        f"replay/{RECORDED_MODEL}",
        RECORDED_MODEL,
    )
    assert not target.live
    assert resolve("ollama").provider == "ollama"
    assert resolve("ollama").route.startswith("ollama_chat/")
    assert all(resolve(name).provider == name for name in DEFAULT_MODELS)


@pytest.mark.parametrize(
    ("name", "provider", "model", "live", "ours"),
    [
        ("openai/gpt-4o-mini", "openai", "openai/gpt-4o-mini", True, False),
        ("nebius/meta-llama/Some", "nebius", "nebius/meta-llama/Some", True, False),
        ("replay/openai/gpt-4o-mini", "replay", "openai/gpt-4o-mini", False, True),
        ("local/smollm2-135m", "local", "local/smollm2-135m", True, True),
        ("scripted/echo", "scripted", "scripted/echo", False, True),
    ],
)
def test_a_full_id_is_taken_as_it_is(name, provider, model, live, ours):
    target = resolve(name)
    assert (target.provider, target.route, target.model) == (provider, name, model)
    assert (target.live, target.ours) == (live, ours)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (None, "PROVIDER is not set"),
        ("", "PROVIDER is not set"),
        ("opnai", "known: replay, local, openai"),
        ("local/gpt-9", "known models: .*smollm2-135m"),
        ("local/all-minilm-l6-v2", "is an embedder"),
        ("scripted/nonesuch", "known: .*echo"),
        ("scripted", "known: "),
    ],
)
def test_anything_else_is_one_line_that_lists_what_is_known(name, hint):
    with pytest.raises(ConfigError, match=hint) as caught:
        resolve(name)
    assert "\n" not in str(caught.value)


def test_a_number_of_tokens_is_a_whole_number_or_an_error_that_names_the_setting(monkeypatch):
    assert int_setting("COOKBOOK_CONTEXT_WINDOW") is None
    monkeypatch.setenv("COOKBOOK_CONTEXT_WINDOW", "8192")
    assert int_setting("COOKBOOK_CONTEXT_WINDOW") == 8192
    for wrong in ("8k", "-1", "0", "1.5"):
        monkeypatch.setenv("COOKBOOK_CONTEXT_WINDOW", wrong)
        with pytest.raises(ConfigError, match=f"COOKBOOK_CONTEXT_WINDOW={wrong}"):
            int_setting("COOKBOOK_CONTEXT_WINDOW")
