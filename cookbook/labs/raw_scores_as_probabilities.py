"""A raw score compared with a fixed number: after a change of model it keeps everything, or nothing.

The scores are scripted, in the ranges that such models give.
Taught in notebooks/labs/45_scores.ipynb.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges

LAB = Lab(
    module=__name__,
    title="0.5 of what?",
    difficulty=3,
    minutes=25,
    you_will="turn the scores of any model into probabilities with a handful of labels, so that one cut-off survives the next model",
    symptom=(
        "The embedder was replaced by a better one, and the assistant now answers questions that are not in the handbook. "
        "With the reranker that was tried after it, it refuses everything."
    ),
    task=(
        "Write `calibrate(scores, relevant)`. It gets the scores that one model gave to a few labelled pairs, and for each pair "
        "whether it is relevant. It returns a *function* from a score of that model to the probability that a passage "
        "with this score is relevant: 1 / (1 + exp(-(score - tau) / temperature)), where tau and temperature come from the labelled "
        "pairs. The cut-off stays 0.5 for every model."
    ),
    hints=(
        "In the picture, look where the two colours meet in each panel. That place is tau. How wide is the stretch in which they "
        "overlap? The temperature is of that size.",
        "Take the mean score of the relevant pairs and the mean of the others. tau is halfway between the two means; a quarter "
        "of their distance will do for the temperature. Return a `lambda score: ...`, or a function defined inside. (`cookbook.reflect.calibrate."
        "fit_sigmoid` finds both by maximum likelihood, and you may use it.)",
    ),
    in_the_wild=(
        "For the same words the best score was 0.90 with text-embedding-ada-002 and 0.56 with text-embedding-3-small (Stevenic/vectra, issue 53). In "
        "macanderson/stella, issue 2993, a cut-off of 0.25 let 158 of 158 files through: the worst of them had 0.418. "
        "The model card of intfloat/e5-base-v2 says that its cosines lie between 0.7 and 1.0, and that only their order means "
        "anything."
    ),
    transfer=(
        "A colleague has no labels and keeps the best 15 percent of all scores instead. Which of the two failures in this lab does that "
        "mend, and what does it do with a question that the handbook does not answer?"
    ),
    answer=(
        "It survives a change of model, because the order of passages does not care about the scale. But it always keeps 15 percent, so the "
        "question without an answer gets passages as well. A percentile of the scores of *many* questions, taken once as a cut-off, is better: "
        "then a bad question can fall below it. It still has to be taken again for each model."
    ),
    pitfall=(
        "They stretch the scores to 0..1 between the smallest and the largest and call that a probability. One unusual pair then moves the "
        "cut-off. Ask what the number 0.5 is supposed to say, and which of their inputs knows it: only the labels do."
    ),
)  # fmt: skip

Probability = Callable[[float], float]
Calibrate = Callable[[Sequence[float], Sequence[bool]], Probability]

CUT = 0.5
QUESTIONS = {
    "answerable": "How long can I export my data after I cancel my plan?",
    "not in the handbook": "How much does the Starter plan cost per month?",
}


@dataclass(frozen=True)
class Scored:
    """What one model gave: to labelled pairs, and to the five passages found for each of ``QUESTIONS``.

    Of ``answerable`` the first two are relevant, of ``unanswerable`` none.
    """

    name: str
    relevant: tuple[float, ...]
    irrelevant: tuple[float, ...]
    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]

    @property
    def scores(self) -> list[float]:
        return [*self.relevant, *self.irrelevant]

    @property
    def labels(self) -> list[bool]:
        return [True] * len(self.relevant) + [False] * len(self.irrelevant)

    @property
    def found(self) -> dict[str, tuple[float, ...]]:
        return dict(zip(QUESTIONS, (self.answerable, self.unanswerable), strict=True))


MODELS = (
    Scored(
        "old embedder",
        relevant=(0.71, 0.66, 0.62, 0.58, 0.55, 0.44),
        irrelevant=(0.53, 0.41, 0.38, 0.33, 0.29, 0.27, 0.22, 0.18, 0.15, 0.09),
        answerable=(0.63, 0.57, 0.36, 0.31, 0.24),
        unanswerable=(0.37, 0.30, 0.26, 0.21, 0.12),
    ),
    Scored(
        "new embedder",
        relevant=(0.90, 0.89, 0.88, 0.87, 0.86, 0.83),
        irrelevant=(0.85, 0.82, 0.81, 0.80, 0.79, 0.785, 0.78, 0.77, 0.76, 0.74),
        answerable=(0.89, 0.87, 0.80, 0.79, 0.77),
        unanswerable=(0.80, 0.79, 0.79, 0.78, 0.76),
    ),
    Scored(
        "reranker",
        relevant=(9.4, 4.1, 2.6, 1.0, -0.6, -2.9),
        irrelevant=(-2.2, -5.1, -6.4, -7.3, -8.0, -8.8, -9.5, -10.1, -10.6, -11.0),
        answerable=(-0.4, -1.3, -6.9, -8.2, -9.7),
        unanswerable=(-7.4, -8.1, -9.0, -9.9, -10.8),
    ),
)


# ---------------------------------------------------------------- the code


def as_it_is(scores: Sequence[float], relevant: Sequence[bool]) -> Probability:
    """The cut-off as it is often used: a similarity lies between 0 and 1, so it is taken for a probability."""
    return lambda score: score


def calibrate(scores: Sequence[float], relevant: Sequence[bool]) -> Probability:
    """A function from a score of this model to P(relevant) in [0, 1], which rises with the score.

    One entry of `scores` and of `relevant` for each labelled pair; both labels occur.
    """
    ### BEGIN SOLUTION
    good = fmean(score for score, label in zip(scores, relevant, strict=True) if label)
    bad = fmean(score for score, label in zip(scores, relevant, strict=True) if not label)
    tau, temperature = (good + bad) / 2, (good - bad) / 4
    return lambda score: 1 / (1 + math.exp(-(score - tau) / temperature))
    ### END SOLUTION


def broken() -> Calibrate:
    return as_it_is


def solution() -> Calibrate:
    return calibrate


def answer_all(candidate: Calibrate) -> tuple[list[dict[str, Any]], Meter]:
    """Both questions with each model: how many of five passages pass the cut-off. An answer is written where any do."""
    judges = Judges()
    rows = []
    with metered(Meter()) as meter:
        for model in MODELS:
            probability = candidate(model.scores, model.labels)
            for kind, scores in model.found.items():
                kept = sum(probability(score) >= CUT for score in scores)
                if kept:
                    judges.generate(QUESTIONS[kind], judges.store.retrieve(QUESTIONS[kind], kept))
                rows.append(
                    {
                        "scores of": model.name,
                        "question": kind,
                        "relevant": 2 if kind == "answerable" else 0,
                        "kept": kept,
                        "answer": "written" if kept else "refused",
                    }
                )
    return rows, meter


# ---------------------------------------------------------------- the check


@guard(returns="a function from a score to a probability")
def check(candidate: Calibrate) -> LabVerdict:
    """Calibrates three models, cuts five passages of two questions each at 0.5, then looks at the curve itself."""
    for model in MODELS:
        probability = candidate(model.scores, model.labels)
        if not callable(probability):
            return failed(
                "no_function",
                f"you returned {probability!r}; return a function that takes a score and gives a probability",
            )
        for kind, scores in model.found.items():
            if (verdict := _outcome(model, kind, scores, probability)) is not None:
                return verdict
    for model in MODELS:
        if (verdict := _curve(model, candidate)) is not None:
            return verdict
    return passed(
        f"{len(MODELS)} models with scores from -11 to 9.4, one cut-off of {CUT}: 2 of 5 passages are kept for the question that can be "
        "answered, and none for the other"
    )


def _outcome(
    model: Scored, kind: str, scores: Sequence[float], probability: Probability
) -> LabVerdict | None:
    """What is wrong with the passages kept for one question; None when nothing is."""
    right = [n < 2 and kind == "answerable" for n in range(len(scores))]
    given = [probability(score) for score in scores]
    kept = [p >= CUT for p in given]
    if kept == right:
        return None
    saw = (
        f"{model.name}, question {kind}: you keep {sum(kept)} of {len(kept)}, and {sum(right)} are relevant. "
        f"The scores {', '.join(f'{score:g}' for score in scores)} became {', '.join(f'{p:.2f}' for p in given)}"
    )
    wider = probability(max(model.scores)), probability(min(model.scores))
    if all(kept) and wider[1] >= CUT:
        return failed(
            "keeps_everything",
            f"{saw}. Even the lowest labelled score, {min(model.scores):g}, becomes {wider[1]:.2f}: the cut-off lies below all "
            "scores of this model",
        )
    if not any(kept) and wider[0] < CUT:
        return failed(
            "keeps_nothing",
            f"{saw}. Even the highest labelled score, {max(model.scores):g}, becomes {wider[0]:.2f}: the cut-off lies above all "
            "scores of this model",
        )
    if wider[0] < wider[1]:
        return failed(
            "upside_down", f"{saw}. Your function falls where the score rises; which sign has the exponent?"
        )
    return failed(
        "middle_misplaced",
        f"{saw}. The function passes {CUT} in the wrong place. The relevant pairs have {_listed(model.relevant)}, the others "
        f"{_listed(model.irrelevant)}: where do they meet?",
    )


def _curve(model: Scored, candidate: Calibrate) -> LabVerdict | None:
    """What is wrong with the function itself; None when nothing is."""
    probability = candidate(model.scores, model.labels)
    values = {score: probability(score) for score in sorted({*model.scores, *model.answerable})}
    if outside := [score for score, p in values.items() if not 0 <= p <= 1]:
        return failed(
            "no_probability",
            f"{model.name}: the score {outside[0]:g} became {values[outside[0]]:.2f}; a probability lies between 0 and 1",
        )
    strict = [True, False, True, *[False] * (len(model.scores) - 3)]  # somebody else found only two relevant
    other = candidate(model.scores, strict)
    if all(other(score) == p for score, p in values.items()):
        return failed(
            "labels_ignored",
            f"{model.name}: with two relevant pairs instead of {len(model.relevant)} you give the same numbers, "
            f"{values[model.relevant[-1]]:.2f} for {model.relevant[-1]:g} both times. What is relevant is said by the labels and by nothing else; "
            "that your cut-off fits is luck",
        )
    border = (model.relevant[-1], model.irrelevant[0])  # the one relevant pair below an irrelevant one
    if any(not 0.02 < values[score] < 0.98 for score in border):
        return failed(
            "a_step",
            f"{model.name}: a relevant pair has {border[0]:g} and an irrelevant one {border[1]:g}, and you give them {values[border[0]]:.2f} and "
            f"{values[border[1]]:.2f}. Where the labels overlap nothing is certain: widen the temperature",
        )
    return None


def _listed(scores: Sequence[float]) -> str:
    return f"{min(scores):g} to {max(scores):g}"
