"""What ``PROVIDER`` may say, and which model that means.

A provider's name stands for the default model below; anything with a slash is a litellm id.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from cookbook.errors import ConfigError
from cookbook.providers.models import get_model
from cookbook.providers.scripted import get_script

RECORDED_MODEL = "local/qwen2.5-coder-1.5b"
"""The model whose replies lie in recordings/."""

DEFAULT_MODELS = {
    "replay": f"replay/{RECORDED_MODEL}",
    "local": RECORDED_MODEL,
    "openai": "openai/gpt-5.4-mini",
    "anthropic": "anthropic/claude-haiku-4-5",
    "gemini": "gemini/gemini-3.5-flash-lite",
    "mistral": "mistral/mistral-small-latest",
    "nebius": "nebius/meta-llama/Llama-3.3-70B-Instruct",
    "groq": "groq/openai/gpt-oss-20b",
    "deepseek": "deepseek/deepseek-v4-flash",
    "ollama": "ollama_chat/llama3.2",
}
"""Small, current chat models; any other is one full id away."""

DEFAULT_EMBEDDERS = {
    "openai": "openai/text-embedding-3-small",
    "gemini": "gemini/gemini-embedding-001",
    "mistral": "mistral/mistral-embed",
    "nebius": "nebius/Qwen/Qwen3-Embedding-8B",
    "ollama": "ollama/nomic-embed-text",
}

OURS = ("replay", "local", "scripted")
"""The providers that this package registers with litellm; none needs a key, none costs money."""


@dataclass(frozen=True)
class Target:
    """Where calls go: ``provider`` as the reader named it, ``route`` the id litellm is given,
    ``model`` the model whose replies come back (differs from the route for a replay only)."""

    provider: str
    route: str
    model: str

    @property
    def ours(self) -> bool:
        return is_ours(self.route)

    @property
    def live(self) -> bool:
        """True when a call runs a real model."""
        return self.provider not in ("replay", "scripted")


def is_ours(model: str) -> bool:
    """Whether a model id belongs to one of our providers."""
    return model.partition("/")[0] in OURS


def resolve(name: str | None) -> Target:
    """The target of a model name, or of ``PROVIDER`` when it is None; ConfigError when there is none."""
    name = name or os.environ.get("PROVIDER", "")
    if not name:
        raise ConfigError(
            "PROVIDER is not set; set it to replay, local, a hosted provider such as openai, or a full model id"
        )
    route = DEFAULT_MODELS.get(name, name)
    provider, _, model = route.partition("/")
    if not model:
        raise ConfigError(
            f"unknown provider {name!r}; known: {', '.join(DEFAULT_MODELS)}, or a full id such as openai/gpt-5.4-mini"
        )
    if provider == "local" and not get_model(model).files[0].path.endswith(".gguf"):
        raise ConfigError(f"{model} is an embedder; name a chat model, such as {RECORDED_MODEL}")
    if provider == "scripted":
        get_script(model)
    provider = name if name in DEFAULT_MODELS else provider
    return Target(provider=provider, route=route, model=model if provider == "replay" else route)


def int_setting(name: str) -> int | None:
    """A whole number above 0 from the environment, None when it is not set; ConfigError for anything else."""
    value = os.environ.get(name)
    if not value:
        return None
    if not value.isdecimal() or int(value) == 0:
        raise ConfigError(
            f"{name}={value} is no number of tokens; set it to a whole number above 0, or unset it"
        )
    return int(value)
