"""What the check of graded_on_half says of windows that leave something out, or put too much together."""

from cookbook.labs.graded_on_half import OVERLAP, READS, ask, broken, check, passage_with, solution
from cookbook.schema import Status

BROKEN = "end_lost"


def windows(passage, step, size=READS):
    words = passage.split()
    return [" ".join(words[n : n + size]) for n in range(0, max(len(words), 1), step)]


def each_passage_alone(entails, passages, claim):
    return any(entails(passage, claim) for passage in passages)


def without_overlap(entails, passages, claim):
    return any(entails(window, claim) for passage in passages for window in windows(passage, READS))


def the_last_words(entails, passages, claim):
    return any(entails(" ".join(passage.split()[-READS:]), claim) for passage in passages)


def glued_windows(entails, passages, claim):
    return any(entails(window, claim) for window in windows("\n".join(passages), READS - OVERLAP))


def a_window_for_each_word(entails, passages, claim):
    return any(entails(window, claim) for passage in passages for window in windows(passage, 7))


def too_long_is_fine(entails, passages, claim):
    return any(len(passage.split()) > READS or entails(passage, claim) for passage in passages)


def the_first_passage(entails, passages, claim):
    return bool(passages) and solution()(entails, passages[:1], claim)


def only_full_windows(entails, passages, claim):
    def full(passage):
        words = passage.split()
        starts = [*range(0, len(words) - READS, READS - OVERLAP), len(words) - READS]
        return [" ".join(words[n : n + READS]) for n in starts if n >= 0]

    return any(entails(window, claim) for passage in passages for window in full(passage))


WRONG = {
    "each passage alone": (each_passage_alone, "end_lost"),
    "windows without overlap": (without_overlap, "cut_at_the_border"),
    "the last words instead": (the_last_words, "beginning_lost"),
    "windows over everything glued": (glued_windows, "passages_glued"),
    "a window every few words": (a_window_for_each_word, "too_many_windows"),
    "what is too long passes": (too_long_is_fine, "unread_is_supported"),
    "the best passage alone": (the_first_passage, "second_passage_lost"),
    "full windows only": (only_full_windows, "short_passage_lost"),
    "how many windows say yes": (lambda entails, passages, claim: len(passages), "no_bool"),
}


def test_the_symptom():
    done = ask(broken())
    assert (done.calls, done.state["attempts"], done.state["status"]) == (9, 2, Status.REFUSED)
    [kept] = done.state["kept"]
    words = kept.text.split()
    assert len(words) > READS
    assert "`batch_size`" not in words[:READS]
    done = ask(solution())
    assert (done.calls, done.state["attempts"], done.state["status"]) == (7, 1, Status.ANSWERED)


def test_the_message_names_the_places():
    message = check(without_overlap).message
    assert message.startswith(
        "in a passage of 1,200 words the evidence is lost at 4 of 598 places: when its first word is number 508 to 510 and "
        "1,020 to 1,022. There the sentence begins in one window and ends in the next"
    )


def test_a_passage_holds_the_sentence_where_it_says():
    words = passage_with("One two three.", 700).split()
    assert (len(words), words[700:703]) == (1200, ["One", "two", "three."])
