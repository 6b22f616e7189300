"""A metric that a system wins by refusing, by failing, or by saying anything: rows leave the mean, or score 1 for nothing.

Taught in notebooks/labs/49_measuring.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.schema import Status

LAB = Lab(
    module=__name__,
    title="The winner says nothing",
    difficulty=3,
    minutes=30,
    you_will="build a headline figure that no dummy can win, and say beside it how many rows it rests on",
    symptom=(
        "The new metric ranks four systems. The first place goes to one that refuses every question, the "
        "second to one that crashes on a third of them."
    ),
    task=(
        "Write `score(rows)`, which returns two numbers. A row has `.expected` (`\"answer\"` or "
        "`\"refuse\"`), `.status` (`Status.ANSWERED`, `REFUSED` or `FAILED`) and `.right` (is the answer "
        "right? `False` where there is none). The **score** is the mean of two shares, each with one half: "
        "of the rows to answer, those that were answered right; of the rows to refuse, those that were "
        "refused. A failed row is neither. The **coverage** is the share of all rows that did not fail. If "
        "rows of one kind are missing, raise `ValueError`: then a system that does always the same would win."
    ),
    hints=(
        "For each of the four systems, write down which rows the metric counts, and with what. Where does a "
        "refusal get its 1.0 from? Where do the failed rows go?",
        "Two lists, by `row.expected`. In the first count `row.status is Status.ANSWERED and row.right`, in "
        "the second `row.status is Status.REFUSED`, each over the length of its *whole* list. Coverage: one "
        "minus the share of failed rows.",
    ),
    in_the_wild=(
        "In Ragas a row whose judge fails becomes NaN and leaves the mean: of two systems the one that drops "
        "the hard row scores 1.0 and the other 0.5 (vibrantlabsai/ragas, issue 3028). There, too, a correct "
        "refusal, word for word the reference, scores 0.0 in one metric and NaN in another (issue 2806). In "
        "heypinchy/pinchy, pull request 1163, a detector of refusals recognised 0 of 8 real ones."
    ),
    transfer=(
        "A colleague reports precision instead: \"Of the answers it gave, 95% were right.\" Which of the "
        "four systems of this lab would she put first, and which second number belongs beside hers?"
    ),
    answer=(
        "The careful one has 28 right of 36 answers, the one that crashes 19 of 20; a system that answers "
        "its one safest question has 100%. Precision says nothing about what was not answered. The second "
        "number is the share of answerable questions it answered at all, and the third the share that "
        "failed. Any figure with a denominator that the system chooses needs its denominator beside it."
    ),
    pitfall=(
        "They take plain accuracy over all rows. With as many unanswerable questions as here a dummy cannot "
        "win; then give them a set with 9 of 10 to refuse. Or they count a failure among the unanswerable as "
        "a refusal, \"because it did not answer\": ask what the customer saw."
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One question and how a system dealt with it. ``faithful`` is a judge's mark for an answer; None without one."""

    expected: str
    status: Status
    right: bool = False
    faithful: float | None = None


Metric = Callable[[Sequence[Row]], Any]

ANSWERED, REFUSED, FAILED = Status.ANSWERED, Status.REFUSED, Status.FAILED


def rows_of(answer: Sequence[int], refuse: Sequence[int]) -> tuple[Row, ...]:
    """Rows from counts: right, wrong, refused and failed of the rows to answer; refused, answered and failed of the others."""
    kinds = (
        Row("answer", ANSWERED, True, 1.0),
        Row("answer", ANSWERED, False, 0.6),
        Row("answer", REFUSED),
        Row("answer", FAILED),
        Row("refuse", REFUSED),
        Row("refuse", ANSWERED, False, 0.3),
        Row("refuse", FAILED),
    )
    return tuple(row for row, n in zip(kinds, (*answer, *refuse), strict=True) for _ in range(n))


#: Forty questions with an answer and twenty without, put to four systems; the last two understand nothing.
SYSTEMS = {
    "careful": rows_of((28, 4, 8, 0), (16, 4, 0)),
    "crashes": rows_of((19, 1, 6, 14), (13, 0, 7)),
    "always refuses": rows_of((0, 0, 40, 0), (20, 0, 0)),
    "first passage": rows_of((24, 16, 0, 0), (0, 20, 0)),
}
DUMMIES = ("always refuses", "first passage")
#: The same four where one question in ten has an answer, and where nine in ten have.
FEW = {
    "careful": rows_of((4, 1, 1, 0), (40, 10, 4)),
    "crashes": rows_of((3, 0, 0, 3), (36, 0, 18)),
    "always refuses": rows_of((0, 0, 6, 0), (54, 0, 0)),
    "first passage": rows_of((4, 2, 0, 0), (0, 54, 0)),
}
MANY = {
    "careful": rows_of((36, 6, 10, 2), (5, 1, 0)),
    "crashes": rows_of((26, 1, 5, 22), (4, 0, 2)),
    "always refuses": rows_of((0, 0, 54, 0), (6, 0, 0)),
    "first passage": rows_of((43, 11, 0, 0), (0, 6, 0)),
}


