"""The one place that knows litellm: load it quietly, send a call through it, ask what a model can do.

litellm takes seconds to import, so that happens with the first call. Our own providers (replay,
local, scripted) are registered as litellm custom providers: each is a function from a Call to a Reply.
"""

from __future__ import annotations

import atexit
import contextvars
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from threading import Thread
from typing import Any

from cookbook.errors import (
    CallError,
    ConfigError,
    MissingKey,
)
from cookbook.providers import local, replay, scripted
from cookbook.providers.call import Call, Reply
from cookbook.providers.failures import SECRET, explained, without_keys
from cookbook.providers.names import Target, int_setting, is_ours
from cookbook.schema import Messages

Answer = Callable[[Call, float], Reply]
_LIMITS = ("minLength", "maxLength", "minItems", "maxItems")


# ---------------------------------------------------------------- litellm itself


@cache
def litellm() -> Any:
    """The litellm module: no network at import, no banners, no .env file, our providers registered."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it fetches its price list
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads a .env file of the current folder
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True  # counting tokens must not wait on a download
    atexit.register(_let_threads_finish)
    ours: dict[str, Answer] = {"replay": replay.answer, "local": local.answer, "scripted": scripted.answer}
    litellm.custom_provider_map = [
        {"provider": name, "custom_handler": _handler(litellm, name, answer)} for name, answer in ours.items()
    ]
    return litellm


def _handler(litellm: Any, provider: str, answer: Answer) -> Any:
    class Handler(litellm.CustomLLM):  # type: ignore[misc]
        def completion(self, **given: Any) -> Any:
            model = given["model"] if provider == "replay" else f"{provider}/{given['model']}"
            call = _from_litellm(model, given["messages"], given["optional_params"])
            return _to_response(litellm, answer(call, given["timeout"]), given["model_response"])

    return Handler()


def _to_litellm(call: Call, target: Target) -> dict[str, Any]:
    options: dict[str, Any] = {
        "messages": [dict(message) for message in call.messages],
        "max_tokens": call.max_tokens,
        "temperature": call.temperature,
        "seed": call.seed,
    }
    if call.logprobs:
        options |= {"logprobs": True, "top_logprobs": call.logprobs}
    if call.schema is not None:
        # Several hosted providers reject limits in a strict schema; the reply is validated here anyway.
        schema = call.schema if target.ours else _without_limits(call.schema)
        shape = {"name": "reply", "schema": schema, "strict": True}
        options["response_format"] = {"type": "json_schema", "json_schema": shape}
    return options


def _without_limits(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _without_limits(value) for key, value in node.items() if key not in _LIMITS}
    return [_without_limits(item) for item in node] if isinstance(node, list) else node


def _from_litellm(model: str, messages: Messages, options: Mapping[str, Any]) -> Call:
    """The inverse of _to_litellm, so that a handler sees the very call that was made."""
    form = options.get("response_format")
    return Call(
        model=model,
        messages=tuple(messages),
        max_tokens=options["max_tokens"],
        temperature=options["temperature"],
        schema=form["json_schema"]["schema"] if form else None,
        logprobs=options.get("top_logprobs", 0),
        seed=options["seed"],
    )


def _to_response(litellm: Any, reply: Reply, response: Any) -> Any:
    choice = response.choices[0]
    choice.message.content = reply.text
    choice.finish_reason = reply.finish_reason
    if reply.top_logprobs:
        top = [{"token": token, "logprob": value} for token, value in reply.top_logprobs.items()]
        choice.logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    response.usage = litellm.Usage(
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        total_tokens=reply.prompt_tokens + reply.completion_tokens,
    )
    response.seconds = reply.seconds
    return response


def _to_reply(response: Any, target: Target, seconds: float) -> Reply:
    choice = response.choices[0]
    usage = getattr(response, "usage", None)
    return Reply(
        text=without_keys(choice.message.content or ""),
        finish_reason=choice.finish_reason or "stop",
        prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
        model=target.model,
        seconds=response.seconds if target.ours else seconds,
        cost=0.0 if target.ours else response._hidden_params.get("response_cost"),
        top_logprobs=_first_token(getattr(choice, "logprobs", None)),
    )


def _first_token(logprobs: Any) -> dict[str, float]:
    """The alternatives of the first token; rounded, so that a recording says the same as the live reply."""
    if hasattr(logprobs, "model_dump"):
        logprobs = logprobs.model_dump()
    content = (logprobs or {}).get("content") or []
    return {top["token"]: round(top["logprob"], 5) for top in content[0]["top_logprobs"]} if content else {}


# ---------------------------------------------------------------- sending


def send(target: Target, call: Call, *, timeout: float) -> Reply:
    """One attempt at one call, in at most ``timeout`` seconds; raises our errors only."""
    lite = litellm()
    if not target.ours:
        require_key(target)

    def attempt() -> Any:
        return lite.completion(
            model=target.route,
            timeout=timeout,
            max_retries=0,
            num_retries=0,
            drop_params=True,  # a model without seed or logprobs is asked without; decide() notices
            **_to_litellm(call, target),
        )

    started = time.monotonic()
    try:
        response = _within(timeout, attempt) if target.live else attempt()
        return _to_reply(response, target, time.monotonic() - started)
    except Exception as error:
        raise explained(error, target, timeout) from None  # a provider's own error may quote the key


def embed(target: Target, texts: Sequence[str], *, timeout: float) -> list[list[float]]:
    """One request for the vectors of ``texts``, in their order whatever order they came back in."""
    lite = litellm()
    require_key(target)
    try:
        response = _within(
            timeout,
            lambda: lite.embedding(model=target.route, input=list(texts), timeout=timeout, max_retries=2),
        )
    except Exception as error:
        raise explained(error, target, timeout) from None
    rows = {row["index"]: row["embedding"] for row in response.data}
    if sorted(rows) != list(range(len(texts))):
        raise CallError(f"{target.route} gave vectors for {len(rows)} of {len(texts)} texts; try again")
    return [rows[n] for n in range(len(texts))]


_running: set[Thread] = set()


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """Run ``work`` in a thread and stop waiting after ``seconds``: a trickling reply resets a socket's own clock."""
    result: Future[Any] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result.set_result(context.run(work))
        except BaseException as error:
            result.set_exception(error)
        finally:
            _running.discard(thread)

    thread = Thread(target=run, daemon=True)
    _running.add(thread)
    thread.start()
    return result.result(timeout=seconds)


