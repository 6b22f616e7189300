"""The nouns of the cookbook: documents, chunks, hits, the four verdicts, answers and traces.

Plain frozen dataclasses without behaviour beyond reading themselves, so that every other module
can import them and none needs to be imported by them.
Taught in notebooks/00_start_here.ipynb.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, Generic, TypeVar

from cookbook.errors import WrongScoreKind

# ---------------------------------------------------------------- text


@dataclass(frozen=True)
class Document:
    """One source text. ``doc_id`` is the path inside its corpus, such as ``data-export.md``."""

    doc_id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chunk:
    """A stretch of a document: ``document.text[start:end] == text``, always.

    ``chunk_id`` is ``<doc_id>#<n>``, n counting from 0 within the document.
    ``headings`` is the path of section titles above the chunk, outermost first.
    """

    chunk_id: str
    doc_id: str
    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


# ---------------------------------------------------------------- retrieval


class ScoreKind(StrEnum):
    """What a score means. Higher is better for every kind; the scales are not comparable."""

    COSINE = "cosine"  # [-1, 1]
    BM25 = "bm25"  # [0, unbounded)
    RRF = "rrf"  # sum of 1 / (k + rank): says order, nothing else
    CROSS_ENCODER = "cross_encoder"  # a logit, or a probability once calibrated


@dataclass(frozen=True)
class Hit:
    """A retrieved chunk with its score and the kind of that score."""

    chunk: Chunk
    score: float
    kind: ScoreKind

    @property
    def text(self) -> str:
        return self.chunk.text

    @property
    def chunk_id(self) -> str:
        return self.chunk.chunk_id


@dataclass(frozen=True)
class Threshold:
    """A cut-off together with the kind of score it was fitted on."""

    value: float
    kind: ScoreKind

    def keeps(self, hit: Hit) -> bool:
        """True when ``hit.score >= value``; raises WrongScoreKind for a score of another kind."""
        if hit.kind is ScoreKind.RRF:
            raise WrongScoreKind(
                "a fused (rrf) score only orders passages; threshold the cosine or a grader instead"
            )
        if hit.kind is not self.kind:
            raise WrongScoreKind(
                f"threshold {self.value} was fitted on {self.kind} scores; this hit carries {hit.kind}"
            )
        return hit.score >= self.value


# ---------------------------------------------------------------- the four decisions


class Decision(StrEnum):
    """The four reflection questions of Self-RAG (arXiv 2310.11511)."""

    RETRIEVE = "retrieve"  # do I need documents?
    RELEVANCE = "relevance"  # does this passage help? (ISREL)
    SUPPORT = "support"  # is the answer supported? (ISSUP)
    USEFULNESS = "usefulness"  # does it answer the question? (ISUSE)


class Retrieve(StrEnum):
    YES = "yes"
    NO = "no"


class Relevance(StrEnum):
    RELEVANT = "relevant"
    IRRELEVANT = "irrelevant"


class Support(StrEnum):
    """Ordinal: ``rank`` orders none < partially < fully."""

    FULLY = "fully"
    PARTIALLY = "partially"
    NONE = "none"

    @property
    def rank(self) -> int:
        return {Support.NONE: 0, Support.PARTIALLY: 1, Support.FULLY: 2}[self]


class Usefulness(StrEnum):
    USEFUL = "useful"
    NOT_USEFUL = "not_useful"


class Utility(IntEnum):
    """Usefulness on the paper's scale: 1 says nothing to the question, 5 answers it completely."""

    ONE = 1
    TWO = 2
    THREE = 3
    FOUR = 4
    FIVE = 5


Label = TypeVar("Label", Retrieve, Relevance, Support, Usefulness, Utility)


@dataclass(frozen=True)
class Verdict(Generic[Label]):
    """One judgement. ``label is None`` means that the grader failed: a third value, never a "no".

    ``probability`` is that of ``label`` in [0, 1] where the grader knows it. ``subject`` is the
    chunk id for relevance. ``failure`` quotes what came back when the grader failed. ``expected`` is the
    mean under the grader's probabilities where the labels are a scale: utility 1 to 5, support 0 to 1.
    """

    decision: Decision
    label: Label | None
    probability: float | None = None
    reason: str = ""
    subject: str = ""
    failure: str = ""
    expected: float | None = None

    @property
    def failed(self) -> bool:
        return self.label is None


# ---------------------------------------------------------------- traces and answers