# ---------------------------------------------------------------- the code


def mean_faithfulness(rows: Sequence[Row]) -> tuple[float, float]:
    """The metric as it was: the mean mark of what was said. Who says nothing says nothing wrong."""
    marks = []
    for row in rows:
        if row.status is Status.FAILED:
            continue  # no mark for this one
        if row.status is Status.REFUSED:
            marks.append(1.0)  # no claims, none of them unfaithful
        elif row.faithful is not None:
            marks.append(row.faithful)
    return sum(marks) / len(marks), 1.0


def score(rows: Sequence[Row]) -> tuple[float, float]:
    """The balanced share of rows that were dealt with rightly, and the share of rows that did not fail."""
    ### BEGIN SOLUTION
    answerable = [row for row in rows if row.expected == "answer"]
    others = [row for row in rows if row.expected == "refuse"]
    if not answerable or not others:
        raise ValueError("rows of both kinds are needed, to answer and to refuse")
    right = sum(row.status is Status.ANSWERED and row.right for row in answerable) / len(answerable)
    refused = sum(row.status is Status.REFUSED for row in others) / len(others)
    lost = sum(row.status is Status.FAILED for row in rows) / len(rows)
    return (right + refused) / 2, 1 - lost
    ### END SOLUTION


def broken() -> Metric:
    return mean_faithfulness


def solution() -> Metric:
    return score


# ---------------------------------------------------------------- for reading


def scoreboard(metric: Metric) -> list[dict[str, Any]]:
    """The four systems, the best first."""
    scored = {name: metric(rows) for name, rows in SYSTEMS.items()}
    ranked = sorted(scored, key=lambda name: -scored[name][0])
    return [{"place": n, "system": name, "score": scored[name][0]} for n, name in enumerate(ranked, 1)]


def two_by_two(rows: Sequence[Row]) -> dict[str, int]:
    """How the rows of a system ended, by what was expected."""
    answerable = [row for row in rows if row.expected == "answer"]
    others = [row for row in rows if row.expected == "refuse"]
    return {
        "to answer: right": sum(row.right for row in answerable),
        "wrong": sum(row.status is ANSWERED and not row.right for row in answerable),
        "refused": sum(row.status is REFUSED for row in answerable),
        "failed": sum(row.status is FAILED for row in answerable),
        "to refuse: refused": sum(row.status is REFUSED for row in others),
        "answered": sum(row.status is ANSWERED for row in others),
        "failed ": sum(row.status is FAILED for row in others),
    }


# ---------------------------------------------------------------- the check


@guard(returns="two numbers, the score and the coverage")
def check(candidate: Metric) -> LabVerdict:
    """Four systems on three mixes of questions, and a set with rows of one kind."""
    for title, systems in SETS.items():
        for name, rows in systems.items():
            found = candidate(rows)
            if not _is_pair(found):
                return failed(
                    "no_two_numbers",
                    f"for {name!r} you returned {found!r}; return (score, coverage), two numbers from 0 to 1",
                )
        if (verdict := _dummy_wins(title, systems, candidate)) is not None:
            return verdict
    for title, systems in SETS.items():
        if (verdict := _scored(title, systems, candidate)) is not None:
            return verdict
    for kind in ("answer", "refuse"):
        some = [row for row in SYSTEMS["careful"] if row.expected == kind]
        try:
            found = candidate(some)
        except ValueError:
            continue
        except ZeroDivisionError:
            return failed(
                "one_kind",
                f"a set with rows of the kind {kind!r} only ended in a ZeroDivisionError, which says nothing "
                "to whoever made the set. Raise ValueError, and say what is missing",
            )
        return failed(
            "one_kind",
            f"a set with rows of the kind {kind!r} only was scored {found[0]:.2f}. On such a set "
            f"{'first passage' if kind == 'answer' else 'always refuses'} does as well as a system can that "
            "understands something: raise ValueError",
        )
    board = scoreboard(candidate)
    said = ", ".join(f"{row['system']} {row['score']:.2f}" for row in board)
    crashed = candidate(SYSTEMS["crashes"])[1]
    return passed(
        f"{said}. No dummy is above one half, on any of three mixes; beside the second the coverage says "
        f"{crashed:.0%}, so it is seen that a third of its rows failed"
    )


