"""Deterministic stand-ins for a model: labs and tests know every reply, so they can count exactly.

A script is a function from messages to a reply. Register one and call it like any model:

    @scripted("stubborn_grader")
    def stubborn_grader(messages):
        return "no"

    LLMClient("scripted/stubborn_grader").decide(messages, {"yes": ["yes"], "no": ["no"]})

The reply is text, or a mapping from first token to probability (for graders that are not sure),
or an exception raised on purpose (for models that fail).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from math import log

from cookbook.errors import ConfigError, ProviderUnavailable
from cookbook.providers.call import Call, Reply
from cookbook.schema import Messages

Script = Callable[[Messages], str | Mapping[str, float]]
_scripts: dict[str, Script] = {}
_numbers = count(1)


def scripted(name: str) -> Callable[[Script], Script]:
    """Register the decorated function as the model ``scripted/<name>``; a later one replaces it."""

    def register(script: Script) -> Script:
        _scripts[name] = script
        return script

    return register


def scripted_table(table: Mapping[str | Callable[[str], bool], str | Mapping[str, float]]) -> str:
    """Register a table of replies under a new name; returns the model id, ``scripted/table_<n>``.

    A key is a text that the prompt (all messages joined by line breaks) contains, or a predicate
    of the prompt; the first that holds gives the reply. A prompt that none fits is a ConfigError.
    """
    rows = list(table.items())

    def script(messages: Messages) -> str | Mapping[str, float]:
        prompt = "\n".join(message["content"] for message in messages)
        for key, reply in rows:
            if key(prompt) if callable(key) else key in prompt:
                return reply
        raise ConfigError(f"the scripted table has no row for the prompt {' '.join(prompt.split())[:120]!r}")

    name = f"table_{next(_numbers)}"
    scripted(name)(script)
    return f"scripted/{name}"


def get_script(name: str) -> Script:
    """The registered script; ConfigError for an unknown name."""
    if name not in _scripts:
        raise ConfigError(f"unknown scripted model {name!r}; known: {', '.join(sorted(_scripts))}")
    return _scripts[name]


def answer(call: Call, timeout: float = 0.0) -> Reply:
    """Run the script of ``call.model``. Tokens are counted as words; log-probabilities are those of the
    mapping, or a certain first word. A text longer than ``max_tokens`` is cut, as a model's is."""
    script = get_script(call.model.removeprefix("scripted/"))
    reply = script(call.messages)
    if isinstance(reply, str):
        words = reply.split()
        alternatives = {words[0] if words else "": 1.0}
        text = reply
    else:
        alternatives = dict(reply)
        text = max(alternatives, key=alternatives.__getitem__)
        words = [text]
    finish_reason = "stop"
    if len(words) > call.max_tokens:
        words, finish_reason = words[: call.max_tokens], "length"
        text = " ".join(words)
    return Reply(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=sum(len(message["content"].split()) for message in call.messages),
        completion_tokens=len(words),
        model=call.model,
        top_logprobs={token: log(p) for token, p in alternatives.items() if p > 0} if call.logprobs else {},
    )


# ---------------------------------------------------------------- the basics


@scripted("echo")
def echo(messages: Messages) -> str:
    """Repeats the last message: the rewriter that never rewrites."""
    return messages[-1]["content"]


@scripted("always_yes")
def always_yes(messages: Messages) -> str:
    return "yes"


@scripted("always_no")
def always_no(messages: Messages) -> str:
    return "no"


@scripted("garbage")
def garbage(messages: Messages) -> str:
    """A reply that is neither a verdict nor JSON."""
    return "As for that, one could see it both ways."


@scripted("unavailable")
def unavailable(messages: Messages) -> str:
    """A provider that is down."""
    raise ProviderUnavailable("scripted/unavailable refused the connection; it always does")
