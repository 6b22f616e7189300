"""LLMClient: one way to any model. Every call is budgeted, metered, bounded in time and checked.

The order of things in a call: exact cache, recordings (while recording), budget, context window,
the provider with its retries, the meters, the recorder. What the model said is parsed in parse.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache as remembered
from math import exp
from threading import Lock
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, create_model

from cookbook import cache
from cookbook.errors import ConfigError, ContextOverflow, ProviderUnavailable, ReplyUnparsable
from cookbook.providers import gateway, parse, replay
from cookbook.providers.breaker import Breaker
from cookbook.providers.call import Call, Reply, as_messages
from cookbook.providers.failures import Rejected, Transient, Unanswered
from cookbook.providers.meter import check_budgets, open_meters
from cookbook.providers.names import DEFAULT_EMBEDDERS, resolve
from cookbook.providers.recording import Recorder, machine, weights_of
from cookbook.schema import Messages

Model = TypeVar("Model", bound=BaseModel)

ALTERNATIVES = 10
"""First tokens whose log-probabilities are asked for in a decision: room for four spellings of yes and no."""
PAUSE = 0.5
"""Seconds before the first retry; doubled for each further one."""

LEAST_MASS = 0.1
"""What the labels must have together among all first tokens: below it the model says something else ("cannot tell"),
and a ratio of remainders is no verdict. In the recordings yes and no have 0.89 at least."""

_charging = Lock()
_without_logprobs: set[str] = set()  # models that were asked for log-probabilities and gave none


@dataclass(frozen=True)
class Choice:
    """The likeliest label. ``probabilities`` cover every label and sum to 1; ``mass`` is what the labels
    had together among all first tokens. A provider without log-probabilities only names a label:
    ``probability`` and ``mass`` are None then, and ``probabilities`` say 1 for it and 0 for the others."""

    label: str
    probability: float | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    mass: float | None = None


class Word(BaseModel):
    """A verdict as an object, whatever it says: which words count is decided in one place, ``parse_label``."""

    verdict: str


@remembered
def _one_of(words: tuple[str, ...]) -> type[BaseModel]:
    """The form that asks for one of these words."""
    return create_model("Verdict", verdict=(Literal[words], ...))  # type: ignore[arg-type]


class LLMClient:
    """A chat model by name, ``$PROVIDER`` when none is given: see names.py for what a name may be.

    ``timeout`` bounds a whole call in seconds, retries included; ``max_retries`` bounds those after
    a failure that may pass (no connection, status 429 or 5xx). ``breaker`` stops calls to a provider
    that keeps failing.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        timeout: float = 120.0,
        max_retries: int = 2,
        breaker: Breaker | None = None,
    ) -> None:
        self._target = resolve(model)
        if self._target.provider == "replay":
            replay.require_recorded(self._target.model)
        self._temperature = temperature
        self._seed = seed
        self._timeout = timeout
        self._max_retries = max_retries
        self._breaker = breaker

    @property
    def provider(self) -> str:
        """``replay``, ``local``, ``openai`` ..."""
        return self._target.provider

    @property
    def chat_model(self) -> str:
        """The full id, ``replay/local/qwen2.5-coder-1.5b`` or ``openai/gpt-5.4-mini``."""
        return self._target.route

    @property
    def model(self) -> str:
        """The model whose replies come back: on a replay the recorded one, ``local/qwen2.5-coder-1.5b``."""
        return self._target.model

    def describe(self) -> str:
        """One line for the reader: which model answers, and from where."""
        if self.provider == "replay":
            dates = replay.recorded_dates(self._target.model)
            return f"replay of {self._target.model}" + (
                f", recorded {dates}" if dates else ", nothing recorded yet"
            )
        digest = weights_of(self._target)
        return f"model {self.chat_model}" + (f" (weights {digest[:8]}…)" if digest else "")

    def require_key(self) -> None:
        """MissingKey now, where the first call would raise it: before an index is built for that call."""
        if not self._target.ours:
            gateway.require_key(self._target)

    def timed_on(self) -> str:
        """The machine on which the seconds of its replies were measured; empty for a stand-in, which takes none."""
        if self.provider == "replay":
            return replay.recorded_on(self._target.model)
        return machine() if self._target.live else ""

    # ------------------------------------------------------------ asking

    def chat(self, prompt_or_messages: str | Messages, *, max_tokens: int = 512) -> str:
        """The reply as text; ReplyTruncated when it was cut off at ``max_tokens``."""
        reply = self.complete(as_messages(prompt_or_messages), max_tokens=max_tokens)
        parse.require_whole(reply, max_tokens)
        return reply.text

    def complete(
        self,
        messages: Messages,
        *,
        max_tokens: int,
        temperature: float | None = None,
        schema: Mapping[str, Any] | None = None,
        logprobs: int = 0,
    ) -> Reply:
        """One call and its reply, without ``<think>`` blocks. A reply cut off has ``reply.truncated``; one that
        never stopped thinking is ReplyTruncated."""
        reply = self._call(messages, max_tokens, temperature, schema, logprobs)
        return replace(reply, text=parse.without_thinking(reply, max_tokens))

    def ask(self, messages: Messages, schema: type[Model], *, max_tokens: int) -> Model:
        """The reply as an instance of ``schema``. Held to the schema by the provider where it can, and
        validated here always: ReplyUnparsable or ReplyTruncated otherwise. Never asked a second time."""
        text = self._held_to(schema, messages, max_tokens)
        return parse.parse_reply(text, schema, model=self.chat_model)

    def decide(self, messages: Messages, labels: Mapping[str, Sequence[str]]) -> Choice:
        """Choose among labels, each given with the words that state it: ``{"relevant": ["yes"], ...}``.

        One output token where the provider returns log-probabilities: the probabilities of a
        label's spellings are added, a word that is not among the alternatives counts as 0, and the
        sums are normalised over the labels. Otherwise one word under a schema, without probabilities; a
        provider that ignores the schema may say the bare word, and nothing else counts.
        ReplyUnparsable when the alternatives were other words (LEAST_MASS).
        """
        variants = parse.variants_of(labels)
        if (reply := self._first_token(messages)) is not None:
            return _weigh(reply, variants, model=self.chat_model)
        # Room for a model that thinks first; one that does not stops after the word anyway.
        text = self._held_to(_one_of(tuple(group[0] for group in labels.values())), messages, max_tokens=256)
        if parse.last_object(text) is not None:
            text = parse.parse_reply(text, Word, model=self.chat_model).verdict
        label = parse.parse_label(text, labels, model=self.chat_model)
        return Choice(label, probabilities={other: float(other == label) for other in labels})

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order: recorded or local beside our own models, else the provider's."""
        from cookbook.embedders import get_embedder

        name = None if self._target.ours else DEFAULT_EMBEDDERS.get(self.provider)
        if name is None and not self._target.ours:
            raise ConfigError(
                f"no embedding model is set for {self.provider}; use cookbook.embedders.get_embedder(name)"
            )
        vectors = get_embedder(name).embed(texts)
        for meter in open_meters():
            meter.add_embedding()
        rows: list[list[float]] = vectors.tolist()
        return rows

    # ------------------------------------------------------------ one call

    def _held_to(self, schema: type[BaseModel], messages: Messages, max_tokens: int) -> str:
        """The whole text of a reply that was asked for under a schema, which not every provider enforces."""
        form = parse.schema_of(schema)
        if not gateway.enforces_schema(self._target.model):
            messages = parse.with_schema(messages, form)
        reply = self.complete(messages, max_tokens=max_tokens, schema=form)
        parse.require_whole(reply, max_tokens)
        return reply.text

    def _first_token(self, messages: Messages) -> Reply | None:
        """A reply of one token with its alternatives; None from a model that cannot say them."""
        model = self._target.model
        if model in _without_logprobs or not gateway.supports(model, "logprobs", "top_logprobs"):
            return None
        try:
            reply = self._call(messages, 1, None, None, ALTERNATIVES)
        except Rejected:
            reply = None
        if reply is None or not reply.top_logprobs:
            _without_logprobs.add(model)
            return None
        return reply

    def _call(
        self,
        messages: Messages,
        max_tokens: int,
        temperature: float | None,
        schema: Mapping[str, Any] | None,
        logprobs: int,
    ) -> Reply:
        call = Call(
            model=self._target.model,
            messages=as_messages(messages),
            max_tokens=max_tokens,
            temperature=self._temperature if temperature is None else temperature,
            schema=schema,
            logprobs=logprobs,
            seed=self._seed,
        )
        if cache.applies_to(call) and (hit := cache.lookup(call)) is not None:
            _charge(hit)
            return hit
        check_budgets()
        recorder = Recorder.active(self._target)
        if recorder is not None and (recorded := recorder.lookup(call)) is not None:
            _charge(recorded)
            return recorded
        self._require_room(call)
        with self._breaker.watch(self.chat_model) if self._breaker else nullcontext():
            reply = self._send(call)
        if recorder is not None:
            recorder.save(call, reply)
        if cache.applies_to(call):
            cache.save(call, reply)
        return reply

    def _require_room(self, call: Call) -> None:
        """ContextOverflow, with the numbers, when prompt and reply together exceed the window."""
        if self.provider == "replay" or (window := gateway.window(self._target)) is None:
            return
        prompt = gateway.count_tokens(self._target, call.messages)
        if prompt + call.max_tokens > window:
            raise ContextOverflow(
                f"{self.chat_model}: a prompt of {prompt} tokens and max_tokens={call.max_tokens} exceed the window "
                f"of {window} tokens by {prompt + call.max_tokens - window}; use fewer or shorter passages"
            )

    def _send(self, call: Call) -> Reply:
        """The provider's reply; every attempt is charged, the failed ones too."""
        deadline = time.monotonic() + self._timeout
        for attempt in range(self._max_retries + 1):
            check_budgets()
            started = time.monotonic()
            try:
                reply = gateway.send(self._target, call, timeout=deadline - started)
            except ProviderUnavailable as error:
                now = time.monotonic()
                # Who answers with an error charges nothing; what one charges who did not answer, nobody knows.
                cost = None if isinstance(error, Unanswered) and not self._target.ours else 0.0
                _charge(Reply("", "error", 0, 0, call.model, seconds=now - started, cost=cost))
                pause = PAUSE * 2**attempt
                last = attempt == self._max_retries or now + pause >= deadline
                if last or not isinstance(error, Transient):
                    raise
                time.sleep(pause)
            else:
                _charge(reply)
                return reply
        raise AssertionError("unreachable: the last attempt returns or raises")


def _charge(reply: Reply) -> None:
    with _charging:
        for meter in open_meters():
            meter.add_call(
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                seconds=reply.seconds,
                cost=reply.cost,
                cached=reply.cached,
            )


def _weigh(reply: Reply, variants: Mapping[str, str], *, model: str) -> Choice:
    """Probabilities of the labels out of the first token's alternatives."""
    sums = dict.fromkeys(variants.values(), 0.0)
    for token, logprob in reply.top_logprobs.items():
        if (label := parse.label_of_token(token, variants)) is not None:
            sums[label] += exp(logprob)
    mass = sum(sums.values())
    if mass < LEAST_MASS:
        likeliest = sorted(reply.top_logprobs, key=reply.top_logprobs.__getitem__, reverse=True)[:5]
        raise ReplyUnparsable(f"{model} began with none of {', '.join(variants)} but with {likeliest}")
    probabilities = {label: value / mass for label, value in sums.items()}
    label = max(probabilities, key=probabilities.__getitem__)
    return Choice(label, probabilities[label], probabilities, mass)