def _let_threads_finish() -> None:
    """At exit, give calls nobody waits for any more some seconds to end by themselves.

    Python kills daemon threads when it ends; one killed in the middle of an import, which litellm
    does within its functions, leaves the import lock taken and the process hanging for ever.
    """
    deadline = time.monotonic() + 5
    for thread in list(_running):
        thread.join(max(0.0, deadline - time.monotonic()))


# ---------------------------------------------------------------- what a hosted model can do


def require_key(target: Target) -> None:
    """MissingKey, naming the variable, when a hosted model's key is not set; ConfigError if nobody knows it."""
    lite = litellm()
    try:
        lite.get_llm_provider(target.route)
    except Exception:
        raise ConfigError(
            f"litellm knows no provider {target.provider!r}; check PROVIDER or the model id {target.route!r}"
        ) from None
    names = [name for name in lite.validate_environment(target.route)["missing_keys"] if SECRET.search(name)]
    if names:
        raise MissingKey(
            f"{target.route} needs a key: set {' or '.join(names)}, or PROVIDER=replay which needs none"
        )


def supports(model: str, *options: str) -> bool:
    """Whether litellm lists every option (``logprobs``, ``response_format`` ...) for the model."""
    return is_ours(model) or set(options) <= set(litellm().get_supported_openai_params(model) or ())


def enforces_schema(model: str) -> bool:
    """Whether the provider is known to hold the model to a JSON schema."""
    return is_ours(model) or bool(litellm().supports_response_schema(model))


def window(target: Target) -> int | None:
    """Tokens that prompt and reply may have together; None when nobody knows."""
    if chosen := int_setting("COOKBOOK_CONTEXT_WINDOW"):
        return chosen
    if target.provider == "local":
        return local.window(target.model)
    if target.ours:
        return None
    try:
        size = litellm().get_model_info(target.route)["max_input_tokens"]
    except Exception:  # litellm raises a bare Exception for a model it has no entry for
        return None
    return int(size) if size else None


def count_tokens(target: Target, messages: Messages) -> int:
    """Tokens of the prompt: exact for a local model, by litellm's tokenizer (close) for the others."""
    if target.provider == "local":
        return local.count_tokens(target.model, messages)
    return int(litellm().token_counter(model=target.model, messages=[dict(m) for m in messages]))
