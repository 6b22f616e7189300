"""A reply that was cut off is no bad JSON: asked again with the same limit, it is cut at the same place.

Taught in notebooks/labs/48_bills.ipynb.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cookbook.errors import ReplyTruncated, ReplyUnparsable
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered, open_meters

LAB = Lab(
    module=__name__,
    title="Three times the same half",
    difficulty=2,
    minutes=20,
    you_will=(
        "tell a reply that was cut off from one that is malformed, and spend a second call only where it can "
        "end differently"
    ),
    symptom=(
        "The support judge lists what an answer says without support. On long answers it \"returns invalid "
        "JSON\", three times in a row, and the request fails. The prompt was rewritten twice."
    ),
    task=(
        "Write `ask_json(call)`. `call(max_tokens)` asks the judge and returns a reply with `.text` and "
        "`.truncated`: `True` means that it was cut off at the limit. Ask with `LIMIT`. If the reply is "
        "whole, return the JSON object in it; if it is whole and holds none, raise `ReplyUnparsable` at "
        "once, because at temperature 0 the judge would say the same again. If it was cut off, do not parse "
        "it: ask once more, with `MOST`. If that is cut off too, raise `ReplyTruncated`, with a message that "
        "names `max_tokens` and its value."
    ),
    hints=(
        "Compare the rows: what changed from the first attempt to the third? The column *cut off* was there "
        "all the time; the program looks at another one.",
        "A loop over the two limits, `for limit in (LIMIT, MOST)`: `continue` where `reply.truncated`, else "
        "`json.loads` and return. Behind the loop there is only one thing left to say. "
        "`json.JSONDecodeError` becomes `ReplyUnparsable`, and so does JSON that is no object.",
    ),
    in_the_wild=(
        "MemTensor/MemOS, issue 2320, and tomnio/rubric, issue 66, are this lab: a reply with "
        "`finish_reason=\"length\"` went into the retry for malformed JSON, with the same `max_tokens`, and "
        "was cut at the same place each time; in the second, the model was told to repair JSON that it had "
        "never finished. In lobu-ai/lobu, pull request 3293, a judge whose verdict was cut off denied "
        "legitimate requests and tripped the circuit breaker."
    ),
    transfer=(
        "A library offers to close open brackets and quotes, so that cut-off JSON parses. For "
        "`{\"supported\": false, \"unsupported\": [\"claim 1\", ...` that is done in a line. What does the "
        "program know afterwards, and what does it believe to know?"
    ),
    answer=(
        "It knows some of the unsupported claims, and believes that it knows all. The reviser takes those "
        "out and leaves the rest in, checked and approved. A list that was cut off is a lower bound; no "
        "field of the repaired object says so. If parts are of use, pass on with them that they are parts."
    ),
    pitfall=(
        "They catch the decoding error and raise the limit there. Then half a reply that happens to parse is "
        "believed, and a chatty one is asked twice for nothing. The order matters: first *is it whole?*, "
        "then *what does it say?*"
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Reply:
    """What came back. ``truncated`` is the provider's word that it stopped at ``max_tokens`` and not at the end."""

    text: str
    truncated: bool


Call = Callable[[int], Reply]
AskJson = Callable[[Call], dict[str, Any]]

LIMIT = 64
"""Tokens of the first attempt."""
MOST = 256
"""The most tokens that a verdict may have."""


# ---------------------------------------------------------------- the code


def three_times(call: Call) -> dict[str, Any]:
    """The client as it was."""
    for _ in range(3):
        reply = call(LIMIT)
        try:
            found: dict[str, Any] = json.loads(reply.text)
            return found
        except json.JSONDecodeError:
            continue  # models sometimes slip; ask again
    raise ReplyUnparsable("no valid JSON in 3 attempts")


def ask_json(call: Call) -> dict[str, Any]:
    """The object of a whole reply. ReplyTruncated when MOST tokens do not suffice, ReplyUnparsable for a whole reply without one."""
    ### BEGIN SOLUTION
    for limit in (LIMIT, MOST):
        reply = call(limit)
        if reply.truncated:
            continue
        try:
            found = json.loads(reply.text)
        except json.JSONDecodeError as error:
            raise ReplyUnparsable(f"the judge did not reply with JSON: {reply.text[:60]!r}") from error
        if not isinstance(found, dict):
            raise ReplyUnparsable(f"the judge did not reply with an object: {reply.text[:60]!r}")
        return found
    raise ReplyTruncated(f"the judge was cut off at max_tokens={MOST}; raise it, or ask for less")
    ### END SOLUTION


def broken() -> AskJson:
    return three_times


def solution() -> AskJson:
    return ask_json


# ---------------------------------------------------------------- the judge


class Judge:
    """A scripted judge that has one thing to say, whatever it is asked; a word is a token.

    ``limits`` are the limits it was called with, ``rows`` what came back, for ``show_table``.
    """

    def __init__(self, text: str) -> None:
        self.words = text.split(" ")
        self.limits: list[int] = []
        self.rows: list[dict[str, Any]] = []

    def __call__(self, max_tokens: int) -> Reply:
        said = self.words[:max_tokens]
        for meter in open_meters():
            meter.add_call(prompt_tokens=300, completion_tokens=len(said), seconds=0.0, cost=0.0)
        self.limits.append(max_tokens)
        reply = Reply(" ".join(said), len(said) < len(self.words))
        self.rows.append(
            {
                "attempt": len(self.limits),
                "max_tokens": max_tokens,
                "written": len(said),
                "cut off": "yes" if reply.truncated else "no",
                "it ends in": f"...{reply.text[-34:]}",
            }
        )
        return reply


