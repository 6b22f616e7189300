"""An outage read as a verdict: the judge never answered, and the customer is told that nothing was found.

Taught in notebooks/labs/40_verdicts.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cookbook.errors import GRADER_FAILURES, ProviderUnavailable, ReplayMiss, ReplyUnparsable
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges, Shelf, in_turn
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Hit, Reason, Relevance

LAB = Lab(
    module=__name__,
    title="The judge is down, and the handbook is empty",
    difficulty=2,
    minutes=20,
    you_will="keep a grader that failed apart from a passage that was rejected, and stop paying for an outage",
    symptom=(
        "On Tuesday afternoon the assistant told every customer that the handbook says nothing about exports. "
        "Nobody had touched the handbook."
    ),
    task=(
        "Write `grade(ask, hits)`. `ask(hit)` calls the judge: it gives `True` or `False`, or raises one of "
        "`GRADER_FAILURES`. Return the passages that were judged relevant, and a reason: `None` if there are some; "
        "`Reason.NO_RELEVANT_PASSAGE` if every passage was judged and none is relevant; `Reason.GRADER_FAILED` if none "
        "is left and one or more could not be judged. After `LIMIT` (3) failures in a row, ask no more. Any other error is not yours "
        "to catch."
    ),
    hints=(
        "In the trace, compare *the judge said* with *read as*. The handler turns two different things into the same "
        "one. And it catches `Exception`: which errors say something about the judge, and which say that our own program is set up wrong?",
        "`except GRADER_FAILURES` around the one call. Two counters: failures at all (they decide the reason) and failures in a row "
        "(they end the loop; a reply sets them back to 0). What was judged relevant before the outage stays good.",
    ),
    in_the_wild=(
        "promptfoo's check for faithfulness to the context gave a reply that it could not parse the score 0, so an assertion "
        "*not faithful* passed without any judgement (promptfoo/promptfoo, pull request 9907). In screenpipe/screenpipe, pull request 7099, "
        "a timeout of the grader counted as a failed test, and as proof that a regression had been found."
    ),
    transfer=(
        "Your counter of failures in a row forgets everything when the request ends. During an outage 1,000 customers ask, and a "
        "call takes 60 seconds to time out. What would the counter have to outlive, and when may it let a call through again?"
    ),
    answer=(
        "The request: 1,000 customers still wait for 3 timeouts each, 50 hours of waiting in all. Kept in the client, "
        "the breaker makes the first of them wait and fails the others at once; after a pause it lets one call through, and that "
        "call's fate opens or closes it. `cookbook/providers/breaker.py` is one."
    ),
    pitfall=(
        "They return `GRADER_FAILED` as soon as *one* call fails and throw two good passages away, or they keep what could not be judged "
        "because that feels safer. Ask what the writer may read: what was judged relevant, and nothing else."
    ),
)  # fmt: skip

Ask = Callable[[Hit], bool]
Graded = tuple[list[Hit], Reason | None]
Grade = Callable[[Ask, Sequence[Hit]], Graded]

QUESTION = "Can I export my data after I cancel my plan?"
LIMIT = 3
"""Failures in a row after which the judge is left alone."""

YES, NO = Relevance.RELEVANT, Relevance.IRRELEVANT
TIMEOUT = ProviderUnavailable("the judge did not answer within 60 s; try again later")
GARBAGE = ReplyUnparsable("the judge replied '<html>502 Bad Gateway</html>', which is no verdict")
NOT_RECORDED = ReplayMiss("no recording exists for this call; record it, or choose another provider")


# ---------------------------------------------------------------- the code


def skip_what_fails(ask: Ask, hits: Sequence[Hit]) -> Graded:
    """The grader as it is often written."""
    kept = []
    for hit in hits:
        try:
            if ask(hit):
                kept.append(hit)
        except Exception:
            continue  # one bad passage must not stop the request
    return kept, None if kept else Reason.NO_RELEVANT_PASSAGE


def grade(ask: Ask, hits: Sequence[Hit]) -> Graded:
    """The passages judged relevant, in order, and why there are none (None when there are some).

    Only GRADER_FAILURES are caught. After LIMIT failures in a row no more is asked.
    """
    ### BEGIN SOLUTION
    kept, failures, in_a_row = [], 0, 0
    for hit in hits:
        if in_a_row == LIMIT:
            break
        try:
            relevant = ask(hit)
        except GRADER_FAILURES:
            failures, in_a_row = failures + 1, in_a_row + 1
            continue
        in_a_row = 0
        if relevant:
            kept.append(hit)
    if kept:
        return kept, None
    return [], Reason.GRADER_FAILED if failures else Reason.NO_RELEVANT_PASSAGE
    ### END SOLUTION


def broken() -> Grade:
    return skip_what_fails


def solution() -> Grade:
    return grade


# ---------------------------------------------------------------- one request


@dataclass(frozen=True)
class Request:
    """What came of one question. ``rows`` has a row for each passage that the judge was asked about."""

    graded: Any
    rows: list[dict[str, str]]
    text: str
    meter: Meter


def ask_handbook(candidate: Grade, *said: Relevance | Exception) -> Request:
    """Five passages and a judge who says ``said``, one after the other, the last for ever after."""
    turn = in_turn(*said)
    replies: dict[str, str] = {}

    def reply(question: str, hit: Hit) -> Relevance:
        found = turn()
        if isinstance(found, Exception):
            replies[hit.chunk_id] = f"{type(found).__name__}: {str(found).partition(';')[0]}"
            raise type(found)(*found.args)
        replies[hit.chunk_id] = str(found)
        return Relevance(found)

    judges = Judges(_handbook(), relevance=reply)
    hits = judges.store.retrieve(QUESTION, 5)
    with metered(Meter()) as meter:
        graded = candidate(lambda hit: judges.relevance(QUESTION, hit) is YES, hits)
        kept, reason = graded if _is_pair(graded) else ([], None)
        text = judges.generate(QUESTION, kept) if kept else SENTENCES[reason] if reason else ""
    read = {hit.chunk_id: "relevant" if hit in kept else "not relevant" for hit in hits}
    rows = [{"passage": id, "the judge said": replies[id], "read as": read[id]} for id in replies]
    return Request(graded, rows, text, meter)


@cache
def _handbook() -> Shelf:
    return Shelf.of("larkspur")


def _is_pair(graded: Any) -> bool:
    return (
        isinstance(graded, tuple)
        and len(graded) == 2
        and isinstance(graded[0], list)
        and all(isinstance(hit, Hit) for hit in graded[0])
        and (graded[1] is None or isinstance(graded[1], Reason))
    )


# ---------------------------------------------------------------- the check


@guard(returns="a pair: the list of passages kept, and the reason or None")
def check(candidate: Grade) -> LabVerdict:
    """Eight situations, from a judge who answers everything to one who goes down, and a program that is set up wrong."""
    requests = []
    for case in CASES:
        try:
            request = ask_handbook(candidate, *case.said)
        except GRADER_FAILURES as error:
            return failed(
                "failure_not_caught",
                f"{case.situation}: your function passed on {type(error).__name__}. A passage that could not be "
                "judged must not end the request; count it and go on",
            )
        if not _is_pair(request.graded):
            return failed(
                "no_pair",
                f"{case.situation}: you returned {request.graded!r}; return (kept, reason) with a list of passages "
                "and a Reason or None",
            )
        if (verdict := case.outcome(request)) is not None:
            return verdict
        requests.append(request)
    for case, request in zip(CASES, requests, strict=True):
        if (verdict := case.cost(request)) is not None:
            return verdict
    try:
        ask_handbook(candidate, NOT_RECORDED)
    except ReplayMiss:
        return passed(
            f"{len(CASES)} situations: an outage costs {LIMIT} calls and is called grader_failed, a rejection is called "
            "no_relevant_passage, good passages survive both, and a wrong setting surfaces"
        )
    return failed(
        "hides_a_wrong_setting",
        "the judge raised ReplayMiss (a call that was never recorded), and your function caught it. That is no failure of the "
        "grader but a program that is set up wrong, and somebody has to see it. GRADER_FAILURES leaves it out",
    )


@dataclass(frozen=True)
class Case:
    """A situation, what must come of it, and the diagnosis for each way of getting it wrong."""

    situation: str
    said: tuple[Relevance | Exception, ...]
    kept: int
    reason: Reason | None
    calls: int
    wrong: str  # diagnosis for wrong passages or a wrong reason
    lesson: str

    def outcome(self, request: Request) -> LabVerdict | None:
        """What is wrong with what was kept, and why; None when nothing is."""
        kept, reason = request.graded
        for row in request.rows:
            if row["read as"] == "relevant" and row["the judge said"] != YES:
                judged = row["the judge said"] == NO
                return failed(
                    "no_read_as_yes" if judged else "failure_read_as_yes",
                    f"{self._saw(request)}. {row['passage']} was kept, and the judge said {row['the judge said']!r}. "
                    f"The writer would read it as if it had been found relevant",
                )
        if (len(kept), reason) != (self.kept, self.reason):
            return failed(
                self.wrong,
                f"{self._saw(request)}. It should be {self.kept} kept, reason {_named(self.reason)}. {self.lesson}",
            )
        return None

    def cost(self, request: Request) -> LabVerdict | None:
        """What is wrong with the number of calls; None when nothing is."""
        if len(request.rows) > self.calls:
            return failed(
                "pays_through_the_outage",
                f"{self._saw(request)}. After {LIMIT} failures in a row the judge is down, and each further call is paid "
                f"for and waited for in vain: {self.calls} calls are enough here",
            )
        if len(request.rows) < self.calls:
            return failed(
                "gives_up_too_early",
                f"{self._saw(request)}, and {self.calls} should have been asked about. The limit is {LIMIT} failures "
                "*in a row*: a reply in between sets the count back to 0",
            )
        return None

    def _saw(self, request: Request) -> str:
        kept, reason = request.graded
        return f"{self.situation}: {len(request.rows)} of 5 asked, {len(kept)} kept, reason {_named(reason)}"


def _named(reason: Reason | None) -> str:
    return reason.value if reason else "None"


NOTHING, FAILED = Reason.NO_RELEVANT_PASSAGE, Reason.GRADER_FAILED
CASES = (
    Case("The judge rejects all five", (NO,), 0, NOTHING, 5, "rejection_read_as_failure",
         "Every passage was judged; nothing failed."),
    Case("The judge times out on every call", (TIMEOUT,), 0, FAILED, 3, "outage_read_as_no",
         "No passage was judged, so nobody knows whether one is relevant."),
    Case("Every reply is garbage", (GARBAGE,), 0, FAILED, 3, "outage_read_as_no",
         "A reply that states no verdict is a failure too."),
    Case("Two are relevant, one times out", (YES, TIMEOUT, NO, YES, NO), 2, None, 5, "one_failure_ends_all",
         "What was judged relevant is good, whatever happened to another passage."),
    Case("Four are rejected, one times out", (NO, NO, TIMEOUT, NO, NO), 0, FAILED, 5, "half_judged_read_as_no",
         "The one passage that nobody judged may hold the answer, so \"none is relevant\" is not known."),
    Case("Three calls time out, but not in a row", (TIMEOUT, TIMEOUT, NO, TIMEOUT, NO), 0, FAILED, 5, "half_judged_read_as_no",
         "Three passages were never judged."),
    Case("One is relevant, then the judge goes down", (YES, TIMEOUT), 1, None, 4, "one_failure_ends_all",
         "The passage judged before the outage is still relevant."),
    Case("The judge answers everything", (YES, NO, YES, NO, NO), 2, None, 5, "verdicts_lost",
         "No call failed here."),
)  # fmt: skip
