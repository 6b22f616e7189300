"""The circuit breaker: a provider that keeps failing is left alone for a while, so that requests fail at once.

Without one, every request of an outage waits for its timeouts and retries before it fails. A call that is
not made gives the same error as one that failed, so a loop ends as ``grader_failed`` and not as a "no".
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Literal

from cookbook.errors import ConfigError, ProviderUnavailable
from cookbook.providers.failures import Rejected

State = Literal["closed", "open", "half_open"]


class Breaker:
    """Opens after ``failures`` failed calls in a row. ``cooldown`` seconds later it is half open: one call
    is let through, and its outcome closes or opens it again.

    A call counts once, its retries included. A request that the provider rejects as faulty (status 400,
    404, 422) says nothing about the provider's health. Give one breaker to all clients of a provider:
    ``LLMClient(model, breaker=breaker)``. ``clock`` gives seconds.
    """

    def __init__(
        self, *, failures: int = 5, cooldown: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if failures < 1:
            raise ConfigError(f"a breaker opens after at least 1 failure; got {failures}")
        self.failures, self.cooldown = failures, cooldown
        self._clock = clock
        self._lock = Lock()
        self._in_a_row = 0
        self._opened: float | None = None
        self._trying = False

    @property
    def state(self) -> State:
        if self._opened is None:
            return "closed"
        return "open" if self._left() > 0 else "half_open"

    @contextmanager
    def watch(self, model: str) -> Iterator[None]:
        """Around one call. Raises ProviderUnavailable instead of entering while the breaker is open, and
        while the one call of a half-open breaker is under way."""
        self._enter(model)
        try:
            yield
        except ProviderUnavailable as error:
            self._leave(failed=not isinstance(error, Rejected))
            raise
        except BaseException:  # a full budget, a missing key: the provider was not heard
            self._leave(failed=None)
            raise
        self._leave(failed=False)

    def _left(self) -> float:
        """Seconds until the next call may be tried."""
        assert self._opened is not None
        return self._opened + self.cooldown - self._clock()

    def _enter(self, model: str) -> None:
        with self._lock:
            if self._opened is None:
                return
            if self._trying or self._left() > 0:
                raise ProviderUnavailable(
                    f"{model} is left alone for {max(self._left(), 0):.0f} s after {self._in_a_row} failed calls "
                    "in a row; wait, or use another model"
                )
            self._trying = True

    def _leave(self, *, failed: bool | None) -> None:
        with self._lock:
            self._trying = False
            if failed is None:
                return
            self._in_a_row = self._in_a_row + 1 if failed else 0
            if not failed:
                self._opened = None
            elif self._opened is not None or self._in_a_row >= self.failures:
                self._opened = self._clock()
