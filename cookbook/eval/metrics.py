"""The figures of a comparison, one line each: what is asked of a row, and how rows become a figure.

Behaviour comes first. A metric gives a number for a row, or None where its question does not arise, as
"was the answer right?" does not for a refusal; ``n`` beside a figure says how many rows it rests on. A row
that failed is not left out: it did not do the right thing, and its calls were paid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from cookbook.errors import ConfigError
from cookbook.eval import matching, statistics
from cookbook.eval.behaviour import Pair, behaved_right
from cookbook.eval.evidence import citation_precision, citation_recall, context_recall
from cookbook.eval.sets import Behaviour, EvalRow, Kind
from cookbook.eval.statistics import Difference, Estimate
from cookbook.schema import Answer, Decision, Relevance, Status

Value = float | None
Class = TypeVar("Class", Behaviour, Kind)
CLASSES: tuple[Behaviour, Behaviour] = ("answer", "refuse")
"""The two classes of rows that a balanced metric weighs alike."""


@dataclass(frozen=True)
class Metric:
    """One figure. ``of`` gives a row's number; ``kind`` says how rows make a figure.

    ``rate``: the share of rows with 1. ``balanced``: the mean of that share over CLASSES, each with one
    half, however many rows it has. ``share``: the mean of numbers in [0, 1]. ``mean``: the mean.
    """

    name: str
    of: Callable[[EvalRow, Answer], Value]
    kind: Literal["rate", "balanced", "share", "mean"]
    note: str

    def values(self, pairs: Iterable[Pair]) -> dict[str, tuple[Behaviour, float]]:
        """By row id, the row's class and its number; rows without an answer or a number are left out."""
        found = ((row, self.of(row, answer)) for row, answer in pairs if answer is not None)
        return {row.id: (row.behaviour, float(value)) for row, value in found if value is not None}

    def estimate(self, pairs: Iterable[Pair]) -> Estimate | None:
        """The figure with its interval; None when no row has a number (for a balanced one: when a class has none)."""
        values = self.values(pairs)
        if self.kind == "balanced":
            one, other = ([v for name, v in values.values() if name == wanted] for wanted in CLASSES)
            return statistics.balanced(_rate(one), _rate(other)) if one and other else None
        numbers = [value for _, value in values.values()]
        if not numbers:
            return None
        return {"rate": _rate, "share": statistics.share}.get(self.kind, statistics.mean)(numbers)

    def written(self, estimate: Estimate | None) -> str:
        """A figure or a difference for a table: rates in percent, other numbers as they are, "-" for none."""
        if estimate is None:
            return "-"
        return str(estimate) if self.kind in ("mean", "share") else estimate.percent

    def difference(self, first: Iterable[Pair], second: Iterable[Pair]) -> Difference | None:
        """How much more the first has, on the rows for which both have a number; None when there is none."""
        a, b = self.values(first), self.values(second)
        shared = [row for row in a if row in b]
        if not shared:
            return None
        return statistics.difference(
            [a[row][1] for row in shared],
            [b[row][1] for row in shared],
            classes=[a[row][0] for row in shared] if self.kind == "balanced" else None,
            rates=self.kind not in ("mean", "share"),
        )


def _rate(values: Sequence[float]) -> Estimate:
    return statistics.rate(int(sum(values)), len(values))


def _if(
    asked: Callable[[EvalRow, Answer], bool], measure: Callable[[EvalRow, Answer], Value]
) -> Callable[[EvalRow, Answer], Value]:
    return lambda row, answer: measure(row, answer) if asked(row, answer) else None


def _answerable(row: EvalRow, answer: Answer) -> bool:
    return row.behaviour == "answer"


def _given(row: EvalRow, answer: Answer) -> bool:
    """An answerable row that was not refused. One on which the system broke counts, as wrong: it must not look
    better for that."""
    return row.behaviour == "answer" and answer.status is not Status.REFUSED


def _said(answer: Answer) -> str:
    """What it answered; nothing, where it broke and says so."""
    return answer.text if answer.status is Status.ANSWERED else ""


def _ended(status: Status) -> Callable[[EvalRow, Answer], Value]:
    return lambda row, answer: float(answer.status is status)


def _seconds(row: EvalRow, answer: Answer) -> Value:
    """None where calls were made and nobody took their time: unknown is not 0."""
    return answer.trace.seconds if answer.trace.seconds or not answer.trace.calls else None


