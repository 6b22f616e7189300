"""What the check of retrieval_frequency says of shares of something else."""

import pytest

from cookbook.labs.retrieval_frequency import broken, check, evaluate, frequency, solution
from cookbook.reflect.tokens.faults import retrieval_frequency as published

BROKEN = "keys_counted"


def of_the_golds(retrieved, results):
    return sum(retrieved) / len(results["golds"])


def of_the_predictions(retrieved, results):
    return sum(retrieved) / len(results["preds"])


def at_most_one(retrieved, results):
    return min(1.0, sum(retrieved) / len(results))


def in_percent(retrieved, results):
    return 100 * sum(retrieved) / len(retrieved)


def never_is_nothing(retrieved, results):
    return sum(retrieved) / max(1, len(retrieved))


def of_those_searched(retrieved, results):
    return sum(retrieved) / max(1, sum(retrieved))


def count_alone(retrieved, results):
    return retrieved.count(True) == len(retrieved)


WRONG = {
    "of the golds": (of_the_golds, "empty_list_counted"),
    "of the predictions": (of_the_predictions, "predictions_counted"),
    "at most one": (at_most_one, "clamped"),
    "in percent": (in_percent, "in_percent"),
    "nothing is never": (never_is_nothing, "no_questions"),
    "of those that were searched for": (of_those_searched, "wrong_share"),
    "all or not all": (count_alone, "no_number"),
}


def test_the_symptom():
    run = evaluate(40, 6)
    assert broken()(run.retrieved, run.results) == 0.75
    assert (run.searches, run.meter.calls) == (6, 80)
    assert solution()(run.retrieved, run.results) == 0.15


def test_eight_questions_do_not_show_it():
    run = evaluate(8, 3)
    assert broken()(run.retrieved, run.results) == solution()(run.retrieved, run.results) == 0.375


@pytest.mark.parametrize(("questions", "searched"), [(8, 3), (40, 6), (40, 40)])
def test_it_is_the_published_line(questions, searched):
    run = evaluate(questions, searched)
    assert broken()(run.retrieved, run.results) == published(run.retrieved)


def test_a_share_is_a_share():
    for questions in range(1, 12):
        for searched in range(questions + 1):
            run = evaluate(questions, searched)
            assert frequency(run.retrieved, run.results) == searched / questions


def test_the_message_counts():
    assert check(broken()).message.startswith(
        "12 of 40 questions searched for: you return 1.500, right is 0.300. 12 is divided by 8, and `results` has 8 *keys*"
    )
