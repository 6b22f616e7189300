"""What the check of partial_equals_none says of orders that are not the judge's."""

from cookbook.labs.partial_equals_none import ANSWERS, ask_three_passages, broken, check, solution
from cookbook.schema import Status, Support

BROKEN = "none_beats_partially"


def add_them_up(candidates):
    return max(candidates, key=lambda found: 3 * found.support.rank + found.utility, default=None)


def by_the_letters(candidates):
    found = max(candidates, key=lambda found: (found.support, found.utility), default=None)
    return found if found and found.support is not Support.NONE else None


def in_order_and_no_more(candidates):
    return max(candidates, key=lambda found: (found.support.rank, found.utility), default=None)


def fully_or_nothing(candidates):
    fully = [found for found in candidates if found.support is Support.FULLY]
    return max(fully, key=lambda found: found.utility, default=None)


def utility_first(candidates):
    supported = [found for found in candidates if found.support is not Support.NONE]
    return max(supported, key=lambda found: (found.utility, found.support.rank), default=None)


def support_alone(candidates):
    supported = [found for found in candidates if found.support is not Support.NONE]
    return max(supported, key=lambda found: found.support.rank, default=None)


def sorted_the_other_way(candidates):
    supported = [found for found in candidates if found.support is not Support.NONE]
    ordered = sorted(supported, key=lambda found: (found.support.rank, found.utility))
    return ordered[-1] if ordered else None


def without_a_default(candidates):
    if candidates and all(found.support is Support.NONE for found in candidates):
        return None
    return max(candidates, key=lambda found: (found.support.rank, found.utility))


WRONG = {
    "add support and utility up": (add_them_up, "style_buys_support"),
    "compare the words": (by_the_letters, "partially_beats_fully"),
    "the right order, and the best whatever it is": (in_order_and_no_more, "unsupported_returned"),
    "fully supported or nothing": (fully_or_nothing, "support_refused"),
    "support alone": (support_alone, "utility_ignored"),
    "the last of the sorted": (sorted_the_other_way, "tie_goes_to_the_last"),
    "max without a default": (without_a_default, "nothing_to_pick"),
    "return the text": (lambda candidates: candidates[0].text, "no_candidate"),
}


def test_the_symptom():
    done = ask_three_passages()
    assert done.calls == 1 + 5 + 3 * 3
    assert (done.state["draft"], done.state["status"]) == (ANSWERS[1], Status.ANSWERED)
    assert [(found.support, found.utility) for found in done.state["candidates"]] == [
        (Support.PARTIALLY, 3),
        (Support.NONE, 5),
        (Support.NONE, 2),
    ]
    assert solution()(done.state["candidates"]).text == ANSWERS[0]


def test_the_message_shows_the_two():
    assert check(broken()).message == (
        "of answer 1 (partially, 3) and answer 2 (none, 5) and answer 3 (none, 2) you returned answer 2 (none, 5), and it should be "
        "answer 1 (partially, 3). The judge found some support for one answer and none for the other, and the key sees no difference."
    )


def test_utility_before_support_is_the_published_fault_again():
    assert check(utility_first).diagnosis == "partially_beats_fully"
