"""What the check of confounded_comparison says of ladders that skip a rung, or lean on nothing."""

from dataclasses import replace

import pytest

from cookbook.eval.statistics import difference
from cookbook.labs.confounded_comparison import (
    BASELINE,
    FIELDS,
    LOOP,
    broken,
    check,
    right_answers,
    solution,
    table,
)

BROKEN = "many_at_once"


def each_from_the_baseline(baseline, loop):
    changed = [name for name in FIELDS if getattr(baseline, name) != getattr(loop, name)]
    return [baseline, *(replace(baseline, **{name: getattr(loop, name)}) for name in changed)]


def the_system_first(baseline, loop):
    steps = [baseline]
    for name in ("system", *FIELDS[:-1]):
        if getattr(baseline, name) != getattr(loop, name):
            steps.append(replace(steps[-1], **{name: getattr(loop, name)}))
    return steps


def the_fair_baseline_only(baseline, loop):
    return [replace(loop, system=baseline.system), loop] if loop.system != baseline.system else [loop]


def parts_in_one_step(baseline, loop):
    fair = replace(loop, system=baseline.system)
    return list(dict.fromkeys([baseline, fair, loop]))


def a_step_for_each_field(baseline, loop):
    steps = [baseline]
    for name in FIELDS:
        steps.append(replace(steps[-1], **{name: getattr(loop, name)}))
    return steps


def without_the_system(baseline, loop):
    return [step for step in solution()(baseline, loop) if step.system == baseline.system]


def there_and_back(baseline, loop):
    steps = solution()(baseline, loop)
    return [*steps[:1], replace(steps[0], k=99), *steps] if len(steps) > 1 else steps


WRONG = {
    "change each from the baseline": (each_from_the_baseline, "star"),
    "the system first": (the_system_first, "system_not_last"),
    "only the fair baseline": (the_fair_baseline_only, "no_start"),
    "all parts, then the system": (parts_in_one_step, "many_at_once"),
    "a step for each field": (a_step_for_each_field, "empty_step"),
    "stop before the loop": (without_the_system, "no_end"),
    "there and back": (there_and_back, "detour"),
}


def test_the_symptom():
    rows = table(broken()(BASELINE, LOOP))
    assert [(row["right"], row["of"], row["share"]) for row in rows] == [(33, 70, "47%"), (61, 70, "87%")]


def test_what_each_step_brings():
    rows = table(solution()(BASELINE, LOOP))
    assert [row["right"] for row in rows] == [33, 50, 50, 58, 61]
    assert [row["gained"] for row in rows] == ["", "+17", "+0", "+8", "+3"]


def test_the_other_order_is_another_number():
    rows = table(the_system_first(BASELINE, LOOP))
    assert [row["gained"] for row in rows] == ["", "+1", "+20", "+7", "+0"]


def test_the_loops_own_share_may_be_chance():
    gap = difference(right_answers(LOOP), right_answers(replace(LOOP, system="vanilla")), rates=True)
    assert gap.percent == "+4 points [-1, +11], no difference seen"


@pytest.mark.parametrize("order", [("k", "model", "chunker", "system"), ("model", "chunker", "k", "system")])
def test_the_order_of_the_parts_is_free(order):
    def ladder(baseline, loop):
        steps = [baseline]
        for name in order:
            if getattr(baseline, name) != getattr(loop, name):
                steps.append(replace(steps[-1], **{name: getattr(loop, name)}))
        return steps

    assert check(ladder).passed


def test_the_message_says_what_changed_at_once():
    assert (
        "4 things change at once (system, chunker, k, model), and +28 right answers of 70"
        in check(broken()).message
    )
