"""What the check of no_rewrite_when_needed says of routers that rewrite too often, too seldom, or at the wrong time."""

import pytest

from cookbook.labs.no_rewrite_when_needed import FOUND, LIMIT, ask, broken, check, solution
from cookbook.published.revise import Caps
from cookbook.schema import Relevance, Status

BROKEN = "never_rewritten"


def without_a_cap(state, caps):
    return "generate" if state["kept"] else "rewrite"


def once(state, caps):
    if state["kept"]:
        return "generate"
    return "rewrite" if state["rewrites"] == 0 else "no_answer"


def two_whatever_the_budget(state, caps):
    if state["kept"]:
        return "generate"
    return "rewrite" if state["rewrites"] < 2 else "no_answer"


def one_too_many(state, caps):
    if state["kept"]:
        return "generate"
    return "rewrite" if state["rewrites"] <= caps.rewrites else "no_answer"


def write_at_the_cap(state, caps):
    return "rewrite" if not state["kept"] and state["rewrites"] < caps.rewrites else "generate"


def rewrite_while_it_is_thin(state, caps):
    if len(state["kept"]) > 1 or (state["kept"] and state["rewrites"] > 0):
        return "generate"
    return "rewrite" if state["rewrites"] < caps.rewrites else "no_answer"


def another_name(state, caps):
    return "generate" if state["kept"] else "refuse"


WRONG = {
    "without a cap": (without_a_cap, "no_end"),
    "once": (once, "gives_up_early"),
    "off by one": (one_too_many, "one_too_many"),
    "write something at the cap": (write_at_the_cap, "written_from_nothing"),
    "rewrite until two passages are kept": (rewrite_while_it_is_thin, "found_and_rewritten"),
    "a node of another graph": (another_name, "no_such_edge"),
}


def test_the_symptom():
    done = ask(broken())
    assert (done.calls, done.ran("rewrite"), done.state["draft"]) == (6, 0, "No answer found.")
    assert done.state["status"] is Status.REFUSED


def test_a_rewrite_finds_it():
    done = ask(solution())
    assert (done.calls, done.ran("rewrite"), done.state["draft"]) == (15, 1, FOUND)


@pytest.mark.parametrize(("rewrites", "calls"), [(0, 6), (1, 12), (2, 18), (3, 24)])
def test_what_a_hopeless_question_costs(rewrites, calls):
    done = ask(solution(), Caps(rewrites=rewrites), relevance=Relevance.IRRELEVANT)
    assert (done.calls, done.state["draft"]) == (calls, "No answer found.")
    assert done.supersteps < LIMIT


def test_a_budget_of_its_own_is_seen():
    assert check(two_whatever_the_budget).diagnosis == "one_too_many"
    assert "`caps.rewrites` is 1: rewrite ran 2 times" in check(two_whatever_the_budget).message


def test_a_name_that_is_no_node_is_answered_with_those_that_are():
    assert "may name generate, rewrite, no_answer" in check(another_name).message
