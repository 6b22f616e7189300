"""Rows, answers and systems made up for the tests of the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cookbook.corpora import CorpusCard
from cookbook.eval.run import Setup
from cookbook.eval.sets import EvalRow, GoldQuote
from cookbook.schema import (
    Answer,
    Chunk,
    Hit,
    Provenance,
    Reason,
    ScoreKind,
    Status,
    Step,
    Trace,
)
from cookbook.systems.base import Parts

CARD = CorpusCard("a handbook", "Ask support.", ())
KINDS = {"answer": "answerable", "refuse": "unanswerable_near", "direct": "off_topic"}
REASONS = {Status.REFUSED: Reason.NO_RELEVANT_PASSAGE, Status.FAILED: Reason.GRADER_FAILED}


def row(name: str, behaviour: str = "answer", fact: str = "5") -> EvalRow:
    """A question whose answer is ``fact``, which stands in file ``<name>.md`` as "It is <fact>."."""
    gold = (GoldQuote(f"{name}.md", f"It is {fact}."),) if behaviour == "answer" else ()
    facts = ((fact,),) if behaviour == "answer" else ()
    return EvalRow(name, f"{name}?", fact, KINDS[behaviour], behaviour, gold, (), "report", facts=facts)


def hit(name: str, text: str) -> Hit:
    return Hit(Chunk(f"{name}.md#0", f"{name}.md", text, 0, len(text)), 0.9, ScoreKind.COSINE)


def answer(
    question: str,
    text: str = "It is 5.",
    status: Status = Status.ANSWERED,
    *,
    contexts: Sequence[Hit] = (),
    citations: Sequence[str] = (),
    steps: Sequence[Step] = (),
    cost: float | None = 0.0,
) -> Answer:
    trace = Trace(question, "stub", steps=list(steps), cost=cost)
    return Answer(
        question, text, status, Provenance.PASSAGES, trace,
        reason=REASONS.get(status), contexts=tuple(contexts), citations=tuple(citations),
    )  # fmt: skip


class Stub:
    """A system that does what a function of the question says; the function may raise."""

    def __init__(self, reply: Callable[[str], Answer]) -> None:
        self.answer = reply

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        return 0


class Shelf:
    """A retriever over made-up passages: it finds the one that is named in the question first."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = hits

    def retrieve(self, query: str, k: int = 5) -> list[Hit]:
        return sorted(self.hits, key=lambda hit: hit.chunk.doc_id.removesuffix(".md") not in query)[:k]

    def describe(self) -> str:
        return "a shelf"


def setup(*rows: EvalRow, hits: Sequence[Hit] = (), model: object = None) -> Setup:
    """Rows over a shelf of passages, without a model unless one is given."""
    return Setup("made_up", "all", rows, Parts(model, Shelf(*hits), CARD), "0" * 64)