def verdict_on(claims: int) -> str:
    """The judge's reply to an answer with so many unsupported claims: seven words for each, and a few around them."""
    unsupported = [f"claim {n} says what no passage says" for n in range(1, claims + 1)]
    return json.dumps({"supported": not unsupported, "unsupported": unsupported})


def ask(candidate: AskJson, text: str) -> tuple[Any, Judge, Meter]:
    """What the client made of a judge who says ``text``: an object or an error, the judge, and what was used."""
    judge = Judge(text)
    with metered(Meter()) as meter:
        try:
            made: Any = candidate(judge)
        except (ReplyTruncated, ReplyUnparsable) as error:
            made = error
    return made, judge, meter


# ---------------------------------------------------------------- the check


@guard(returns="the object in the reply")
def check(candidate: AskJson) -> LabVerdict:
    """A short reply, longer and longer ones, half of one that looks whole, and two that are no JSON object."""
    spent = []
    for case in CASES:
        made, judge, meter = ask(candidate, case.text)
        if (verdict := case.judge(made, judge.limits)) is not None:
            return verdict
        spent.append(meter)
    return passed(
        f"{len(CASES)} replies, {sum(meter.calls for meter in spent)} calls: one where the reply is whole, "
        f"be it JSON or not, and two where it was cut off. What is longer than {MOST} tokens is an error "
        f"that names the limit. As it was, a verdict of {len(CASES[1].text.split(' '))} tokens cost three "
        "calls and an error about JSON"
    )


@dataclass(frozen=True)
class Case:
    """What the judge says, and what has to come of it: an object, or a kind of error."""

    situation: str
    text: str
    wanted: Any
    calls: int

    def judge(self, made: Any, limits: list[int]) -> LabVerdict | None:
        """What is wrong with the calls or with what was made of them; None when nothing is."""
        words = len(self.text.split(" "))
        saw = (
            f"{self.situation} ({words} tokens): called with max_tokens "
            f"{', '.join(map(str, limits)) or 'never'}"
        )
        ended = (
            f"{type(made).__name__}: {made}" if isinstance(made, Exception) else f"returned {str(made)[:70]}"
        )
        cut = words > LIMIT
        if cut and len(set(limits)) < len(limits):
            return failed(
                "same_limit_again",
                f"{saw}; {ended}. Each time the reply was cut off after {limits[0]} tokens, and each time "
                "`.truncated` said so. With the same limit it ends at the same place",
            )
        if len(limits) > self.calls and not cut:
            return failed(
                "asked_again_for_nothing",
                f"{saw}; {ended}. The reply was whole. At temperature 0 the next one is the same: say what "
                "is wrong with this one",
            )
        if len(limits) > 2 or any(limit > MOST for limit in limits):
            return failed(
                "limit_without_end",
                f"{saw}; {ended}. Two attempts, and {MOST} tokens: a judge that does not come to an end by "
                "then will not",
            )
        if self.wanted is ReplyTruncated:
            return self._cut_off(made, f"{saw}; {ended}")
        if self.wanted is ReplyUnparsable:
            if isinstance(made, ReplyUnparsable):
                return None
            return failed(
                "unparsable_accepted",
                f"{saw}; {ended}. The reply is whole and holds no JSON object: that is ReplyUnparsable",
            )
        if made == self.wanted:
            return None
        if isinstance(made, dict) and isinstance(made.get("unsupported"), list) and cut:
            return failed(
                "half_a_reply_accepted",
                f"{saw}; you returned an object with {len(made['unsupported'])} unsupported claims of "
                f"{len(self.wanted['unsupported'])}. It was cut off, and the rest is silently missing. What "
                "is truncated is not parsed, even if it could be",
            )
        return failed(
            "not_asked_again", f"{saw}; {ended}. With max_tokens={MOST} the reply is whole: {words} tokens"
        )

    def _cut_off(self, made: Any, saw: str) -> LabVerdict | None:
        """What is wrong with the end of a reply that no limit is enough for; None when nothing is."""
        if isinstance(made, ReplyTruncated):
            if str(MOST) in str(made):
                return None
            return failed(
                "limit_not_named",
                f"{saw}. Whoever reads this has to know which limit to raise: name max_tokens and {MOST}",
            )
        if isinstance(made, ReplyUnparsable):
            return failed(
                "blames_the_json",
                f"{saw}. Nothing is wrong with its JSON, it was not finished: raise ReplyTruncated, so that "
                "somebody raises the limit and not the tone of the prompt",
            )
        return failed("failure_hidden", (
            f"{saw}. Nobody knows what the judge was going to say. A reply that was cut off is a failure, "
            "and no verdict"
        ))  # fmt: skip


DRAFT = '{"supported": true, "unsupported": []}'
CASES = (
    Case("a verdict without objections", verdict_on(0), json.loads(verdict_on(0)), 1),
    Case("a verdict with 12 claims", verdict_on(12), json.loads(verdict_on(12)), 2),
    Case("a verdict with 30 claims", verdict_on(30), json.loads(verdict_on(30)), 2),
    Case("a verdict with 60 claims", verdict_on(60), ReplyTruncated, 2),
    Case("a first thought, then white space up to the limit", DRAFT + " " * 300, ReplyTruncated, 2),
    Case("a sentence", "The passages seem to support the answer.", ReplyUnparsable, 1),
    Case("a list", '["claim 1"]', ReplyUnparsable, 1),
)