NOT_REFUSED = "of the answerable rows it did not refuse"
HEADLINE = Metric(
    "right behaviour",
    behaved_right,
    "balanced",
    "right answers among answerable rows and refusals among the others, each with one half",
)
METRICS = (
    HEADLINE,
    Metric("answered right", _if(_answerable, behaved_right), "rate", "of all answerable rows"),
    Metric("refused wrongly", _if(_answerable, _ended(Status.REFUSED)), "rate", "of all answerable rows"),
    Metric(
        "refused rightly",
        _if(lambda row, _: row.behaviour == "refuse", _ended(Status.REFUSED)),
        "rate",
        "of all rows that have no answer",
    ),
    Metric(
        "answered directly",
        _if(lambda row, _: row.behaviour == "direct", _ended(Status.ANSWERED)),
        "rate",
        "of all rows that need no passage",
    ),
    Metric("failed", _ended(Status.FAILED), "rate", "of all rows, a grader or the system broke"),
    Metric("right, if it answers", _if(_given, behaved_right), "rate", NOT_REFUSED),
    Metric(
        "exact match",
        _if(_given, lambda row, answer: float(matching.exact(_said(answer), matching.golds(row)))),
        "rate",
        NOT_REFUSED,
    ),
    Metric(
        "token F1",
        _if(_given, lambda row, answer: matching.f1(_said(answer), matching.golds(row))),
        "share",
        NOT_REFUSED,
    ),
    Metric("context recall", context_recall, "share", "of the gold quotes, in the passages it was shown"),
    Metric(
        "citation precision", citation_precision, "share", "of the cited passages, those with a gold quote"
    ),
    Metric("citation recall", citation_recall, "share", "of the gold quotes, in the passages it cites"),
    Metric("calls", lambda row, answer: answer.trace.calls, "mean", "LLM calls a question"),
    Metric("tokens", lambda row, answer: answer.trace.tokens, "mean", "prompt and reply, a question"),
    Metric(
        "seconds",
        _seconds,
        "mean",
        "in LLM calls, of a replay by one clock for all, - where nobody took them",
    ),
)
BY_NAME = {metric.name: metric for metric in METRICS}


# ---------------------------------------------------------------- besides means


def price(pairs: Iterable[Pair]) -> float | None:
    """US dollars a question. None when the price of a call is unknown, which is not the same as 0."""
    costs = [answer.trace.cost for _, answer in pairs if answer is not None]
    known = [cost for cost in costs if cost is not None]
    return sum(known) / len(known) if known and len(known) == len(costs) else None


def retrieval_rates(pairs: Iterable[Pair]) -> dict[Behaviour, Estimate]:
    """How often it looked anything up, for each class of rows that occurs."""
    return _rates(
        pairs, lambda row: row.behaviour, lambda row, answer: retrieved(answer) if _ran(answer) else None
    )


def same_for_all(rates: Mapping[Behaviour, Estimate]) -> float | None:
    """1.0 where everything was looked up, 0.0 where nothing was, though some rows need a passage and some do not:
    no decision is to be seen. None for any other rates."""
    seen = {rate.value for rate in rates.values()}
    both = "direct" in rates and len(rates) > 1
    return seen.pop() if both and seen in ({0.0}, {1.0}) else None


def by_kind(pairs: Iterable[Pair]) -> dict[Kind, Estimate]:
    """How often it behaved right on each kind of question; rows that need no passage are left out."""
    return _rates(pairs, lambda row: row.kind, behaved_right)


def _ran(answer: Answer) -> bool:
    """Whether the trace tells what was done: of a system that broke it does not."""
    return answer.trace.nodes != ["broke"]


def retrieved(answer: Answer) -> bool:
    """Whether the request searched: a node ran whose name begins with "retrieve"."""
    return any(node.startswith("retrieve") for node in answer.trace.nodes)


def _rates(
    pairs: Iterable[Pair], name: Callable[[EvalRow], Class], asked: Callable[[EvalRow, Answer], Value]
) -> dict[Class, Estimate]:
    values: dict[Class, list[float]] = {}
    for row, answer in pairs:
        if answer is not None and (value := asked(row, answer)) is not None:
            values.setdefault(name(row), []).append(float(value))
    return {each: _rate(found) for each, found in values.items()}


def keep_rate(pairs: Iterable[Pair]) -> Estimate | None:
    """The share of graded passages that were kept; None for a system that grades none. Failed grades count.
    The interval draws questions: the passages of one are graded in one breath."""
    labels = [
        [v.label for step in answer.trace.steps for v in step.verdicts if v.decision is Decision.RELEVANCE]
        for _, answer in pairs
        if answer is not None
    ]
    graded = [len(each) for each in labels]
    kept = [each.count(Relevance.RELEVANT) for each in labels]
    return statistics.ratio(kept, graded) if sum(graded) else None


def require_both(rows: Iterable[EvalRow]) -> None:
    """ConfigError unless there are rows to answer and rows to refuse: with one kind alone a dummy wins."""
    missing = set(CLASSES) - {row.behaviour for row in rows}
    if missing:
        raise ConfigError(
            f"no row of this selection has the behaviour {min(missing)!r}; compare on rows of both kinds, "
            "or a system that does always the same would win"
        )
