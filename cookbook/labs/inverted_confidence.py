"""A confidence that means two things: unsure questions are answered from memory, sure small talk is looked up.

Taught in notebooks/labs/40_verdicts.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges
from cookbook.schema import Retrieve

LAB = Lab(
    module=__name__,
    title="Sure of what?",
    difficulty=2,
    minutes=20,
    you_will="give a confidence one meaning, and let a router that is unsure look things up",
    symptom=(
        "Retrieval is switched on, and the trickier a question about the handbook is, the more likely it is answered from "
        "memory. \"Good evening!\" searches the handbook every time."
    ),
    task=(
        "Write `should_retrieve(routed)`. `routed.choice` is `Retrieve.YES` or `Retrieve.NO`, and `routed.confidence` says how sure "
        "the router is *of that choice*, from 0 to 1. Retrieval may be skipped in one case only: the router says no, and is sure of it (`SURE`, 0.7, "
        "or more). A confidence that is missing (`None`) or lies outside 0 to 1 is worth nothing: look it up."
    ),
    hints=(
        "Sort the rows of the table into four boxes: choice yes or no, confidence above or below 0.7. In which boxes does the "
        "program do what you would do? What do the two choices have to do with its decision?",
        "Looking up is the safe side: it costs a little, an answer from memory can mislead. So write down the one case in which it "
        "is skipped, `choice is Retrieve.NO and ...`, and return its negation.",
    ),
    in_the_wild=(
        "A text classifier of transformers returns the winning label and *its* score, which is above 0.5 for two labels. label-sleuth read that score "
        "as the probability of True, and every sentence came out true (label-sleuth/label-sleuth, issue 286). vLLM's semantic router "
        "reported it as the risk of a jailbreak: `is_jailbreak: false` stood beside `risk_score: 0.9957`, the certainty that there was "
        "no risk (vllm-project/semantic-router, issue 2590)."
    ),
    transfer=(
        "A relevance grader replies `{\"relevant\": false, \"score\": 0.9}`. One colleague keeps passages with `score > 0.5`, another reads "
        "0.9 as the probability of *relevant*. What do you change so that nobody can read it in two ways?"
    ),
    answer=(
        "The name and the meaning: one number, `p_relevant`, whose meaning does not depend on another field, with the decision made from it in one "
        "place. Where a label and its probability must travel together, as in this cookbook's `Verdict`, the docstring says \"of the "
        "label\", and a test feeds a sure no."
    ),
    pitfall=(
        "They turn the sign around (`confidence < 0.7`). Now the sure small talk is skipped, and so is every question that the router is sure about "
        "and wants to look up. The decision needs both fields; let them fill in the four boxes before they write code."
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Routed:
    """A router's reply. ``confidence`` is how sure it is of ``choice``, in [0, 1]; None when it did not say."""

    choice: Retrieve
    confidence: float | None


Rule = Callable[[Routed], bool]

SURE = 0.7
YES, NO = Retrieve.YES, Retrieve.NO

#: What the router says of eight messages. The first five are about the handbook.
MESSAGES = {
    "Can I export my data after I cancel my plan?": Routed(YES, 0.95),
    "How long is a sync token valid?": Routed(YES, 0.90),
    "Does my token survive a new password?": Routed(YES, 0.60),
    "Is there a way back once we have left?": Routed(YES, 0.55),
    "Who can see what I wrote?": Routed(NO, 0.55),
    "What is 9 plus 10?": Routed(NO, 0.98),
    "Good evening!": Routed(NO, 0.97),
    "Translate 'bread' into French.": Routed(NO, 0.90),
}


def is_confident(routed: Routed) -> bool:
    """The rule as it was written: retrieve when we are confident enough."""
    return (routed.confidence or 0.0) >= SURE


def should_retrieve(routed: Routed) -> bool:
    """False only for a choice of NO with a confidence from SURE to 1."""
    ### BEGIN SOLUTION
    sure = routed.confidence is not None and SURE <= routed.confidence <= 1.0
    return not (routed.choice is Retrieve.NO and sure)
    ### END SOLUTION


def broken() -> Rule:
    return is_confident


