"""A share whose denominator is the number of keys in a dictionary: with eight rows it is right.

Taught in notebooks/labs/49_measuring.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges
from cookbook.schema import Retrieve

LAB = Lab(
    module=__name__,
    title="Three quarters of eight keys",
    difficulty=1,
    minutes=15,
    you_will="find what a share is a share of, and test it on a size at which a wrong denominator shows",
    symptom=(
        "The gate was built to look things up only when it has to. The evaluation prints a retrieval "
        "frequency of 0.75; the store's log has 6 searches for 40 questions."
    ),
    task=(
        "Write `frequency(retrieved, results)`: the share of questions for which the system searched, from 0 "
        "to 1. `retrieved` holds `True` or `False` for each question that was asked, and `results` is the "
        "dictionary that the evaluation writes to disk; you need not use it. Without any question there is "
        "no share: return `None`."
    ),
    hints=(
        "Print `len(results)`, and then what `results` consists of. For how many questions would the "
        "published line be right?",
        "The questions are counted by the list that has one entry for each of them: `len(retrieved)`. The "
        "lists in `results` are not that list: a failed row leaves no prediction, and some are never filled.",
    ),
    in_the_wild=(
        "AkariAsai/self-rag, `retrieval_lm/run_short_form.py`, ends in `count / len(final_results)`, and "
        "`final_results` is a dictionary with eight keys. The figure is printed and used nowhere else. An "
        "independent re-run counted anew and found that the released code retrieves for every question of "
        "four tasks (tushaarrr/selfrag, `RESULTS.md`). In dnouri/nolearn, issue 312, averages over batches "
        "went wrong because `len` of a batch that is a dictionary is the number of its keys."
    ),
    transfer=(
        "Mended, the figure is 100% on one set and 0% on another, with the same gate. Which two rates would "
        "you want to see instead of one, and what would each of the two figures tell you about the gate?"
    ),
    answer=(
        "The rate among questions that need the documents, and the rate among those that do not; "
        "`retrieval_rates` in `cookbook/eval/metrics.py` gives them by what each row expects. 100% and 0% "
        "mean that the gate decides nothing, it is a constant that costs a call; one overall rate cannot "
        "tell a gate that works from a coin with the same bias."
    ),
    pitfall=(
        "They take the length of another list in the dictionary, usually `golds`, which is empty, or "
        "`preds`, from which failed rows are missing. Ask which list has an entry for *every* question, "
        "whatever became of it."
    ),
)  # fmt: skip

Frequency = Callable[[Sequence[bool], Mapping[str, Any]], float | None]


# ---------------------------------------------------------------- the code


def over_the_results(retrieved: Sequence[bool], results: Mapping[str, Any]) -> float | None:
    """The line as it was published."""
    return sum(retrieved) / len(results)


def frequency(retrieved: Sequence[bool], results: Mapping[str, Any]) -> float | None:
    """The share of questions for which the system searched; None without any question."""
    ### BEGIN SOLUTION
    return sum(retrieved) / len(retrieved) if retrieved else None
    ### END SOLUTION


def broken() -> Frequency:
    return over_the_results


def solution() -> Frequency:
    return frequency


# ---------------------------------------------------------------- the evaluation


@dataclass(frozen=True)
class Evaluation:
    """What a run over some questions leaves: who was looked up, the dictionary for the disk, the store's log, the bill."""

    retrieved: list[bool]
    results: dict[str, Any]
    searches: int
    meter: Meter


def evaluate(questions: int, searched: int, failed: int = 0) -> Evaluation:
    """A gate that searches for the first ``searched`` questions; the last ``failed`` ones end in an error after the gate.

    The keys of ``results`` are those of the released evaluation; two of its lists are never filled there either.
    """
    judges = Judges(
        retrieve=lambda question: Retrieve.YES if int(question.split()[1]) < searched else Retrieve.NO
    )
    retrieved, preds, prompts = [], [], []
    with metered(Meter()) as meter:
        for n in range(questions):
            question = f"question {n}"
            retrieved.append(judges.retrieve(question) is Retrieve.YES)
            hits = judges.store.retrieve(question, 5) if retrieved[-1] else []
            if n < questions - failed:
                prompts.append(question)
                preds.append(judges.generate(question, hits) if hits else judges.direct(question))
    results = {
        "preds": preds,
        "prompts": prompts,
        "metric_results": [1.0] * len(preds),
        "all_results": [{}] * len(preds),
        "golds": [],
        "metric": "match",
        "metric_mean": 1.0,
        "scores": [],
    }
    return Evaluation(retrieved, results, meter.embeddings, meter)


