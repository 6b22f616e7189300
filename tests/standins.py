"""Named stand-ins for everything a loop asks, shared by the tests of all systems.

They charge the open meters as a model call would, so that a test counts calls exactly.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from cookbook.corpora import CorpusCard
from cookbook.embedders import HashEmbedder
from cookbook.errors import ProviderUnavailable
from cookbook.providers.meter import check_budgets, open_meters
from cookbook.reflect.generate import Draft
from cookbook.schema import (
    Chunk,
    Decision,
    Hit,
    Relevance,
    Retrieve,
    ScoreKind,
    Support,
    Usefulness,
    Utility,
    Verdict,
)
from cookbook.systems.base import Parts
from cookbook.systems.loop import Loop
from cookbook.systems.state import Judges
from cookbook.tracing import note_verdict


def hits(*names: str) -> list[Hit]:
    chunks = [Chunk(f"{name}.md#0", f"{name}.md", f"About {name}.", 0, 8 + len(name)) for name in names]
    return [Hit(chunk, 0.9, ScoreKind.COSINE) for chunk in chunks]


CARD = CorpusCard("the handbook", "Ask support.", ())


@dataclass
class StandInRetriever:
    """Returns the passages listed for a query; for any other query, five that no other query finds."""

    answers: dict[str, list[Hit]] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)

    def retrieve(self, query: str, k: int = 5, *, exclude: Sequence[str] = ()) -> list[Hit]:
        self.queries.append(query)
        found = self.answers.get(query, hits(*(f"{query} {letter}" for letter in "abcde")))
        return [hit for hit in found if hit.chunk_id not in exclude][:k]

    def variant(self, **_: object) -> StandInRetriever:
        return self


class StandInClient:
    chat_model = "scripted/direct"

    def __init__(self, reply: str | Exception = "19") -> None:
        self.reply = reply

    def chat(self, messages: object, max_tokens: int = 0) -> str:
        count_call()
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def count_call() -> None:
    check_budgets()
    for meter in open_meters():
        meter.add_call(prompt_tokens=10, completion_tokens=1, seconds=0.0, cost=0.0)


class Scripted:
    """All six parts in one: each list is played in order, its last item for ever after.

    "fail" gives a failed verdict; in ``drafts`` an exception is raised and None abstains.
    ``free`` are the judges that stand for an encoder and charge no call.
    """

    def __init__(self, free: Collection[str] = (), **script: list) -> None:
        self.free = free
        self.play(script)

    def play(self, script: dict[str, list]) -> None:
        """Start again with these lines."""
        self.script = script
        self.turn = dict.fromkeys(script, 0)
        self.seen_feedback: list[str] = []

    def _next(self, name: str):
        values = self.script[name]
        value = values[min(self.turn[name], len(values) - 1)]
        self.turn[name] += 1
        return value

    def _verdict(self, name: str, decision: Decision, subject: str = "") -> Verdict:
        if decision.value not in self.free:
            count_call()
        label = self._next(name)
        failed = label == "fail"
        verdict = Verdict(
            decision, None if failed else label, subject=subject, failure="said: maybe" if failed else ""
        )
        note_verdict(verdict)
        return verdict

    def decide(self, question):
        return self._verdict("gate", Decision.RETRIEVE)

    def grade(self, question, found):
        return [self._verdict("grades", Decision.RELEVANCE, hit.chunk_id) for hit in found]

    def check(self, question, answer, found):
        return self._verdict("support", Decision.SUPPORT)

    def judge(self, question, answer):
        return self._verdict("usefulness", Decision.USEFULNESS)

    def rate(self, question, answer):
        """1 to 5, from the lines of usefulness."""
        count_call()
        said = self._next("usefulness")
        label = {"fail": None, Usefulness.USEFUL: Utility.FIVE, Usefulness.NOT_USEFUL: Utility.TWO}[said]
        verdict = Verdict(Decision.USEFULNESS, label, failure="" if label else "said: maybe")
        note_verdict(verdict)
        return verdict

    def check_both(self, question, answer, found):
        """Support and usefulness in one call; the details of a "no" are a second one."""
        support = self._verdict("support", Decision.SUPPORT)
        said = self._next("usefulness")
        if support.label is not Support.FULLY:
            if not support.failed:
                count_call()
            return support, None
        failed = said == "fail"
        verdict = Verdict(
            Decision.USEFULNESS, None if failed else said, failure="said: maybe" if failed else ""
        )
        note_verdict(verdict)
        return support, verdict

    def split(self, question):
        return [question]

    def revise(self, question, answer, problem, found):
        return self.write(question, found, problem)

    def write(self, question, found, feedback=""):
        count_call()
        self.seen_feedback.append(feedback)
        value = self._next("drafts")
        if isinstance(value, Exception):
            raise value
        return Draft("", abstained=True) if value is None else Draft(value, (found[0].chunk_id,))

    def rewrite(self, question, tried, feedback=""):
        count_call()
        self.seen_feedback.append(feedback)
        value = self._next("queries")
        if isinstance(value, Exception):
            raise value
        return value


HAPPY = {
    "gate": [Retrieve.YES],
    "grades": [Relevance.RELEVANT],
    "drafts": ["Yes, for 30 days."],
    "support": [Support.FULLY],
    "usefulness": [Usefulness.USEFUL],
    "queries": [f"query {n}" for n in range(20)],
}
"""What each part says when everything goes well."""

DOWN = ProviderUnavailable("no reply after 120 s")
POSSIBLE = {
    "gate": [*Retrieve, "fail"],
    "grades": [*Relevance, "fail"],
    "drafts": ["For 10 days.", "For 20 days.", None, DOWN],
    "support": [*Support, "fail"],
    "usefulness": [*Usefulness, "fail"],
    "queries": ["query 0", "query 1", "How long?", DOWN],
}
"""Everything that each part can say: all labels, a failure, an abstention, a query tried before."""

FRAME = {"self", "parts", "caps", "budget", "checkpointer", "judges", "second"}


def roles_of(system: type[Loop]) -> set[str]:
    """The judges that a system takes: those of every loop, and its own, which it names as keywords."""
    own = inspect.signature(system.__init__).parameters
    return {*Judges.__annotations__, *own} - FRAME


def build_loop(system: type[Loop], retriever=None, client=None, k=5, **options: Any):
    """A system whose judges are all played by one script, and the script. ``options`` named as in HAPPY
    change what it says, the others go to the system."""
    lines = {name: options.pop(name) for name in list(options) if name in HAPPY}
    script = Scripted(free=system.encoders, **(HAPPY | lines))
    parts = Parts(client or StandInClient(), retriever or StandInRetriever(), CARD, k)
    judges = dict.fromkeys(roles_of(system), script) | options
    return system(parts, **judges), script
