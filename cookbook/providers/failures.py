"""Whatever a provider's call raises, as one of our errors: one line that says what to do, without a key in it."""

from __future__ import annotations

import os
import re

from cookbook.errors import ContextOverflow, CookbookError, ProviderUnavailable
from cookbook.providers.names import Target

SECRET = re.compile(r"KEY|TOKEN|SECRET")
"""In the name of an environment variable: its value is never shown."""


class Transient(ProviderUnavailable):
    """A failure that may be gone a second later; the client tries again, within its limits."""


class Unanswered(Transient):
    """No whole answer came: the provider may have worked all the same, and may charge for it."""


class Rejected(ProviderUnavailable):
    """The provider does not accept the request as it is (status 400, 404 or 422)."""


def explained(error: Exception, target: Target, timeout: float) -> CookbookError:
    """Our error for one that litellm raised. litellm's classes are told by name, so it need not be loaded."""
    chain = _chain(error)
    for cause in chain:
        if isinstance(cause, CookbookError):  # raised by a provider of ours, wrapped by litellm
            return cause
    model, status, kind = target.route, getattr(error, "status_code", None), type(error).__name__
    if isinstance(error, TimeoutError) or kind == "Timeout":
        return Unanswered(f"{model} did not answer within {timeout:.3g} s; try again, or raise the timeout")
    if kind == "ContextWindowExceededError":
        return ContextOverflow(f"{model} finds the prompt too long for its window; use fewer passages")
    if any(type(cause).__name__ == "APIConnectionError" for cause in chain[1:]):
        return Unanswered(
            f"{model}: the connection failed ({_line(chain[-1])}); check that the server runs, and its address"
        )
    if status == 429:
        return Transient(f"{model} answered 429, too many requests; wait, or use another model")
    if status in (401, 403):
        return ProviderUnavailable(f"{model} refused the key ({status}); check the key of {target.provider}")
    if status in (400, 404, 422):
        return Rejected(f"{model} rejected the request ({status}): {_line(error)}; check the model's name")
    return Transient(f"{model} failed ({status or kind}): {_line(error)}; try again later")


def _chain(error: BaseException) -> list[BaseException]:
    """An error and what caused it, down to the first cause."""
    cause = error.__cause__ or error.__context__
    return [error, *(_chain(cause) if cause else ())]


def _line(error: BaseException) -> str:
    """The first line of an error, without the classes litellm puts in front and without any key."""
    text = re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::| -)\s*)+", "", str(error)).splitlines()
    return without_keys(text[0] if text else type(error).__name__)[:160]


def without_keys(text: str) -> str:
    """The text with every key of this process's environment masked: what a server echoes is printed, traced and kept."""
    for name, value in os.environ.items():
        if len(value) > 7 and SECRET.search(name):
            text = text.replace(value, "***")
    return text