# ---------------------------------------------------------------- the check


@guard()
def check(candidate: Frequency) -> LabVerdict:
    """Sets of several sizes, one whose rows fail after the search, and an empty one."""
    for questions, searched, lost in RUNS:
        run = evaluate(questions, searched, lost)
        try:
            found = candidate(run.retrieved, run.results)
        except ZeroDivisionError:
            return failed(
                "empty_list_counted",
                f"{_said(questions, searched, lost)}: a ZeroDivisionError. You divide by the length of a "
                "list that is empty; of those in `results` `golds` and `scores` are never filled, and "
                "`retrieved` has an entry for each question",
            )
        if (verdict := _share(found, run, _said(questions, searched, lost))) is not None:
            return verdict
    try:
        nothing = candidate([], evaluate(0, 0).results)
    except ZeroDivisionError:
        return failed(
            "no_questions",
            "without any question you end in a ZeroDivisionError; the share of nothing is None",
        )
    if nothing is not None:
        return failed(
            "no_questions",
            f"without any question you return {nothing!r}: that reads as a gate that never searches, and "
            "nobody was asked. Return None",
        )
    said = candidate(*_of(40, 6, 0))
    return passed(
        f"6 of 40 questions are {said:.2f}; the published line says 0.75, and with 1,399 questions, all "
        "searched for, 174.88"
    )


def _share(found: Any, run: Evaluation, saw: str) -> LabVerdict | None:
    """What is wrong with a frequency; None when nothing is."""
    right = sum(run.retrieved) / len(run.retrieved)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return failed("no_number", f"{saw}: you return {found!r}; return a number from 0 to 1")
    if abs(found - right) < 1e-9:
        return None
    saw = f"{saw}: you return {found:.3f}, right is {right:.3f}"
    over_keys, preds = sum(run.retrieved) / len(run.results), len(run.results["preds"])
    if abs(found - over_keys) < 1e-9:
        return failed(
            "keys_counted",
            f"{saw}. {sum(run.retrieved)} is divided by {len(run.results)}, and `results` has "
            f"{len(run.results)} *keys*. What is the denominator to count?",
        )
    if abs(found - 100 * right) < 1e-9:
        return failed(
            "in_percent", f"{saw}. A share lies between 0 and 1; percent are made where it is printed"
        )
    if abs(found - min(1.0, over_keys)) < 1e-9:
        return failed(
            "clamped",
            f"{saw}. {over_keys:.2f} was too much to be a share, and is cut to 1 now. It was too large "
            "because the denominator counts something else",
        )
    if preds != len(run.retrieved) and abs(found - sum(run.retrieved) / preds) < 1e-9:
        return failed(
            "predictions_counted",
            f"{saw}. You divide by {preds} predictions, and {len(run.retrieved)} questions were asked: a row "
            "that failed after the search has left no prediction, and was searched for",
        )
    return failed("wrong_share", f"{saw}. It is {sum(run.retrieved)} of {len(run.retrieved)} questions")


def _of(questions: int, searched: int, lost: int) -> tuple[list[bool], dict[str, Any]]:
    run = evaluate(questions, searched, lost)
    return run.retrieved, run.results


def _said(questions: int, searched: int, lost: int) -> str:
    failing = f", {lost} failed after the search" if lost else ""
    return f"{searched} of {questions} questions searched for{failing}"


RUNS = ((8, 3, 0), (40, 12, 0), (40, 6, 0), (10, 10, 4), (5, 0, 0))
"""Questions, how many were searched for, and how many failed after that."""
