"""What the check of score_polarity says of conversions that are right for one store, or only for the order."""

import math

from cookbook.errors import ConfigError
from cookbook.labs.score_polarity import COSINES, STORES, ask, broken, check, solution

BROKEN = "worst_first"


def flip_what_sounds_like_a_distance(score, metric):
    return score if metric == "cosine" else 1 - score


def one_over_one_plus(score, metric):
    return score if metric == "cosine" else 1 / (1 + score) if metric != "negative_inner_product" else -score


def absolute(score, metric):
    found = {"cosine": score, "cosine_distance": 1 - score, "squared_l2": 1 - score / 2}
    return found.get(metric, abs(score))


def clipped(score, metric):
    return max(0.0, solution()(score, metric))


def as_if_not_squared(score, metric):
    return 1 - score**2 / 2 if metric == "squared_l2" else solution()(score, metric)


def with_a_default(score, metric):
    found = {"cosine": score, "cosine_distance": 1 - score, "squared_l2": 1 - score / 2}
    return found.get(metric, -score)


def refused_without_a_name(score, metric):
    if metric not in STORES:
        raise ConfigError("unknown metric")
    return solution()(score, metric)


WRONG = {
    "1 / (1 + distance)": (one_over_one_plus, "order_without_scale"),
    "the absolute value": (absolute, "sign_lost"),
    "whatever is left is an inner product": (with_a_default, "guesses"),
    "an error that does not say which": (refused_without_a_name, "metric_not_named"),
}


def kept(rows):
    return [row["passage"] for row in rows if row["kept"] == "yes"]


def test_the_symptom():
    rows, meter = ask(broken(), "cosine_distance")
    assert kept(rows) == ["workspaces.md#2", "billing.md#3", "api.md#2"]
    assert meter.calls == 1
    for metric in STORES:
        assert kept(ask(solution(), metric)[0]) == ["cancellation.md#1", "data-export.md#2"]


def test_the_message_gives_score_and_cosine():
    assert check(broken()).message == (
        "cosine_distance: the score 0.18 became 0.180, and the cosine is 0.82. With the cut-off 0.5 you keep workspaces.md#2, "
        "billing.md#3, api.md#2; it should be cancellation.md#1, data-export.md#2. For this store a small number means similar, "
        "and yours is small where the store's is"
    )


def test_one_formula_for_all_distances_is_found_on_the_squared_one():
    verdict = check(flip_what_sounds_like_a_distance)
    assert verdict.diagnosis == "order_without_scale"
    assert verdict.message.startswith("squared_l2: the score 0.36 became 0.640, and the cosine is 0.82.")


def test_other_wrong_scales():
    assert check(clipped).diagnosis == "order_without_scale"
    assert check(as_if_not_squared).diagnosis == "order_without_scale"


def test_the_stores_give_what_their_formulas_say():
    for cosine in (*COSINES.values(), -1.0, 1.0):
        angle = math.acos(cosine)
        a, b = (1.0, 0.0), (math.cos(angle), math.sin(angle))
        assert math.isclose(STORES["squared_l2"](cosine), math.dist(a, b) ** 2, abs_tol=1e-12)