@dataclass
class Step:
    """What one node of a system did.

    ``calls`` are LLM calls (a replayed one counts, an exact-cache hit is in ``cached`` instead),
    ``embeddings`` are embedding requests. ``seconds`` is the time spent in LLM calls; on a replay
    it is the time measured when the reply was recorded.
    """

    node: str
    calls: int = 0
    cached: int = 0
    embeddings: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    verdicts: list[Verdict[Any]] = field(default_factory=list)
    note: str = ""


@dataclass
class Trace:
    """Every step of one request in order, and why it stopped."""

    question: str
    system: str
    model: str = ""
    steps: list[Step] = field(default_factory=list)
    stop_reason: str = ""
    cost: float | None = 0.0  # US dollars; None = at least one call has no known price

    def _sum(self, name: str) -> Any:
        return sum(getattr(step, name) for step in self.steps)

    @property
    def calls(self) -> int:
        """LLM calls; exact-cache hits and embedding requests are counted apart."""
        return int(self._sum("calls"))

    @property
    def embeddings(self) -> int:
        return int(self._sum("embeddings"))

    @property
    def tokens(self) -> int:
        return int(self._sum("prompt_tokens") + self._sum("completion_tokens"))

    @property
    def seconds(self) -> float:
        return float(self._sum("seconds"))

    @property
    def nodes(self) -> list[str]:
        return [step.node for step in self.steps]


class Status(StrEnum):
    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


class Reason(StrEnum):
    """Why a system refused. An answered question has no reason."""

    NO_RELEVANT_PASSAGE = "no_relevant_passage"
    NOT_SUPPORTED = "not_supported"
    NOT_USEFUL = "not_useful"
    BUDGET_EXHAUSTED = "budget_exhausted"
    GRADER_FAILED = "grader_failed"
    SYSTEM_FAILED = "system_failed"  # it stopped with an error; only a comparison turns that into an answer


class Provenance(StrEnum):
    PASSAGES = "passages"
    MODEL_MEMORY = "model_memory"
    NOTHING = "nothing"  # a refusal rests on neither


@dataclass(frozen=True)
class Answer:
    """What a system returns. A refusal's text is a fixed sentence, never part of a rejected draft.

    ``citations`` are chunk ids out of ``contexts``: only passages of this request can be cited.
    ``attributed`` says that the writer cited nothing and our code found them by shared words.
    ``found`` stands beside a refusal: what the passages do support (with ``citations``), although it was
    judged not to resolve the question.
    """

    question: str
    text: str
    status: Status
    provenance: Provenance
    trace: Trace
    reason: Reason | None = None
    citations: tuple[str, ...] = ()
    contexts: tuple[Hit, ...] = ()
    retrieval_query: str = ""
    attributed: bool = False
    found: str = ""

    def __post_init__(self) -> None:
        shown = {hit.chunk_id for hit in self.contexts}
        if stray := [c for c in self.citations if c not in shown]:
            raise ValueError(f"citation of a passage this request never showed: {stray[0]}")
        if (self.reason is None) != (self.status is Status.ANSWERED):
            raise ValueError("a refused or failed answer carries a reason, an answered one does not")
        if self.found and self.status is not Status.REFUSED:
            raise ValueError("only a refusal says what it found instead")

    @property
    def uncited(self) -> tuple[str, ...]:
        """Chunk ids of passages the answer was written from but does not cite: what it may lack."""
        if self.status is not Status.ANSWERED:
            return ()
        return tuple(hit.chunk_id for hit in self.contexts if hit.chunk_id not in self.citations)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, as printed by ``cookbook ask --json``."""
        trace = self.trace
        return {
            "question": self.question,
            "answer": self.text,
            "status": self.status.value,
            "reason": self.reason.value if self.reason else None,
            "provenance": self.provenance.value,
            "found": self.found,
            "citations": list(self.citations),
            "attributed": self.attributed,
            "uncited": list(self.uncited),
            "contexts": [
                {"chunk_id": h.chunk_id, "text": h.text, "score": h.score, "kind": h.kind.value}
                for h in self.contexts
            ],
            "retrieval_query": self.retrieval_query,
            "system": trace.system,
            "model": trace.model,
            "calls": trace.calls,
            "embeddings": trace.embeddings,
            "tokens": trace.tokens,
            "seconds": round(trace.seconds, 3),
            "cost": trace.cost,
            "stop_reason": trace.stop_reason,
            "trace": [asdict(step) for step in trace.steps],
        }


Messages = Sequence[Mapping[str, str]]
"""Chat messages as litellm takes them: ``[{"role": "user", "content": "..."}, ...]``."""
