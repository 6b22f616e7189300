"""Calls counted by what they leave behind: a warm cache makes the dearest system the cheapest.

Taught in notebooks/labs/48_bills.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from cookbook.errors import ProviderUnavailable
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered, open_meters

LAB = Lab(
    module=__name__,
    title="Nine calls for nothing",
    difficulty=3,
    minutes=25,
    you_will=(
        "count calls where they are made, so that a cache hit, a retry and a failed call are each told for "
        "what they are"
    ),
    symptom=(
        "The comparison says that the reflective loop makes 0.0 calls a question and the plain recipe 1.0. "
        "Management is delighted."
    ),
    task=(
        "Write `chat(model, cache, prompt, temperature)`, the one function through which every call goes. "
        "With temperature 0 a prompt that is in `cache` is answered from there, and a new reply is put "
        "there; with any other temperature the cache is left alone. `model.complete(prompt)` makes one "
        "attempt; if it raises `ProviderUnavailable`, try again, up to `ATTEMPTS` (2) attempts in all, then "
        "let the error through. **Charge** what happens: `charge(prompt, reply)` once for each attempt that "
        "was made, also for one that failed (its reply is `\"\"`), and `charge(prompt, reply, cached=True)` "
        "for an answer from the cache."
    ),
    hints=(
        "A harness that looks at the cache sees what is new in it. Write down the ways in which a call can "
        "be made, or not be made, without an entry more: there are at least four.",
        "Three places to charge: where the cache answers (`cached=True`), where `complete` returned, and "
        "where it raised, before you try again or give up. Look into the cache, and write into it, only if "
        "`temperature == 0`.",
    ),
    in_the_wild=(
        "A published recipe of Self-RAG counts the calls of a question as the new entries of its cache "
        "folder. Its committed output says \"New cache entries this query: 0\" above a breakdown that comes "
        "to 12 (FareedKhan-dev/rag-cookbook-2026, "
        "`docs/recipes/06-adaptive-and-agentic/self-reflective-retrieval.ipynb`). Retries hide in the same "
        "way: of 9 requests on the wire the cost tracker of tya5/reyn saw at most 1 (issue 3047)."
    ),
    transfer=(
        "A dashboard sums the `usage` field of every reply that was returned to the application. Which of "
        "the calls that the provider bills does it never see, and where would you stand to see them all?"
    ),
    answer=(
        "Those whose reply never reached the application: attempts that timed out or were cut off after the "
        "model had written, retries made inside a library, streams that were closed, background jobs with a "
        "client of their own. Stand in the client, around the request itself, and compare the month's sum "
        "with the provider's invoice: that is the only count that nobody here made up."
    ),
    pitfall=(
        "They count at the call site, one for each `chat(...)`. It is right in the first test, charges a "
        "warm cache in full, and is blind to retries. Let them draw the line from a node to the wire and "
        "mark where the meter sits."
    ),
)  # fmt: skip

ATTEMPTS = 2
DOWN = "the provider did not answer within 60 s; try again later"


@dataclass
class Model:
    """A scripted model at the end of the wire. ``made`` counts the attempts that reached it: the truth.

    ``fails`` are the numbers of the attempts that time out, counted from 1.
    """

    fails: Sequence[int] = ()
    made: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def complete(self, prompt: str) -> str:
        """One attempt. Each reply has another number, as a model at a temperature above 0 says something else each time."""
        self.made += 1
        if self.made in self.fails:
            raise ProviderUnavailable(DOWN)
        return f"reply {next(self._numbers)}"


Chat = Callable[[Model, dict[str, str], str, float], str]


def charge(prompt: str, reply: str, *, cached: bool = False) -> None:
    """Add one call, or one answer from the cache, to every open meter; words count as tokens."""
    read, written = (0, 0) if cached else (len(prompt.split()), len(reply.split()))
    for meter in open_meters():
        meter.add_call(prompt_tokens=read, completion_tokens=written, seconds=0.0, cost=0.0, cached=cached)


# ---------------------------------------------------------------- the code


def uncounted(model: Model, cache: dict[str, str], prompt: str, temperature: float) -> str:
    """The client as it was: it caches and tries again, and counts nothing."""
    if temperature == 0 and prompt in cache:
        return cache[prompt]
    try:
        reply = model.complete(prompt)
    except ProviderUnavailable:
        reply = model.complete(prompt)
    if temperature == 0:
        cache[prompt] = reply
    return reply


def chat(model: Model, cache: dict[str, str], prompt: str, temperature: float) -> str:
    """The reply to `prompt`, from the cache or from at most ATTEMPTS attempts; all that happens is charged."""
    ### BEGIN SOLUTION
    if temperature == 0 and prompt in cache:
        charge(prompt, cache[prompt], cached=True)
        return cache[prompt]
    for attempt in range(1, ATTEMPTS + 1):
        try:
            reply = model.complete(prompt)
        except ProviderUnavailable:
            charge(prompt, "")
            if attempt == ATTEMPTS:
                raise
        else:
            charge(prompt, reply)
            break
    if temperature == 0:
        cache[prompt] = reply
    return reply
    ### END SOLUTION


def broken() -> Chat:
    return uncounted


def solution() -> Chat:
    return chat


# ---------------------------------------------------------------- the comparison

QUESTIONS = (
    "Can I export my data after I cancel my plan?",
    "How long is a sync token valid?",
    "Who can restore a deleted project?",
    "When does an invitation expire?",
)
STEPS = {
    "plain recipe": ("answer",),
    "reflective loop": ("decide", *(f"grade passage {n}" for n in range(1, 6)), "generate", "support", "usefulness"),
}  # fmt: skip
"""The calls of a question: one, and nine."""


def run(chat: Chat, system: str, model: Model, cache: dict[str, str]) -> None:
    """Put every question through a system: a call for each of its steps, all at temperature 0."""
    for question in QUESTIONS:
        for step in STEPS[system]:
            chat(model, cache, f"{step}: {question}", 0.0)


def compare(chat: Chat) -> tuple[list[dict[str, Any]], Meter]:
    """Both systems on four questions. The loop ran yesterday, the recipe is new: a row for each, and today's meter.

    One attempt of today's times out and is made again.
    """
    cache: dict[str, str] = {}
    run(chat, "reflective loop", Model(), cache)
    rows, today = [], Meter()
    with metered(today):
        for system in STEPS:
            entries, model, meter = len(cache), Model(fails=(2,)), Meter()
            with metered(meter):
                run(chat, system, model, cache)
            rows.append(
                {
                    "system": system,
                    "new cache entries": len(cache) - entries,
                    "on the wire": model.made,
                    "meter: calls": meter.calls,
                    "meter: from the cache": meter.cached,
                }
            )
    return rows, today


# ---------------------------------------------------------------- the check


@guard(returns="the reply")
def check(candidate: Chat) -> LabVerdict:
    """Cold and warm, twice in one request, sampled, after one timeout, after two; then the comparison."""
    for case in CASES:
        if (verdict := case.judge(candidate)) is not None:
            return verdict
    rows, _ = compare(candidate)
    plain, loop = rows
    return passed(
        f"the meter agrees with the wire in {len(CASES)} situations. Today's comparison: plain recipe "
        f"{plain['meter: calls']} calls ({plain['new cache entries']} new cache entries), loop "
        f"{loop['meter: calls']} calls and {loop['meter: from the cache']} answers from the cache, so "
        f"{loop['meter: from the cache'] // len(QUESTIONS)} a question for whoever has none"
    )


@dataclass(frozen=True)
class Case:
    """Some calls in a row, and what has to come of them."""

    situation: str
    prompts: tuple[str, ...]
    temperature: float
    fails: tuple[int, ...]
    calls: int
    cached: int
    entries: int
    replies: tuple[str, ...] | None  # None where the outage has to come through

    def judge(self, candidate: Chat) -> LabVerdict | None:
        """What is wrong with the meter, the cache or the replies; None when nothing is."""
        model, cache = Model(self.fails), dict[str, str]()
        with metered(Meter()) as meter:
            try:
                said: tuple[str, ...] | None = tuple(
                    candidate(model, cache, prompt, self.temperature) for prompt in self.prompts
                )
            except ProviderUnavailable:
                said = None
        saw = (
            f"{self.situation}: {model.made} attempts reached the model; the meter says {meter.calls} calls "
            f"and {meter.cached} from the cache, and the cache has {len(cache)} entries"
        )
        return (
            self._replies(said, saw) or self._attempts(model, cache, saw) or self._metered(model, meter, saw)
        )

    def _replies(self, said: tuple[str, ...] | None, saw: str) -> LabVerdict | None:
        if self.replies is None and said is not None:
            return failed(
                "outage_hidden",
                f"{saw}. Every attempt failed, and you returned {said[-1]!r}: let the error through, or the "
                "outage becomes an answer",
            )
        if self.replies is not None and said is None:
            return failed(
                "no_second_attempt",
                f"{saw}. One attempt failed and the error came through; {ATTEMPTS} are allowed",
            )
        if self.replies and said != self.replies:
            return failed("other_reply", f"{saw}. You returned {said}; right is {self.replies}")
        return None

    def _attempts(self, model: Model, cache: dict[str, str], saw: str) -> LabVerdict | None:
        if self.temperature and (cache or model.made < self.calls):
            return failed(
                "sampled_reply_cached",
                f"{saw}. With a temperature above 0 each call is a new draw. From the cache all draws are "
                "the first one",
            )
        if model.made != self.calls:
            return failed(
                "attempts",
                f"{saw}. {self.calls} attempts are right here: as many as {ATTEMPTS} for a call, and none "
                "for what the cache holds",
            )
        if len(cache) != self.entries:
            return failed(
                "cache_not_kept",
                f"{saw}. {self.entries} are right: at temperature 0 a reply is kept, and a failure is none",
            )
        return None

    def _metered(self, model: Model, meter: Meter, saw: str) -> LabVerdict | None:
        if (meter.calls, meter.cached) == (self.calls, self.cached):
            return None
        if not meter.calls and not meter.cached:
            return failed(
                "nothing_charged",
                f"{saw}. Nobody told the meter. The client is the place that knows: it alone sees hits, "
                "retries and failures",
            )
        if meter.calls < self.calls and self.fails:
            return failed(
                "failure_not_charged",
                f"{saw}. The attempt that failed was made, waited for and often billed: charge it too, with "
                'the reply ""',
            )
        if meter.calls > self.calls and self.cached:
            return failed(
                "hit_charged_as_call",
                f"{saw}. An answer from the cache is no call: charge it with `cached=True`, so that the two "
                "stay apart",
            )
        if meter.cached < self.cached:
            return failed(
                "hit_not_charged",
                f"{saw}. A warm run now looks free. Charge hits with `cached=True`: calls and hits together "
                "are what the system needs without a cache",
            )
        return failed("wrong_count", f"{saw}. Right are {self.calls} calls and {self.cached} from the cache")  # fmt: skip


NINE = tuple(f"prompt {n}" for n in range(1, 10))
ONE = ("prompt",)
CASES = (
    Case("nine prompts, an empty cache", NINE, 0.0, (), 9, 0, 9, tuple(f"reply {n}" for n in range(1, 10))),
    Case("nine prompts, twice", NINE * 2, 0.0, (), 9, 9, 9, ()),
    Case("one prompt three times", ONE * 3, 0.0, (), 1, 2, 1, ("reply 1",) * 3),
    Case("one prompt three times, temperature 0.7", ONE * 3, 0.7, (), 3, 0, 0, ()),
    Case("the first attempt times out", ONE, 0.0, (1,), 2, 0, 1, ("reply 1",)),
    Case("the first attempt times out, temperature 0.7", ONE, 0.7, (1,), 2, 0, 0, ("reply 1",)),
    Case("both attempts time out", ONE, 0.0, (1, 2), 2, 0, 0, None),
)
