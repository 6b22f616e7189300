"""The model says TRUE and the gold says true: a model that is right two times in three gets 0.7%.

Taught in notebooks/labs/49_measuring.ipynb.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges

LAB = Lab(
    module=__name__,
    title="Wrong in capitals",
    difficulty=2,
    minutes=20,
    you_will=(
        "compare what a model says with a gold answer in one form, which forgives spelling and nothing else"
    ),
    symptom=(
        "On a set of claims that are true or false the new model is right in 0.7% of all cases. A coin gets "
        "50%."
    ),
    task=(
        "Write `matches(said, golds)`: is what the model said one of the gold answers? Bring **both** sides "
        "into one form first: Unicode NFKC (`unicodedata.normalize(\"NFKC\", text)`), case folded "
        "(`.casefold()`), runs of white space as one space, the signs in `MARKS` taken off both ends. Then "
        "the *whole* texts are compared. An empty form matches nothing. Everything that is not spelling "
        "stays: `not true` is not `true`, and the option `A` is not an article."
    ),
    hints=(
        "Print a few rows in which the metric says wrong. What would a person say who reads the two columns "
        "aloud?",
        "One function `form(text)` for both sides, and `form(said) in [form(gold) for gold in golds]` with "
        "`form(said) != \"\"`. `in` on a *list* compares whole texts; `in` on a text looks for a piece.",
    ),
    in_the_wild=(
        "In HuskyInSalt/CRAG, issue 8, a reader wonders at one model's figure on PubHealth, far below all "
        "others, and finds that its `True` hardly ever equals the gold `true`; with that mended it measures "
        "0.643. The evaluation code came from Self-RAG's. The usual cure has a trap of its own: "
        "OpenBMB/UltraRAG, issue 509, took articles off, so that the gold option \"A\" became the empty "
        "text, which stands in every answer."
    ),
    transfer=(
        "Your figure is 50.4% on yes/no questions, and you suspect nothing: no model is good at them. What "
        "would you look at before you believe it, and how long does it take?"
    ),
    answer=(
        "At ten rows that the metric calls wrong, read by eye, and at the distribution of what was said: if "
        "the model says \"Yes\" to everything, or half of its replies are no yes and no no, 50% is what any "
        "such set gives. Five minutes. A figure that is absurd (0.7%) is found by itself; one that looks "
        "like chance, or like a weak model, is believed."
    ),
    pitfall=(
        "They lower the case of one side, the one they have seen wrong, or they look for the gold *in* what "
        "was said, and \"untrue\" counts as true. Let them run the mended metric on the dummy that always "
        "says \"not true\"."
    ),
)  # fmt: skip

Match = Callable[[str, Sequence[str]], bool]

MARKS = " .!?,;:'\"*`()[]"
"""What may stand around an answer and does not belong to it."""


# ---------------------------------------------------------------- the code


def equal(said: str, golds: Sequence[str]) -> bool:
    """The metric as it was."""
    return said in golds


def matches(said: str, golds: Sequence[str]) -> bool:
    """Whether both sides say the same, spelling aside: NFKC, case, white space, MARKS at the ends."""
    ### BEGIN SOLUTION

    def form(text: str) -> str:
        return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(MARKS)

    return form(said) != "" and form(said) in [form(gold) for gold in golds]
    ### END SOLUTION


def broken() -> Match:
    return equal


def solution() -> Match:
    return matches


# ---------------------------------------------------------------- the evaluation

CLAIMS, RIGHT = 140, 90
"""Claims, and on how many of them the model is right: 64.3%."""
GOLD = ("true", "false")
SAID = {"true": ("TRUE", "True", "True.", "**True**"), "false": ("FALSE", "False", "False.", '"False"')}


def evaluate(match: Match) -> tuple[list[dict[str, Any]], Meter]:
    """A model that is right on 90 of 140 claims, and once spells its answer as the gold does: a row for each claim."""
    golds = [GOLD[n % 3 == 0] for n in range(CLAIMS)]
    meant = [gold if n < RIGHT else GOLD[gold == "true"] for n, gold in enumerate(golds)]
    spelled = iter(meaning if n == 7 else SAID[meaning][n % 4] for n, meaning in enumerate(meant))
    judges = Judges(direct=lambda claim: next(spelled))
    rows = []
    with metered(Meter()) as meter:
        for n, gold in enumerate(golds, 1):
            said = judges.direct(f"claim {n}: true or false?")
            rows.append(
                {
                    "claim": n,
                    "gold": gold,
                    "said": said,
                    "counts as": "right" if match(said, (gold,)) else "wrong",
                }
            )
    return rows, meter


def share(rows: Sequence[dict[str, Any]]) -> str:
    """The share of rows that count as right, as it is printed in a table."""
    return f"{sum(row['counts as'] == 'right' for row in rows) / len(rows):.1%}"


# ---------------------------------------------------------------- the check


@guard(returns="True or False")
def check(candidate: Match) -> LabVerdict:
    """Pairs that say the same in another spelling, and pairs that do not say the same."""
    for case in CASES:
        found = candidate(case.said, case.golds)
        if not isinstance(found, bool):
            return failed(
                "no_bool",
                f"for {case.said!r} against {case.golds!r} you returned {found!r}; return True or False",
            )
        if found is not case.same:
            alike = [other for other in CASES if other.diagnosis == case.diagnosis]
            wrong = sum(candidate(other.said, other.golds) is not other.same for other in alike)
            return failed(
                case.diagnosis,
                f"{case.said!r} against {_listed(case.golds)} counts as {'right' if found else 'wrong'}, and "
                f"{'does not say' if found else 'says'} the same ({wrong} of {len(alike)} such pairs). "
                f"{case.lesson}",
            )
    rows, _ = evaluate(candidate)
    return passed(
        f"{len(CASES)} pairs, {sum(case.same for case in CASES)} that say the same and "
        f"{sum(not case.same for case in CASES)} that do not; the model of the report has {share(rows)} "
        f"instead of {share(evaluate(equal)[0])}"
    )


@dataclass(frozen=True)
class Case:
    """What was said, the gold answers, and whether they say the same; ``diagnosis`` when it is judged wrongly."""

    said: str
    golds: tuple[str, ...]
    same: bool
    diagnosis: str
    lesson: str


def _listed(golds: Sequence[str]) -> str:
    return " or ".join(repr(gold) for gold in golds)


_CASE = (
    "case_sensitive",
    "Bring both sides into one case before you compare; `casefold` also knows that ß is ss",
)
_GOLD = (
    "gold_left_as_it_is",
    "It is the *gold* that is in capitals here, or in quotes: both sides go through the same function",
)
_MARK = "marks_kept", "A full stop, quotes or asterisks around an answer are no part of it"
_SPACE = "white_space_kept", "A line break or a second space is no other answer"
_CODE = "other_encoding", "To a reader they look the same, and they are encoded differently: NFKC first"
_PART = (
    "part_of_the_answer",
    "One text stands *inside* the other, and says something else. Compare whole texts",
)
_NONE = (
    "empty_matches",
    "An answer without a word is no answer. If both forms are empty, something was taken off that belonged "
    "to it",
)
_OPTION = (
    "option_taken_for_an_article",
    "The option A is an answer. Whoever takes articles off takes it for one, and nothing is left of it",
)
_MORE = (
    "words_taken_off",
    "The words differ, and not their spelling. Only case, marks, white space and encoding are forgiven",
)

CASES = tuple(
    Case(said, golds, same, *kind)
    for said, golds, same, kind in (
        ("true", ("true",), True, _CASE),
        ("TRUE", ("true",), True, _CASE),
        ("False", ("false", "no"), True, _CASE),
        ("STRASSE", ("Straße",), True, _CASE),
        ("true", ("TRUE",), True, _GOLD),
        ("7 days", ("7 Days",), True, _GOLD),
        ("retry-after", ('"Retry-After"',), True, _GOLD),
        ("not true", ("true",), False, _PART),
        ("untrue", ("true",), False, _PART),
        ("true", ("not true",), False, _PART),
        ("17 days", ("7 days",), False, _PART),
        ("True.", ("true",), True, _MARK),
        ("**True**", ("true",), True, _MARK),
        ('"true"', ("true",), True, _MARK),
        ("(A)", ("A",), True, _MARK),
        (" true\n", ("true",), True, _SPACE),
        ("30  days", ("30 days",), True, _SPACE),
        ("30\ndays", ("30 days",), True, _SPACE),
        ("Zoe\u0308", ("Zo\u00eb",), True, _CODE),
        ("\uff34\uff32\uff35\uff25", ("true",), True, _CODE),
        ("\ufb01nal", ("final",), True, _CODE),
        ("the", ("A",), False, _OPTION),
        ("A", ("a",), True, _OPTION),
        ("B", ("A",), False, _OPTION),
        ("", ("true",), False, _NONE),
        ("...", ("?",), False, _NONE),
        ("", ("",), False, _NONE),
        ("the owner", ("owner",), False, _MORE),
        ("7 day", ("7 days",), False, _MORE),
        ("1.5", ("15",), False, _MORE),
    )
)
