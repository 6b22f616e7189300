"""A loop that is compared with a recipe which differs in everything: the loop gets the credit for all of it.

Taught in notebooks/labs/49_measuring.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import pairwise
from typing import Any

from cookbook.chunkers import fixed_window, markdown_sections
from cookbook.corpora import load_corpus
from cookbook.embedders import WordTokenizer
from cookbook.eval.sets import EvalRow, load_eval_set
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges, Shelf, gold
from cookbook.schema import Relevance

LAB = Lab(
    module=__name__,
    title="Forty points for the loop",
    difficulty=2,
    minutes=25,
    you_will=(
        "take a difference between two systems apart, one change at a time, and say how much of it is the "
        "loop's"
    ),
    symptom=(
        "\"Reflection lifts right answers from 47% to 87%.\" The team next door built the loop, and gained 4 "
        "points."
    ),
    task=(
        "Write `ladder(baseline, loop)`: a list of setups that leads from `baseline` to `loop`, both "
        "included, each one differing from the one before in exactly *one* field. Change `system` last, so "
        "that the last step compares the two systems with everything else as the loop will be shipped. "
        "Fields that are the same in both stay as they are, and give no step. `replace(setup, k=8)` gives a "
        "copy of a setup with one field changed."
    ),
    hints=(
        "Write the two setups in two columns. In how many lines do they differ, and about how many of these "
        "lines does the headline speak?",
        "`FIELDS` names the fields, `system` last. Begin with `[baseline]`; for each name in which the last "
        "setup of the list and `loop` differ, append `replace(steps[-1], **{name: getattr(loop, name)})`.",
    ),
    in_the_wild=(
        "FareedKhan-dev/rag-cookbook-2026 measures all its recipes against one `vanilla_pipeline` "
        "(`cookbook/baselines.py`): windows of 384 tokens and 5 of them; its Self-RAG recipe cuts windows of "
        "four sentences and takes 8. In LHRLAB/Graph-R1, issue 18, a reader asks why standard RAG got 5 "
        "chunks and the graph methods 60 items. There was a reason (about as many tokens), and it still is "
        "not one thing that was changed."
    ),
    transfer=(
        "You have the ladder. A reviewer says: \"You changed the system last, where there was least left to "
        "gain. Changed first, it might have brought 20 points.\" Is that an objection, and which number "
        "would answer it?"
    ),
    answer=(
        "It is one: the parts interact, and what a step is worth depends on the steps before. The other "
        "order answers it: with the system first it is 1 row of 70 instead of 3, and then the *large model* "
        "brings nothing, because the small one reads the few passages that the loop lets through as well. So "
        "report both orders, and decide by the question: does the loop help whoever has the large model, or "
        "does it save buying it? And 3 rows are few: `difference` in `cookbook/eval/statistics.py` gives +4 "
        "points with an interval from -1 to +11."
    ),
    pitfall=(
        "They change each field from the baseline, one at a time, and get four setups that lie around it "
        "like a star. None of them is the loop, and the gains do not add up to the difference. Let them add "
        "the numbers."
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Setup:
    """What a measurement is of. ``chunker`` is "windows" (64 words, blind) or "sections", ``model`` "small" or "large".

    The small model reads the first two passages it is given, the large one five.
    """

    system: str
    chunker: str
    k: int
    model: str


Ladder = Callable[[Setup, Setup], list[Setup]]

BASELINE = Setup("vanilla", "windows", 3, "small")
LOOP = Setup("loop", "sections", 8, "large")
FIELDS = ("chunker", "k", "model", "system")
"""The fields of a setup, ``system`` last."""


# ---------------------------------------------------------------- the code


def both_ends(baseline: Setup, loop: Setup) -> list[Setup]:
    """What was measured for the headline."""
    return [baseline, loop]


def ladder(baseline: Setup, loop: Setup) -> list[Setup]:
    """The setups from `baseline` to `loop`, one field changed at each step and `system` in the last."""
    ### BEGIN SOLUTION
    steps = [baseline]
    for name in FIELDS:
        if getattr(steps[-1], name) != getattr(loop, name):
            steps.append(replace(steps[-1], **{name: getattr(loop, name)}))
    return steps
    ### END SOLUTION


def broken() -> Ladder:
    return both_ends


def solution() -> Ladder:
    return ladder


# ---------------------------------------------------------------- the measurement

READS = {"small": 2, "large": 5}


@cache
def _rows() -> tuple[EvalRow, ...]:
    return tuple(row for row in load_eval_set("larkspur") if row.behaviour == "answer")


@cache
def _shelf(chunker: str) -> Shelf:
    documents = load_corpus("larkspur")
    if chunker == "sections":
        return Shelf(markdown_sections(documents))
    return Shelf(fixed_window(documents, 64, 0, tokenizer=WordTokenizer()))


@cache
def right_answers(setup: Setup) -> tuple[bool, ...]:
    """For each of the 70 answerable questions of the handbook: does the model read every gold quote?

    Retrieval is real (BM25). A vanilla system gives the model the k passages in their order, the loop only those
    that a judge found relevant, whose verdicts are the gold ones. A model that reads the evidence answers right.
    """
    judges = Judges(_shelf(setup.chunker), relevance=gold("larkspur"))
    right = []
    for row in _rows():
        hits = judges.store.retrieve(row.question, setup.k)
        if setup.system == "loop":
            hits = [hit for hit in hits if judges.relevance(row.question, hit) is Relevance.RELEVANT]
        read = hits[: READS[setup.model]]
        right.append(all(any(quote.stands_in(hit.chunk) for hit in read) for quote in row.gold))
    return tuple(right)


def one_question(setup: Setup) -> Meter:
    """What a question costs: a call to write, and in a loop one for each passage before it."""
    judges, question = Judges(_shelf(setup.chunker)), "How long is a sync token valid?"
    with metered(Meter()) as meter:
        hits = judges.store.retrieve(question, setup.k)
        if setup.system == "loop":
            hits = [hit for hit in hits if judges.relevance(question, hit) is Relevance.RELEVANT]
        judges.generate(question, hits[: READS[setup.model]])
    return meter


def table(setups: list[Setup]) -> list[dict[str, Any]]:
    """A row for each setup, with its right answers and what it has more than the row above."""
    rows: list[dict[str, Any]] = []
    for setup in setups:
        right = sum(right_answers(setup))
        gained = f"{right - rows[-1]['right']:+d}" if rows else ""
        share = f"{right / len(_rows()):.0%}"
        rows.append({**vars(setup), "right": right, "of": len(_rows()), "share": share, "gained": gained})
    return rows


# ---------------------------------------------------------------- the check


@guard(returns="a list of setups")
def check(candidate: Ladder) -> LabVerdict:
    """The two setups of the headline, then pairs that differ in three fields, in one, and in none."""
    for baseline, loop in PAIRS:
        steps = candidate(baseline, loop)
        if not isinstance(steps, list) or not all(isinstance(step, Setup) for step in steps):
            return failed("no_setups", f"you returned {steps!r}; return a list of Setup")
        if (verdict := _climbs(steps, baseline, loop)) is not None:
            return verdict
    steps = candidate(BASELINE, LOOP)
    rows = table(steps)
    said = ", ".join(f"{name} {row['gained']}" for name, row in zip(_changes(steps), rows[1:], strict=True))
    return passed(
        f"from {rows[0]['right']} to {rows[-1]['right']} of {rows[0]['of']} right answers, step by step: "
        f"{said}. The system's own share is the last number"
    )


def _climbs(steps: list[Setup], baseline: Setup, loop: Setup) -> LabVerdict | None:
    """What is wrong with a ladder; None when nothing is."""
    wanted = len(_differ(baseline, loop)) + 1
    saw = f"from {_said(baseline)} to {_said(loop)} you return {len(steps)} setup{'s' * (len(steps) != 1)}"
    if not steps or steps[0] != baseline:
        first = _said(steps[0]) if steps else "nothing"
        return failed(
            "no_start",
            f"{saw}, the first of them {first}. Begin with the baseline that the headline names: the ladder "
            "has to explain *that* difference",
        )
    star = len(steps) > 2 and all(len(_differ(baseline, step)) == 1 for step in steps[1:])
    if star and len(_differ(*steps[1:3])) > 1:
        return failed(
            "star",
            f"{saw}: each differs from the baseline in one field, and {_said(steps[1])} from the next one in "
            f"{len(_differ(*steps[1:3]))}. What they gain does not add up to the difference. Keep each "
            "change while you make the next",
        )
    if steps[-1] != loop:
        return failed(
            "no_end", f"{saw}, the last of them {_said(steps[-1])}. The ladder has to arrive at the loop"
        )
    for one, other in pairwise(steps):
        changed = _differ(one, other)
        if not changed:
            return failed(
                "empty_step",
                f"{saw}, and two in a row are the same: {_said(one)}. Where nothing changes there is nothing "
                "to measure",
            )
        if len(changed) > 1:
            gained = sum(right_answers(other)) - sum(right_answers(one))
            return failed(
                "many_at_once",
                f"{saw}. From {_said(one)} to {_said(other)} {len(changed)} things change at once "
                f"({', '.join(changed)}), and {gained:+d} right answers of {len(_rows())} come of it. Whose "
                "are they?",
            )
    changes = _changes(steps)
    if len(steps) != wanted:
        return failed(
            "detour",
            f"{saw}, and {wanted} are enough: {', '.join(changes)}. Change each field that differs once, and "
            "no other",
        )
    if "system" in changes[:-1]:
        at = changes.index("system")
        gained = sum(right_answers(steps[at + 1])) - sum(right_answers(steps[at]))
        return failed(
            "system_not_last",
            f"{saw}, and change in this order: {', '.join(changes)}. The loop is then credited with what it "
            f"does to {_said(steps[at])} ({gained:+d}), which nobody will ship. Change the system last",
        )
    return None


def _differ(one: Setup, other: Setup) -> list[str]:
    return [field.name for field in fields(Setup) if getattr(one, field.name) != getattr(other, field.name)]


def _changes(steps: list[Setup]) -> list[str]:
    return [name for one, other in pairwise(steps) for name in _differ(one, other)]


def _said(setup: Setup) -> str:
    return f"({', '.join(str(value) for value in vars(setup).values())})"


PAIRS = (
    (BASELINE, LOOP),
    (replace(BASELINE, chunker="sections"), LOOP),
    (replace(LOOP, system="vanilla"), LOOP),
    (LOOP, LOOP),
)
