"""What the check of raw_scores_as_probabilities says of calibrations that know one model, or no label."""

import math

import pytest

from cookbook.labs.raw_scores_as_probabilities import MODELS, answer_all, broken, check, solution
from cookbook.reflect.calibrate import fit_sigmoid
from cookbook.schema import ScoreKind

BROKEN = "keeps_everything"


def sigmoid(tau, temperature):
    return lambda score: 1 / (1 + math.exp(-(score - tau) / temperature))


def plain_sigmoid(scores, relevant):
    return sigmoid(0, 1)


def fitted_on_the_new_one(scores, relevant):
    return sigmoid(0.83, 0.02) if max(scores) <= 1 else sigmoid(-3, 2)


def stretched(scores, relevant):
    low, high = min(scores), max(scores)
    return lambda score: (score - low) / (high - low)


def rank_among_the_labelled(scores, relevant):
    return lambda score: sum(score >= other for other in scores) / len(scores)


def standardised(scores, relevant):
    tau = halfway(scores, relevant)
    spread = max(scores) - min(scores)
    return lambda score: 0.5 + 2 * (score - tau) / spread


def halfway(scores, relevant):
    good = [score for score, label in zip(scores, relevant, strict=True) if label]
    bad = [score for score, label in zip(scores, relevant, strict=True) if not label]
    return (sum(good) / len(good) + sum(bad) / len(bad)) / 2


def a_step(scores, relevant):
    tau = halfway(scores, relevant)
    return lambda score: 1.0 if score >= tau else 0.0


def wrong_sign(scores, relevant):
    tau = halfway(scores, relevant)
    return lambda score: 1 / (1 + math.exp((score - tau) / (max(scores) - min(scores))))


WRONG = {
    "a sigmoid that is not fitted": (plain_sigmoid, "keeps_everything"),
    "fitted on the new embedder": (fitted_on_the_new_one, "keeps_nothing"),
    "stretched between smallest and largest": (stretched, "middle_misplaced"),
    "the rank among the labelled": (rank_among_the_labelled, "labels_ignored"),
    "the distance from the middle": (standardised, "no_probability"),
    "a step in the middle": (a_step, "a_step"),
    "the exponent's sign": (wrong_sign, "upside_down"),
    "the cut-off itself": (halfway, "no_function"),
}


def test_the_symptom():
    rows, meter = answer_all(broken())
    assert [row["kept"] for row in rows] == [2, 0, 5, 5, 0, 0]
    assert meter.calls == 3
    rows, meter = answer_all(solution())
    assert [row["kept"] for row in rows] == [2, 0] * 3
    assert meter.calls == 3


def test_the_message_shows_scores_and_what_became_of_them():
    assert check(broken()).message == (
        "new embedder, question answerable: you keep 5 of 5, and 2 are relevant. The scores 0.89, 0.87, 0.8, 0.79, 0.77 became "
        "0.89, 0.87, 0.80, 0.79, 0.77. Even the lowest labelled score, 0.74, becomes 0.74: the cut-off lies below all scores of "
        "this model"
    )


def test_maximum_likelihood_passes_too():
    def fitted(scores, relevant):
        found = fit_sigmoid(scores, relevant, ScoreKind.COSINE)
        return sigmoid(found.tau, found.temperature)

    check(fitted).require()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_labels_overlap_by_one_pair(model):
    assert model.relevant[-1] < model.irrelevant[0] < model.relevant[-2]