def _dummy_wins(title: str, systems: dict[str, tuple[Row, ...]], candidate: Metric) -> LabVerdict | None:
    """Why a system that understands nothing comes first on a set; None when none does."""
    said = {name: candidate(rows)[0] for name, rows in systems.items()}
    best = max(said, key=lambda name: said[name])
    if best not in DUMMIES:
        return None
    rows = systems[best]
    which = f"{title}: {best!r} wins with {said[best]:.2f}, before 'careful' with {said['careful']:.2f}"
    if title != FIRST:
        same = max(sum(row.expected == kind for row in rows) for kind in ("answer", "refuse"))
        return failed(
            "mix_decides",
            f"{which}. {same} of {len(rows)} questions are of one kind, so doing always the same is nearly "
            "always right. Take the share within each kind, then the mean of the two",
        )
    if best == "first passage":
        right = sum(row.right for row in rows)
        return failed(
            "answers_not_judged",
            f"{which}. It answers everything, and rightly in {right} of 40: an answer counts when it is right",
        )
    forgiving = [
        Row("answer", ANSWERED, row.right or row.status is REFUSED) if row.expected == "answer" else row
        for row in systems["careful"]
    ]
    if abs(said["careful"] - _balanced(forgiving)[0]) < 1e-9:
        return failed(
            "refusal_forgiven",
            f"{which}. A refusal where there is an answer counts as right with you. The customer is sent "
            "away with a question that the handbook answers",
        )
    return failed(
        "dummy_wins",
        f"{which}. It has answered nothing, and gets full marks for it: a refusal is right where there is "
        "nothing to answer, and wrong where there is",
    )


def _scored(title: str, systems: dict[str, tuple[Row, ...]], candidate: Metric) -> LabVerdict | None:
    """The first figure on a set that is not right; None when all are."""
    for name, rows in systems.items():
        (said, covered), (right, coverage) = candidate(rows), _balanced(rows)
        if abs(said - right) > 1e-9:
            return failed(
                *_wrong_score(
                    f"{title}: {name!r} gets {said:.3f}, and should get {right:.3f} ({_words(rows)})",
                    rows,
                    said,
                )
            )
        if abs(covered - coverage) > 1e-9:
            lost = sum(row.status is FAILED for row in rows)
            return failed(
                "wrong_coverage",
                f"{title}: the coverage of {name!r} is {covered:.2f} with you; {lost} of its {len(rows)} "
                f"rows failed, so it is {coverage:.2f}. A refusal is an end like another",
            )
    return None


def _wrong_score(saw: str, rows: Sequence[Row], said: float) -> tuple[str, str]:
    """Diagnosis and message for a score, by what it would be the right score of."""
    ended = [row for row in rows if row.status is not FAILED]
    if len(ended) < len(rows) and abs(said - _balanced(ended)[0]) < 1e-9:
        return (
            "failures_leave",
            f"{saw}. The failed rows have left the mean: the more rows a system loses, the better it looks. "
            "They stay in the denominator",
        )
    forgiven = [
        Row("refuse", REFUSED) if row.expected == "refuse" and row.status is FAILED else row for row in rows
    ]
    if abs(said - _balanced(forgiven)[0]) < 1e-9:
        return (
            "failure_as_refusal",
            f"{saw}. A failure among the rows to refuse counts as a refusal with you. It said nothing, and "
            "not because it knew better",
        )
    return (
        "wrong_score",
        f"{saw}. It is the mean of two shares: right answers among the rows to answer, refusals among those "
        "to refuse, a failed row being neither",
    )


def _balanced(rows: Sequence[Row]) -> tuple[float, float]:
    answerable, others = ([row for row in rows if row.expected == kind] for kind in ("answer", "refuse"))
    right = sum(row.right for row in answerable) / len(answerable)
    refused = sum(row.status is REFUSED for row in others) / len(others)
    return (right + refused) / 2, sum(row.status is not FAILED for row in rows) / len(rows)


def _words(rows: Sequence[Row]) -> str:
    return ", ".join(f"{name.strip()} {n}" for name, n in two_by_two(rows).items())


def _is_pair(found: Any) -> bool:
    return (
        isinstance(found, tuple | list) and len(found) == 2 and all(isinstance(n, int | float) for n in found)
    )


FIRST = "forty to answer, twenty to refuse"
SETS = {
    FIRST: SYSTEMS,
    "six to answer, 54 to refuse": FEW,
    "54 to answer, six to refuse": MANY,
}
