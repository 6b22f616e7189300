"""What the check of outage_as_verdict says of graders that treat a failure as something else."""

from cookbook.errors import GRADER_FAILURES, CookbookError
from cookbook.labs.outage_as_verdict import LIMIT, TIMEOUT, YES, ask_handbook, broken, check, solution
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Reason

BROKEN = "outage_read_as_no"


def keep_what_fails(ask, hits):
    def relevant(hit):
        try:
            return ask(hit)
        except GRADER_FAILURES:
            return True

    kept = [hit for hit in hits if relevant(hit)]
    return kept, None if kept else Reason.NO_RELEVANT_PASSAGE


def give_up_at_the_first(ask, hits):
    try:
        kept = [hit for hit in hits if ask(hit)]
    except GRADER_FAILURES:
        return [], Reason.GRADER_FAILED
    return kept, None if kept else Reason.NO_RELEVANT_PASSAGE


def counted(
    ask,
    hits,
    *,
    caught=GRADER_FAILURES,
    stop=lambda failures, in_a_row: in_a_row == LIMIT,
    down=lambda failures, in_a_row: failures > 0,
):
    """The solution, with the decisions that it leaves open as parameters."""
    kept, failures, in_a_row = [], 0, 0
    for hit in hits:
        if stop(failures, in_a_row):
            break
        try:
            relevant = ask(hit)
        except caught:
            failures, in_a_row = failures + 1, in_a_row + 1
            continue
        in_a_row = 0
        kept += [hit] if relevant else []
    failed = Reason.GRADER_FAILED if down(failures, in_a_row) else Reason.NO_RELEVANT_PASSAGE
    return kept, None if kept else failed


def ask_all_of_them(ask, hits):
    return counted(ask, hits, stop=lambda failures, in_a_row: False)


def three_failures_in_all(ask, hits):
    return counted(ask, hits, stop=lambda failures, in_a_row: failures == LIMIT)


def only_an_outage_is_a_failure(ask, hits):
    return counted(ask, hits, down=lambda failures, in_a_row: in_a_row == LIMIT)


def catch_everything(ask, hits):
    return counted(ask, hits, caught=CookbookError)


def the_wrong_way_round(ask, hits):
    return counted(lambda hit: not ask(hit), hits)


def always_to_blame(ask, hits):
    return counted(ask, hits, down=lambda failures, in_a_row: True)


def no_handler(ask, hits):
    kept = [hit for hit in hits if ask(hit)]
    return kept, None if kept else Reason.NO_RELEVANT_PASSAGE


WRONG = {
    "to be on the safe side, keep it": (keep_what_fails, "failure_read_as_yes"),
    "one failure ends the grading": (give_up_at_the_first, "one_failure_ends_all"),
    "without a limit": (ask_all_of_them, "pays_through_the_outage"),
    "count failures, but not in a row": (three_failures_in_all, "gives_up_too_early"),
    "a failure only when the limit is reached": (only_an_outage_is_a_failure, "half_judged_read_as_no"),
    "catch every error of the cookbook": (catch_everything, "hides_a_wrong_setting"),
    "blame the judge for every refusal": (always_to_blame, "rejection_read_as_failure"),
    "the wrong way round": (the_wrong_way_round, "no_read_as_yes"),
    "no handler": (no_handler, "failure_not_caught"),
    "return the passages alone": (lambda ask, hits: [], "no_pair"),
}


def test_the_symptom():
    request = ask_handbook(broken(), TIMEOUT)
    assert request.text == SENTENCES[Reason.NO_RELEVANT_PASSAGE]
    assert request.meter.calls == 5
    assert {row["read as"] for row in request.rows} == {"not relevant"}
    request = ask_handbook(solution(), TIMEOUT)
    assert request.text == SENTENCES[Reason.GRADER_FAILED]
    assert request.meter.calls == LIMIT


def test_what_was_judged_before_the_outage_is_written_from():
    request = ask_handbook(solution(), YES, TIMEOUT)
    assert request.meter.calls == 1 + LIMIT + 1  # one verdict, three failures, the answer
    assert request.text.startswith("When a cancellation has taken effect, a retention window of 30 days")


def test_the_message_says_what_was_done():
    assert check(broken()).message == (
        "The judge times out on every call: 5 of 5 asked, 0 kept, reason no_relevant_passage. It should be 0 kept, "
        "reason grader_failed. No passage was judged, so nobody knows whether one is relevant."
    )
    assert "ProviderUnavailable: the judge did not answer within 60 s" in check(keep_what_fails).message
