"""A small model in this process: llama.cpp through xllamacpp, no server to start and no key.

One instance per model and process, loaded on first use; calls take turns. The prompt cache is off
on purpose: with it, a call whose whole prompt was cached gave other log-probabilities (-0.684
for -0.676, same call, Qwen 1.5B), because the last token is then computed alone, not in a batch.
Without it a call gives the same reply whatever ran before. The price, measured: five grades that
share 64 of their 186 prompt tokens take 1.5 times the processor time.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import time
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from cookbook.errors import ConfigError, ProviderUnavailable
from cookbook.providers.call import Call, Reply
from cookbook.providers.models import unloadable, weights_path
from cookbook.providers.names import int_setting
from cookbook.schema import Messages

if TYPE_CHECKING:
    import httpx

DEFAULT_WINDOW = 4096
_COMPACT_JSON = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_loading = Lock()


def _xllamacpp() -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise ConfigError(
            "local models need xllamacpp; run: pip install 'reflective-rag-cookbook[local]'"
        ) from None
    return xllamacpp


class Engine:
    """A loaded model. ``window`` is its context in tokens; every method may be called from any thread."""

    def __init__(self, name: str) -> None:
        # Read when libgomp loads. Spinning at barriers costs a factor of 8 as soon as the cores are shared.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        xllamacpp = _xllamacpp()
        self.name = name
        self.window = int_setting("COOKBOOK_LOCAL_CTX") or DEFAULT_WINDOW
        self._grammar = xllamacpp.json_schema_to_grammar
        self._busy = Lock()
        self._key = secrets.token_hex(16)  # llama.cpp listens on loopback; nobody else shall use it
        params = xllamacpp.CommonParams()
        params.model.path = str(weights_path(name))
        params.n_ctx = self.window
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = os.cpu_count() or 1
        params.cache_prompt = False
        params.cache_ram_mib = 0
        params.fit_params = False  # it would change the context to what memory is free
        params.ui = False
        params.api_keys = [self._key]
        params.verbosity = -1
        try:
            self._server = xllamacpp.Server(params)
        except (RuntimeError, OSError, ValueError) as error:
            raise unloadable(name) from error
        self._closing = False
        atexit.register(self.close)

    def close(self) -> None:
        """Stop at the next token and free the model: a process that ends while llama.cpp computes would crash.

        Once is enough: the end of the process closes what is still open.
        """
        if self._closing:
            return
        self._closing = True
        if self._busy.acquire(timeout=60):  # and never released: nothing runs after this
            del self._server

    def count_tokens(self, messages: Messages) -> int:
        """Exact tokens of the prompt, chat template included."""
        body = {"messages": [dict(message) for message in messages]}
        with self.http(timeout=10) as http:
            return int(http.post("/v1/chat/completions/input_tokens", json=body).json()["input_tokens"])

    def http(self, *, timeout: float) -> httpx.Client:
        """A client of this engine's own server on loopback, for what is no chat. ``timeout`` in seconds."""
        import httpx

        return httpx.Client(
            base_url=self._server.listening_address,
            headers={"Authorization": f"Bearer {self._key}"},
            timeout=timeout,
            trust_env=False,  # a proxy has no business here
            verify=False,  # no TLS on loopback; loading certificates would take 60 ms a client
        )

    def complete(self, call: Call, timeout: float) -> Reply:
        """Run one call; calls from several threads wait for each other, at most ``timeout`` seconds each."""
        deadline = time.monotonic() + timeout
        if not self._busy.acquire(timeout=timeout):
            raise ProviderUnavailable(f"local/{self.name} was busy for {timeout:.3g} s; raise the timeout")
        try:
            started = time.monotonic()
            chunks = self._stream(self._request(call), deadline)
            seconds = time.monotonic() - started
        finally:
            self._busy.release()
        choices = [choice for chunk in chunks for choice in chunk["choices"]]
        finish_reason = next((c["finish_reason"] for c in reversed(choices) if c.get("finish_reason")), None)
        if finish_reason is None:  # stopped at the deadline
            raise ProviderUnavailable(
                f"local/{self.name} did not finish within {timeout:.3g} s; raise the timeout or lower max_tokens"
            )
        usage = next(chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage"))
        tokens = (token for c in choices for token in (c.get("logprobs") or {}).get("content") or ())
        first = next(tokens, {"top_logprobs": ()})
        return Reply(
            text="".join(choice["delta"].get("content") or "" for choice in choices),
            finish_reason=finish_reason,
            prompt_tokens=usage["prompt_tokens"],
            completion_tokens=usage["completion_tokens"],
            model=call.model,
            seconds=seconds,
            top_logprobs={top["token"]: top["logprob"] for top in first["top_logprobs"]},
        )

    def _request(self, call: Call) -> dict[str, Any]:
        request: dict[str, Any] = {
            "messages": [dict(message) for message in call.messages],
            "max_tokens": call.max_tokens,
            "temperature": call.temperature,
            "seed": call.seed,
            "cache_prompt": False,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if call.logprobs:
            request |= {"logprobs": True, "top_logprobs": call.logprobs}
        if call.schema is not None:
            # Free white space in the grammar lets a small model write line breaks until it is cut off.
            request["grammar"] = self._grammar(json.dumps({**call.schema, "x-guidance": _COMPACT_JSON}))
        return request

    def _stream(self, request: dict[str, Any], deadline: float) -> list[dict[str, Any]]:
        """All chunks of the reply; generation stops at the deadline, one token late at most."""
        chunks: list[dict[str, Any]] = []

        def collect(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            return self._closing or time.monotonic() > deadline

        try:
            self._server.handle_chat_completions(request, collect)
        except ValueError as error:
            raise ProviderUnavailable(
                f"local/{self.name} cannot answer: {str(error).splitlines()[0]}"
            ) from None
        for chunk in chunks:
            if "error" in chunk:
                raise ProviderUnavailable(f"local/{self.name} cannot answer: {chunk['error']['message']}")
        return chunks


@cache
def _load(name: str) -> Engine:
    return Engine(name)


def _engine(model: str) -> Engine:
    with _loading:  # two threads asking at once would load the weights twice
        return _load(model.removeprefix("local/"))


_EVERYWHERE = {"SSE3", "SSSE3", "F16C", "FMA", "BMI2", "LLAMAFILE", "OPENMP", "REPACK"}


@cache
def build() -> str:
    """The engine and the processor's instructions it was built for, such as ``xllamacpp 2026.10 AVX AVX2``.

    They decide the last bits: the same weights, call and processor gave a likeliest word at -0.339 with AVX2,
    at -0.351 with AMX, and a near tie can turn.
    """
    xllamacpp = _xllamacpp()
    said = xllamacpp.get_system_info().removeprefix("CPU :").split("|")
    flags = [
        name.strip() for name, _, value in (flag.partition("=") for flag in said) if value.strip() == "1"
    ]
    return " ".join(
        ["xllamacpp", xllamacpp.__version__, *(flag for flag in flags if flag not in _EVERYWHERE)]
    )


def answer(call: Call, timeout: float) -> Reply:
    """The reply of ``local/<name>``; loads the model first if this is its first call."""
    return _engine(call.model).complete(call, timeout)


def window(model: str) -> int:
    """Context of a local model in tokens, ``$COOKBOOK_LOCAL_CTX`` when it was loaded, 4096 by default."""
    return _engine(model).window


def count_tokens(model: str, messages: Messages) -> int:
    """Exact tokens of the prompt for a local model."""
    return _engine(model).count_tokens(messages)
