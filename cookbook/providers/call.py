"""One model call and its reply as values: what is asked, what came back, and the key that names the call.

``Call`` holds everything that affects the output and nothing else, so its key serves the
recordings and the exact cache alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cookbook.schema import Messages


@dataclass(frozen=True)
class Call:
    """A request to ``model``, the model that writes the reply (never ``replay/...``).

    ``schema`` is a JSON schema for the reply, ``logprobs`` how many alternatives of the first
    token to return with their log-probabilities (0 = none).
    """

    model: str
    messages: tuple[Mapping[str, str], ...]
    max_tokens: int
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = None
    logprobs: int = 0
    seed: int = 0

    @property
    def params(self) -> dict[str, Any]:
        """Everything besides model and messages; a setting that is off is left out."""
        params: dict[str, Any] = {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
        }
        if self.logprobs:
            params["logprobs"] = self.logprobs
        if self.schema is not None:
            params["schema"] = self.schema
        return params

    @property
    def key(self) -> str:
        """SHA-256 (hex) of the canonical JSON of the whole call."""
        whole = {"model": self.model, "messages": self.messages, **self.params}
        canonical = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def prompt(self) -> str:
        """The last message's text, for errors and for scripted models."""
        return self.messages[-1]["content"]


@dataclass(frozen=True)
class Reply:
    """What came back. ``seconds`` is wall time; ``cost`` is in US dollars, None when no price is known.

    ``top_logprobs`` maps alternatives of the first token to their log-probabilities, empty when
    they were not asked for or the provider gives none. ``cached`` marks a hit in the exact cache.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    model: str
    seconds: float = 0.0
    cost: float | None = 0.0
    cached: bool = False
    top_logprobs: Mapping[str, float] = field(default_factory=dict)

    @property
    def truncated(self) -> bool:
        return self.finish_reason == "length"


def to_entry(call: Call, reply: Reply) -> dict[str, Any]:
    """A call with its reply as one JSON object, the form in which both are kept on disk."""
    return {
        "key": call.key,
        "model": call.model,
        "params": call.params,
        "messages": list(call.messages),
        "reply": reply.text,
        "finish_reason": reply.finish_reason,
        "top_logprobs": dict(reply.top_logprobs),
        "usage": {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens},
        "seconds": round(reply.seconds, 3),
    }


def call_of(entry: Mapping[str, Any]) -> Call:
    """The call that an entry records; its key equals ``entry["key"]`` unless the entry was edited."""
    return Call(model=entry["model"], messages=tuple(entry["messages"]), **entry["params"])


def reply_of(entry: Mapping[str, Any]) -> Reply:
    """The reply that an entry records, with the usage and the seconds measured then, free of cost."""
    return Reply(
        text=entry["reply"],
        finish_reason=entry["finish_reason"],
        model=entry["model"],
        seconds=entry["seconds"],
        top_logprobs=entry["top_logprobs"],
        **entry["usage"],
    )


def as_messages(prompt: str | Messages) -> tuple[Mapping[str, str], ...]:
    """A prompt or chat messages as a tuple of plain dicts."""
    if isinstance(prompt, str):
        return ({"role": "user", "content": prompt},)
    return tuple(dict(message) for message in prompt)


def without_spend(reply: Reply) -> Reply:
    """The same reply out of the exact cache: it used no tokens, time or money."""
    return replace(reply, prompt_tokens=0, completion_tokens=0, seconds=0.0, cost=0.0, cached=True)
