"""A verdict read by substring: "NOT RELEVANT" holds "RELEVANT", so the judge's no becomes a yes.

Taught in notebooks/labs/40_verdicts.ipynb.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges

LAB = Lab(
    module=__name__,
    title="The judge says no, the code hears yes",
    difficulty=1,
    minutes=15,
    you_will="read a one-word verdict so that a negation, a hedge and an empty reply each come out as what they are",
    symptom="The relevance grader was added to drop useless passages, and drops almost none.",
    task=(
        "Write `read_verdict(reply)`. It gives `True` for relevant, `False` for not relevant, and `None` when the "
        "reply states no verdict, or two. `None` is a value of its own: the grader failed, and a failure is "
        "neither a yes nor a no."
    ),
    hints=(
        "Print `substring_verdicts.REPLIES`: the replies, and what each says. The verdict is the *whole* reply, apart from case, quotes, asterisks and the "
        "full stop. In which replies does one of the words only stand somewhere inside?",
        "Take off what surrounds the reply (`reply.strip(...)`), put it in lower case, make underscores and runs of "
        "spaces one space, and look the result up in a table of five entries. "
        "Whatever is not in the table is `None`: you need no list of bad replies.",
    ),
    in_the_wild=(
        "A benchmark read its judge with `\"CORRECT\" in judgment`, and INCORRECT holds CORRECT: of 100 answers 77 counted as "
        "right, and 33 did once the reply was read as a word (jaylfc/taosmd, pull request 176). Another took `{\"match\": \"false\"}` "
        "for a pass, because a string that is not empty is true (TIGER-AI-Lab/ClawBench, pull request 305). In the Self-RAG paper "
        "(arXiv 2310.11511) each verdict is one token of the vocabulary, and can be read as nothing else."
    ),
    transfer=(
        "A support check asks for SUPPORTED or UNSUPPORTED, and its parser is `\"SUPPORTED\" in reply.upper()`. The team adds "
        "the sentence \"Reply with exactly one word\" to the prompt. Does that mend it?"
    ),
    answer=(
        "No. UNSUPPORTED *is* exactly one word, and it holds SUPPORTED. The fault is in the reader and not in the judge; a prompt can "
        "make strange replies rarer, and cannot make a substring a word."
    ),
    pitfall=(
        "Most first attempts look for the negative first (`if \"not\" in reply`). That mends the replies in the trace and "
        "turns \"I cannot tell\" into a no; the next most frequent forget `None` altogether."
    ),
)  # fmt: skip

Reader = Callable[[str], bool | None]

#: What judges reply, and what each reply says.
REPLIES: dict[str, bool | None] = {
    "RELEVANT": True,
    "Relevant.": True,
    "**relevant**": True,
    ' "RELEVANT"\n': True,
    "yes": True,
    "NOT RELEVANT": False,
    "NOT_RELEVANT.": False,
    "Irrelevant": False,
    "not   relevant": False,
    "no": False,
    "": None,
    "I cannot tell whether it is relevant": None,
    "I know this one: relevant": None,
    "yes and no": None,
    "yesterday": None,
    "Not sure.": None,
}


QUESTION = "Can I export my data after I cancel my plan?"
#: What the judge says of the five passages found for it: two are relevant, one it cannot judge.
FIVE = ("Relevant.", "**relevant**", "NOT RELEVANT", "Irrelevant.", "I cannot tell whether it is relevant")


def filter_passages(read: Reader) -> tuple[list[dict[str, Any]], Meter]:
    """Grade five passages, then write from those that ``read`` lets through: a row for each passage, and what
    all the calls used."""
    replies = iter(FIVE)
    judges = Judges(direct=lambda prompt: next(replies))
    hits = judges.store.retrieve(QUESTION, len(FIVE))
    with metered(Meter()) as meter:
        said = [judges.direct(f"{QUESTION} {hit.text} RELEVANT or NOT RELEVANT?") for hit in hits]
        rows = [
            {"passage": hit.chunk_id, "the judge said": reply, "read as": str(read(reply))}
            for hit, reply in zip(hits, said, strict=True)
        ]
        judges.generate(QUESTION, [h for h, row in zip(hits, rows, strict=True) if row["read as"] == "True"])
    return rows, meter


def contains_relevant(reply: str) -> bool:
    """The reader as it is often written."""
    return "relevant" in reply.lower() or "yes" in reply.lower()


def read_verdict(reply: str) -> bool | None:
    """True for relevant (or yes), False for not relevant, irrelevant (or no), None for anything else.

    Case, quotes, asterisks, a final full stop, underscores and runs of spaces do not matter.
    """
    ### BEGIN SOLUTION
    words = re.sub(r"[\s_]+", " ", reply).strip(' *."').lower()
    known = {"relevant": True, "yes": True, "not relevant": False, "irrelevant": False, "no": False}
    return known.get(words)
    ### END SOLUTION


def broken() -> Reader:
    return contains_relevant


def solution() -> Reader:
    return read_verdict


@guard()
def check(candidate: Reader) -> LabVerdict:
    """Reads every reply of ``REPLIES`` and says which kind of mistake comes first."""
    said = {reply: candidate(reply) for reply in REPLIES}
    if strange := [reply for reply in said if not (said[reply] is None or isinstance(said[reply], bool))]:
        return failed(
            "no_verdict_type",
            f"for {strange[0]!r} you returned {said[strange[0]]!r}; return True, False or None",
        )
    for diagnosis, kind, given, lesson in _MISTAKES:
        if found := [reply for reply in REPLIES if _kind(reply) == kind and said[reply] is given]:
            return failed(
                diagnosis,
                f"{found[0]!r} was read as {given} and says {REPLIES[found[0]]}; {len(found)} of {len(REPLIES)} "
                f"replies go wrong in this way. {lesson}",
            )
    return passed(
        f"all {len(REPLIES)} replies are read as what they say: 5 yes, 5 no, and 6 that state no verdict"
    )


def _kind(reply: str) -> str:
    """What a reply is: a yes, a no, a sentence with a verdict's word in it, or nothing of the kind."""
    if (says := REPLIES[reply]) is not None:
        return "yes" if says else "no"
    return "sentence" if {"relevant", "yes"} & set(reply.lower().split()) else "nothing"


#: diagnosis, kind of reply, how it was read, what follows from it; the worst mistake first.
_MISTAKES = (
    ("yes_by_substring", "no", True, "The word for yes stands inside the word for no."),
    ("failure_read_as_yes", "nothing", True, "A reply without a verdict lets a passage through unjudged."),
    ("word_in_a_sentence", "sentence", True, "The word is in it, but the reply does not state it as its verdict."),
    ("failure_read_as_no", "nothing", False, "The grader failed. Read as no, an outage looks like a corpus without answers."),
    ("word_in_a_sentence", "sentence", False, "A reply that says both, or hedges, states no verdict."),
    ("no_lost", "no", None, "A plain no in other clothes must stay a no, else every rejection looks like a failure."),
    ("yes_lost", "yes", None, "A plain yes in other clothes must stay a yes, else good passages are thrown away."),
    ("yes_read_as_no", "yes", False, "A plain yes became a no."),
)  # fmt: skip
