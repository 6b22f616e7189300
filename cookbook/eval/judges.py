"""Judging the judges: a grader on labelled pairs, how well it separates them and whether its numbers mean anything.

A judge gives each pair a score in [0, 1], the chance that the passage helps or holds the answer, and a verdict
by a cut. A pair on which it failed has no score. That is no "no", but it is not right either: it counts against
the accuracy, and stays out of the AUC.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from cookbook import prompts
from cookbook.chunkers import fixed_window
from cookbook.errors import GRADER_FAILURES, ConfigError
from cookbook.eval import statistics
from cookbook.eval.outside import Asks, LabelledPair
from cookbook.eval.statistics import Estimate
from cookbook.reflect.claims import claims_of, with_question
from cookbook.reflect.entailment import EntailmentJudge, LLMEntailment
from cookbook.reflect.relevance import KEEP_AT, LLMRelevance, RelevanceGrader, calibrated
from cookbook.reflect.support import LLMSupport, SupportGrader
from cookbook.schema import Chunk, Hit, Relevance, ScoreKind, Support, Verdict

BINS = 5
"""Bins of a reliability curve: sixty rows fill no more."""


@dataclass(frozen=True)
class Judged:
    """A scored pair, without its texts. ``score`` is None where the judge failed."""

    id: str
    group: str
    good: bool
    score: float | None
    seconds: float


@dataclass(frozen=True)
class Judge:
    """A function from a pair to its score (None: failed). ``name`` says which judge, and which model is in it."""

    name: str
    score: Callable[[LabelledPair], float | None]

    def judged(self, pair: LabelledPair) -> Judged:
        started = time.monotonic()
        try:
            score = self.score(pair)
        except GRADER_FAILURES:
            score = None
        return Judged(pair.id, pair.group, pair.good, score, round(time.monotonic() - started, 3))


# ---------------------------------------------------------------- graders as judges


def by_relevance(grader: RelevanceGrader, pair: LabelledPair) -> float | None:
    """P(relevant) of the passage for the question; without a question, for the answer: do the two say alike?"""
    [verdict] = grader.grade(pair.answer or pair.question, [_hit(pair)])
    return _score(verdict, Relevance.RELEVANT)


def by_support(grader: SupportGrader, pair: LabelledPair) -> float | None:
    """P(fully supported) of the answer by the passage, or the expected support from a grader of three levels."""
    return _score(grader.check(pair.question, pair.answer, [_hit(pair)]), Support.FULLY)


def by_entailment(judge: EntailmentJudge, pair: LabelledPair) -> float | None:
    """P(entailed) of the whole answer by the passage."""
    return judge.judge(pair.passage, pair.answer).entail


def by_claims(judge: EntailmentJudge, pair: LabelledPair) -> float | None:
    """P(entailed) of the weakest claim of the answer; one that is no sentence is read behind the question."""
    claims = [with_question(pair.question, claim) for claim in claims_of(pair.answer)]
    return min(judge.judge(pair.passage, claim).entail for claim in claims)


def _hit(pair: LabelledPair) -> Hit:
    return Hit(Chunk(pair.id, pair.id, pair.passage, 0, len(pair.passage)), 0.0, ScoreKind.COSINE)


def _score(verdict: Verdict[Relevance] | Verdict[Support], good: Relevance | Support) -> float | None:
    """The probability of the good label. A verdict has that of its own label, or none from some models.

    Where the labels are a scale, the mean under all of them is the score. Without that mean the other labels share
    what is left: PARTIALLY at 0.6 scores 0.4, which is the most that FULLY can have, and PARTIALLY with no
    probability scores 0.0, as NONE does.
    """
    if verdict.label is None:
        return None
    if verdict.expected is not None:
        return verdict.expected
    sure = 1.0 if verdict.probability is None else verdict.probability
    return sure if verdict.label == good else 1.0 - sure


@dataclass(frozen=True)
class Known:
    """What belongs to a judge of one kind: the score from which its verdict is yes, and the prompt it asks with.

    The cuts were set on our own data; another set shows whether they carry over.
    """

    cut: float
    prompt: str = ""


def _version(prompt: prompts.Prompt) -> str:
    return f"{prompt.name} {prompt.version}"


KNOWN: dict[tuple[str, Asks], Known] = {
    ("cosine", "relevance"): Known(0.5),
    ("cosine", "support"): Known(0.5),
    ("llm", "relevance"): Known(KEEP_AT, _version(prompts.RELEVANCE)),
    ("llm", "support"): Known(0.5, _version(prompts.SUPPORT)),
    ("entailment", "support"): Known(0.5, _version(prompts.ENTAILMENT)),
    ("critic", "relevance"): Known(0.5),
    ("critic", "support"): Known(0.5),
}


def known(name: str, asks: Asks) -> Known:
    """ConfigError, naming those that are known, for a judge that is not."""
    if (name, asks) not in KNOWN:
        names = ", ".join(judge for judge, kind in KNOWN if kind == asks)
        raise ConfigError(f"no judge of {asks} is called {name!r}; known: {names}")
    return KNOWN[name, asks]


def open_judge(name: str, asks: Asks) -> Judge:
    """A judge by name: ``cosine`` (MiniLM, the best window of a long passage), ``critic`` (trained here), ``llm``, or for
    support ``entailment``. The last two ask the model that PROVIDER names. ConfigError for another name."""
    known(name, asks)
    if name == "critic":
        from cookbook.reflect.critic import critic_card, critic_relevance, load_critic

        relevant, critic = critic_relevance(), load_critic()
        called = f"critic-{critic_card()['sha256'][:8]}"
        if asks == "relevance":
            return Judge(called, lambda pair: by_relevance(relevant, pair))
        return Judge(called, lambda pair: by_claims(critic, pair))
    if name == "cosine":
        from cookbook.embedders import MiniLM

        embedder = MiniLM()
        grader = calibrated(embedder)

        def best_window(pair: LabelledPair) -> float | None:
            windows = fixed_window(pair.passage, 254, 64, tokenizer=embedder.tokenizer)
            scores = [by_relevance(grader, replace(pair, passage=window.text)) for window in windows]
            return max((score for score in scores if score is not None), default=None)

        return Judge(f"cosine-{MiniLM.NAME}", best_window)
    from cookbook.providers import LLMClient

    client = LLMClient()
    called = f"{name}-{client.chat_model.rpartition('/')[2]}"
    if name == "entailment":
        judge = LLMEntailment(client)
        return Judge(called, lambda pair: by_entailment(judge, pair))
    if asks == "relevance":
        relevance = LLMRelevance(client)
        return Judge(called, lambda pair: by_relevance(relevance, pair))
    support = LLMSupport(client)
    return Judge(called, lambda pair: by_support(support, pair))


# ---------------------------------------------------------------- how good it is


@dataclass(frozen=True)
class Confusion:
    """Verdicts against labels. ``failed`` pairs have no verdict."""

    good_yes: int
    good_no: int
    bad_yes: int
    bad_no: int
    failed: int


@dataclass(frozen=True)
class Bin:
    """Pairs whose scores lie close together: the mean score, and the share that is really good."""

    score: float
    good: Estimate


@dataclass(frozen=True)
class Report:
    """A judge on a set. ``accuracy`` is balanced: good and bad pairs count one half each, and one who always says
    the same has one half. ``auc`` is over the scored pairs. ``seconds`` is the median of a pair: the first one
    may load the model."""

    pairs: int
    auc: Estimate
    accuracy: Estimate
    confusion: Confusion
    failures: Estimate
    seconds: float
    calibration: tuple[Bin, ...]
    calibration_error: float
    """How far scores are from the share of good pairs, on average over the pairs; 0 is calibrated."""


def report(rows: Sequence[Judged], cut: float) -> Report:
    """Figures of a judge from its scored pairs; ConfigError unless scored pairs of both kinds are there.

    Intervals of the AUC draw groups whole. Calibration is that of these pairs: where good ones are rarer,
    the same scores are too high.
    """
    scored = [(row.score, row) for row in rows if row.score is not None]
    if len({row.good for _, row in scored}) < 2:
        raise ConfigError("score good and bad pairs first, for example with --limit 60")
    yes = {good: sum(score >= cut for score, row in scored if row.good is good) for good in (True, False)}
    of = {good: sum(row.good is good for _, row in scored) for good in (True, False)}
    asked = {good: sum(row.good is good for row in rows) for good in (True, False)}
    bins = calibration([score for score, _ in scored], [row.good for _, row in scored])
    return Report(
        pairs=len(rows),
        auc=statistics.auc(
            [score for score, _ in scored],
            [row.good for _, row in scored],
            groups=[row.group for _, row in scored],
        ),
        accuracy=statistics.balanced(
            statistics.rate(yes[True], asked[True]), statistics.rate(of[False] - yes[False], asked[False])
        ),
        confusion=Confusion(
            yes[True], of[True] - yes[True], yes[False], of[False] - yes[False], len(rows) - len(scored)
        ),
        failures=statistics.rate(len(rows) - len(scored), len(rows)),
        seconds=median(row.seconds for row in rows),
        calibration=bins,
        calibration_error=sum(abs(b.score - b.good.value) * b.good.n for b in bins) / len(scored),
    )


def halves(rows: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    """The half that thresholds are fitted on and the half they are reported on. The hash of a pair's group decides,
    so the split is fixed, and pairs of one question stay together."""
    fit = [row for row in rows if int(row.group, 16) % 2 == 0]
    return fit, [row for row in rows if int(row.group, 16) % 2]


def best_cut(rows: Sequence[Judged]) -> float:
    """The cut with the highest balanced accuracy on these pairs; of several that are equal, the middle one.

    Candidates lie half-way between neighbouring scores. ConfigError without two scores, or with one kind alone.
    """
    good, bad = (
        [row.score for row in rows if row.good is kind and row.score is not None] for kind in (True, False)
    )
    cuts = [(low + high) / 2 for low, high in pairwise(sorted({*good, *bad}))]
    if not (good and bad and cuts):
        raise ConfigError("a cut is fitted on pairs of both kinds with different scores; score more pairs")

    def reached(cut: float) -> float:
        return sum(s >= cut for s in good) / len(good) + sum(s < cut for s in bad) / len(bad)

    best = max(map(reached, cuts))
    equal = [cut for cut in cuts if reached(cut) == best]
    return equal[len(equal) // 2]


def calibration(scores: Sequence[float], good: Sequence[bool], bins: int = BINS) -> tuple[Bin, ...]:
    """The pairs in bins of equal size by score, lowest first; equal scores are never torn apart."""
    ranked = sorted(zip(scores, good, strict=True))
    found: list[list[tuple[float, bool]]] = []
    for n, pair in enumerate(ranked):
        full = n >= len(ranked) * len(found) / bins
        if not found or (full and pair[0] > found[-1][-1][0]):
            found.append([])
        found[-1].append(pair)
    return tuple(
        Bin(sum(score for score, _ in each) / len(each), statistics.rate(sum(g for _, g in each), len(each)))
        for each in found
    )
