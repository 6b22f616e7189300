"""One check for support and usefulness together: the cheapest loop that still checks both.

The first token says yes to both or not. Only a "no" costs a second call, which lists the unsupported
statements so that the next draft can leave them out; when there are none, it was the use that was missing.
Taught in notebooks/26_lean.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.reflect.support.base import asked
from cookbook.reflect.support.details import reason_of, unsupported
from cookbook.schema import Decision, Hit, Support, Usefulness, Verdict
from cookbook.tracing import note_verdict

YES_AT = 0.45
"""Where the 1.5B judge separates best on 14 answers: all good ones lie above, all unsupported ones below.
Another model wants its own."""

Checked = tuple[Verdict[Support], Verdict[Usefulness] | None]
"""Both verdicts. Usefulness is None unless support is full: an answer that is thrown away is not judged."""


class Checker(Protocol):
    """Judges support and usefulness of an answer at once."""

    def check_both(self, question: str, answer: str, hits: Sequence[Hit]) -> Checked: ...


class OneCheck:
    """One call and one output token when all is well, a second call for the details of a "no".

    A "no" without any unsupported statement means full support and no use. Details that cannot be read
    leave it at no support, without a reason. The probability of a "yes" is that of both at once.
    """

    def __init__(self, client: LLMClient, *, threshold: float = YES_AT) -> None:
        self.client, self.threshold = client, threshold

    def check_both(self, question: str, answer: str, hits: Sequence[Hit]) -> Checked:
        support, usefulness = self._check(question, answer, hits)
        note_verdict(support)
        if usefulness is not None:
            note_verdict(usefulness)
        return support, usefulness

    def _check(self, question: str, answer: str, hits: Sequence[Hit]) -> Checked:
        messages = asked(prompts.ONE_CHECK, question, answer, hits)
        try:
            choice = self.client.decide(messages, prompts.YES_NO)
        except GRADER_FAILURES as error:
            return Verdict(Decision.SUPPORT, None, failure=str(error)), None
        both = choice.probabilities["yes"]
        if both >= self.threshold:
            sure = None if choice.probability is None else both
            return (
                Verdict(Decision.SUPPORT, Support.FULLY, sure),
                Verdict(Decision.USEFULNESS, Usefulness.USEFUL, sure),
            )
        listed = unsupported(self.client, question, answer, hits)
        if listed == []:
            return (
                Verdict(Decision.SUPPORT, Support.FULLY),
                Verdict(Decision.USEFULNESS, Usefulness.NOT_USEFUL),
            )
        return Verdict(Decision.SUPPORT, Support.NONE, reason=reason_of(listed)), None
