"""One clock for recorded replies: what a call takes on a quiet machine, by its tokens.

Recordings are made over days, beside other work, by more than one build of the engine: the same call can take
two seconds in one and twenty in another. Their seconds say what a run took, and compare nothing. So where
replayed systems are compared, the seconds are computed from their calls and tokens, at a speed that was measured
once, with nothing else running: ``seconds = calls * a + prompt tokens * b + reply tokens * c``. The counts are
exact, and everybody is timed by the same clock.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.providers.call import Reply
from cookbook.schema import Answer, Step

FEWEST = 8
"""Replies to fit three numbers to."""


@dataclass(frozen=True)
class Clock:
    """Seconds of a call, of a prompt token and of a reply token. ``error`` is the median relative error on the
    ``replies`` it was fitted to."""

    model: str
    machine: str
    engine: str
    date: str
    replies: int
    a_call: float
    a_prompt_token: float
    a_reply_token: float
    error: float

    def seconds(self, calls: int, prompt_tokens: int, reply_tokens: int) -> float:
        return calls * self.a_call + prompt_tokens * self.a_prompt_token + reply_tokens * self.a_reply_token

    def retimed(self, answer: Answer) -> Answer:
        """The answer with the seconds of this clock in every step of its trace."""
        steps = [self._retimed(step) for step in answer.trace.steps]
        return replace(answer, trace=replace(answer.trace, steps=steps))

    def _retimed(self, step: Step) -> Step:
        return replace(step, seconds=self.seconds(step.calls, step.prompt_tokens, step.completion_tokens))

    def __str__(self) -> str:
        """``Intel(R) Xeon(R) Processor, 2 cores, 13 ms a prompt token and 70 ms a reply token``"""
        prompt, reply = (f"{1000 * each:.0f} ms" for each in (self.a_prompt_token, self.a_reply_token))
        return f"{self.machine}, {prompt} a prompt token and {reply} a reply token"


def fit(replies: Sequence[Reply], *, model: str, machine: str, engine: str, date: str) -> Clock:
    """The clock that fits these live replies best, every reply weighing the same whatever it took.

    Least squares of the relative error, none of the three numbers below zero. ConfigError for too few replies.
    """
    import numpy as np
    from scipy.optimize import nnls

    if len(replies) < FEWEST:
        raise ConfigError(f"a clock needs {FEWEST} replies, there are {len(replies)}; record more first")
    counts = np.array([[1, reply.prompt_tokens, reply.completion_tokens] for reply in replies], float)
    took = np.array([reply.seconds for reply in replies])
    found, _ = nnls(counts / took[:, None], np.ones(len(replies)))
    error = float(np.median(np.abs(counts @ found / took - 1)))
    call, prompt, reply_token = (round(float(each), 5) for each in found)
    return Clock(model, machine, engine, date, len(replies), call, prompt, reply_token, round(error, 3))


def clock_of(model: str, folder: Path | None = None) -> Clock | None:
    """The clock that is kept for a model such as ``local/qwen2.5-coder-1.5b``; None where nobody measured one."""
    return _kept(folder).get(model)


def keep(clock: Clock, folder: Path | None = None) -> Path:
    """Write the clock to ``recordings/clock.json``, in place of an older one of the same model."""
    path = _path(folder)
    kept = {**_kept(folder), clock.model: clock}
    text = json.dumps([asdict(each) for each in kept.values()], indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _kept(folder: Path | None) -> dict[str, Clock]:
    path = _path(folder)
    if not path.exists():
        return {}
    try:
        found = [Clock(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path} holds no clocks ({error}); restore it") from error
    return {clock.model: clock for clock in found}


def _path(folder: Path | None) -> Path:
    return (folder or paths.RECORDINGS) / "clock.json"
