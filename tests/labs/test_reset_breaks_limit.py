"""What the check of reset_breaks_limit says of limits that fit today's caps, yesterday's graph, or nothing."""

import pytest

from cookbook.labs.reset_breaks_limit import check, longest, recursion_limit
from cookbook.published.revise import Caps

BROKEN = "constant"

WRONG = {
    "the number of today's caps": (lambda caps: 37, "constant"),
    "as long as the path": (lambda caps: recursion_limit(caps) - 1, "one_short"),
    "the formula of the graph as it was": (
        lambda caps: 2 + 5 * (caps.rewrites + 1) + 2 * caps.revisions + caps.rewrites,
        "revisions_counted_once",
    ),
    "the rewrites forgotten": (lambda caps: 2 + (caps.rewrites + 1) * (5 + 2 * caps.revisions), "too_low"),
    "so wide that it never disturbs": (lambda caps: 10_007, "no_fuse"),
    "a number of some sort": (lambda caps: recursion_limit(caps) * 1.0, "no_number"),
}


def test_the_symptom():
    before = longest(Caps(), limit=25, reset=False)
    assert (before.calls, before.supersteps, before.ended) == (33, 24, True)
    after = longest(Caps(), limit=25)
    assert (after.calls, after.supersteps, after.ended) == (31, 25, False)
    whole = longest(Caps())
    assert (whole.calls, whole.supersteps, whole.ended) == (45, 36, True)


@pytest.mark.parametrize("caps", [Caps(), Caps(0, 0), Caps(3, 1)])
def test_the_smallest_limit_is_one_more_than_the_path(caps):
    limit = recursion_limit(caps)
    assert longest(caps, limit=limit).ended
    assert not longest(caps, limit=limit - 1).ended
    assert longest(caps, limit=limit).supersteps == limit - 1


def test_the_message_says_what_was_paid_for_an_error():
    assert check(lambda caps: 25).message.startswith(
        "2 rewrites and 3 revisions: the longest request takes 36 supersteps; under your limit of 25 it was stopped after 25, with an "
        "error in place of an answer and 31 of 45 calls paid. You return the same number"
    )


def test_limits_that_langgraph_would_not_take():
    assert check(lambda caps: 0).diagnosis == "constant"
    assert check(lambda caps: -caps.rewrites).diagnosis == "too_low"