def solution() -> Rule:
    return should_retrieve


def answer_messages(rule: Rule) -> tuple[list[dict[str, Any]], Meter]:
    """Route each of ``MESSAGES`` and answer it: a row for each, and what all the calls used."""
    judges = Judges(retrieve=lambda message: MESSAGES[message].choice, direct="(from memory)")
    rows = []
    with metered(Meter()) as meter:
        for message, routed in MESSAGES.items():
            judges.retrieve(message)
            if looked_up := rule(routed):
                judges.generate(message, judges.store.retrieve(message, 5))
            else:
                judges.direct(message)
            rows.append(
                {
                    "message": message,
                    "choice": routed.choice.value,
                    "confidence": routed.confidence,
                    "looked up": "yes" if looked_up else "no",
                }
            )
    return rows, meter


# ---------------------------------------------------------------- the check


@guard(returns="True or False")
def check(candidate: Rule) -> LabVerdict:
    """Both choices with fifteen confidences each, usable and not."""
    said = {
        (choice, sure): candidate(Routed(choice, sure)) for choice, sure in product((YES, NO), CONFIDENCES)
    }
    if strange := [case for case, found in said.items() if not isinstance(found, bool)]:
        return failed(
            "no_bool", f"for {_named(strange[0])} you returned {said[strange[0]]!r}; return True or False"
        )
    boxes = {
        box: [case for case in said if _box(*case) == box]
        for box in product((YES, NO), ("sure", "unsure", "unusable"))
    }
    skipped = {box: [case for case in cases if not said[case]] for box, cases in boxes.items()}
    looked_up = [case for case in boxes[NO, "sure"] if said[case]]
    if skipped[YES, "unsure"] and looked_up and not skipped[YES, "sure"]:
        return failed(
            "confidence_of_what",
            f"{_named(skipped[YES, 'unsure'][0])} is answered from memory and {_named(looked_up[0])} is looked up. You read the "
            'confidence as "how much is retrieval needed"; it says how sure the router is of its choice, and you '
            "need the choice to know of what",
        )
    for box, diagnosis, lesson in _SKIPS:
        if cases := skipped[box]:
            return failed(
                diagnosis,
                f"{_named(cases[0])} is answered from memory ({len(cases)} of {len(boxes[box])} such replies). {lesson}",
            )
    if looked_up:
        return failed(
            "nothing_is_skipped",
            f"{_named(looked_up[0])} is looked up ({len(looked_up)} of {len(boxes[NO, 'sure'])} such replies). A router that "
            "cannot save a search costs a call for each question and saves nothing",
        )
    return passed(
        f"{len(said)} replies: only the {len(boxes[NO, 'sure'])} that are a no with a confidence from {SURE} to 1 are answered from memory"
    )


CONFIDENCES = (0.6, 0.5, 0.69, 0.4, 0.2, 0.0, 0.9, 0.7, 0.71, 0.95, 1.0, None, 85.0, 1.01, -0.5)


def _box(choice: Retrieve, confidence: float | None) -> tuple[Retrieve, str]:
    if confidence is None or not 0 <= confidence <= 1:
        return choice, "unusable"
    return choice, "sure" if confidence >= SURE else "unsure"


def _named(case: tuple[Retrieve, float | None]) -> str:
    choice, confidence = case
    return f"({choice}, {confidence})"


#: The boxes that may not be skipped, the worst first.
_SKIPS = (
    ((YES, "sure"), "sure_yes_is_skipped", "The router is sure that documents are needed."),
    ((YES, "unsure"), "unsure_yes_is_skipped",
     "The router leans towards looking up. That it is unsure is no reason to trust the model's memory."),
    ((NO, "unsure"), "unsure_no_is_skipped",
     "The router leans towards memory and is not sure of it. Looking up is the safe side."),
    ((NO, "unusable"), "unusable_is_trusted",
     "A confidence that is missing, or lies outside 0 to 1, says nothing about how sure the router is."),
    ((YES, "unusable"), "unusable_yes_is_skipped",
     "The router wants to look it up, and gave no usable number. There is no reason here to skip."),
)  # fmt: skip
