"""Similarity taken for support: the opposite of a sentence has almost all of its words, and most of its vector.

The cosines are those of a real embedder, out of recordings/embeddings; the entailment judge is a script.
Taught in notebooks/labs/46_support.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges
from cookbook.reflect.entailment import EntailmentLabel
from cookbook.reflect.numbers import unstated_numbers

LAB = Lab(
    module=__name__,
    title="The same words, the other way round",
    difficulty=3,
    minutes=25,
    you_will="say why similarity is no support, and guard an entailment judge against the numbers it does not read",
    symptom=(
        "A customer was told that changing her password revokes her tokens. The handbook says that it does not. The answer had passed the support "
        "check with 0.91."
    ),
    task=(
        "Write `supported(claim, passage, judge)`. `judge(passage, claim)` is an entailment model: it says `\"entail\"`, `\"neutral\"` or `\"contradict\"`, "
        "and does not read numbers carefully. A claim is supported when the passage entails it *and* states each of its numbers, with its unit: 14 times within 4 days "
        "are not 4 times within 14 days, and 60 minutes are 1 hour."
    ),
    hints=(
        "In the picture, try to put a line between the two colours. Then look at the pair with 0.998: which of the "
        "two checks, meaning or numbers, should have stopped it?",
        "Only \"entail\" counts; \"neutral\" means that the passage does not say. For the numbers, comparing digits is not enough: "
        "`cookbook.reflect.numbers.unstated_numbers(claim, passage)` lists those of the claim that the passage does not state, units converted.",
    ),
    in_the_wild=(
        "arXiv 2504.00584 finds that current text embedding models often take a sentence and its negation for similar in meaning. For the numbers: "
        "on EQUATE (arXiv 1901.03735), nine published entailment models were on average no better than guessing the commonest label when the "
        "conclusion depended on a quantity. cookbook/reflect/numbers.py lists what our own guard does not see."
    ),
    transfer=(
        "The passage says \"3 features and 12 bugs\", the answer \"12 features and 3 bugs\". Your guard compares the *set* of numbers in both. What does "
        "it say, and what must be compared instead?"
    ),
    answer=(
        "It says that they agree: {3, 12} both times. Compare pairs, a number with what it counts: (3, feature) stands in the passage, "
        "(12, feature) does not. And bring the units to one another first, or an honest \"60 minutes\" for \"1 hour\" is rejected."
    ),
    pitfall=(
        "They raise the threshold. Let them find one that keeps the honest claim with 0.670 and drops the false one with 0.733. The next idea is to count negations (\"not\" "
        "in one and not in the other), which off and on, and the swapped numbers, walk past."
    ),
)  # fmt: skip

Judge = Callable[[str, str], EntailmentLabel]
Supported = Callable[[str, str, Judge], bool]

QUESTION = "Do my tokens survive a new password?"
CUT = 0.7


@dataclass(frozen=True)
class Pair:
    """A sentence of the handbook, a claim about it, what the scripted judge says, and whether the claim is true.

    The judge reads negations and not numbers. ``kind`` says what was done to the sentence.
    """

    passage: str
    claim: str
    says: EntailmentLabel
    true: bool
    kind: str


TOKENS = "Changing your password does not revoke your tokens."
LINK = "An expired link cannot be renewed: start a new export."
AUTOMATIONS = "Automations stay off until they are switched on."
PAYMENT = "When a payment fails, Larkspur tries it again 4 times within 14 days."
EXPIRES = "A personal token expires 90 days after it was made."
INVOICE = "Paying the open invoice lifts the restriction within 1 hour."

PAIRS = (
    Pair(TOKENS, "Your tokens are revoked when you change your password.", "contradict", False, "opposite"),
    Pair(TOKENS, "Your tokens go on working after you change your password.", "entail", True, "paraphrase"),
    Pair(LINK, "An expired link can be renewed.", "contradict", False, "opposite"),
    Pair(LINK, "You cannot renew a link that has expired.", "entail", True, "paraphrase"),
    Pair(AUTOMATIONS, "Automations stay on until they are switched off.", "contradict", False, "antonyms"),
    Pair(AUTOMATIONS, "Until somebody switches them on, automations remain off.", "entail", True, "paraphrase"),
    Pair(EXPIRES, "A personal token expires 30 days after it was made.", "entail", False, "number changed"),
    Pair(PAYMENT, "When a payment fails, Larkspur tries it again 14 times within 4 days.", "entail", False, "numbers swapped"),
    Pair(PAYMENT, "A failed payment is tried again four times in two weeks.", "entail", True, "other units"),
    Pair(INVOICE, "The restriction is lifted within 60 minutes of paying the invoice.", "entail", True, "other units"),
    Pair(EXPIRES, "A personal token can be made again after 90 days.", "neutral", False, "not stated"),
)  # fmt: skip


# ---------------------------------------------------------------- the code


@cache
def cosine(a: str, b: str) -> float:
    """The cosine of two sentences by all-minilm-l6-v2, recorded; ReplayMiss for one that is not in ``PAIRS``."""
    from cookbook.embedders import get_embedder

    first, second = get_embedder("replay").embed([a, b])
    return float(first @ second)


def similar_enough(claim: str, passage: str, judge: Judge) -> bool:
    """The support check as it was: what is close in meaning is supported."""
    return cosine(claim, passage) >= CUT


def supported(claim: str, passage: str, judge: Judge) -> bool:
    """True when the passage entails the claim and states each of its numbers."""
    ### BEGIN SOLUTION
    return judge(passage, claim) == "entail" and not unstated_numbers(claim, passage)
    ### END SOLUTION


def broken() -> Supported:
    return similar_enough


def solution() -> Supported:
    return supported


def scripted_judge(passage: str, claim: str) -> EntailmentLabel:
    """The entailment model of this lab, which knows ``PAIRS``."""
    return next(pair.says for pair in PAIRS if (pair.passage, pair.claim) == (passage, claim))


def ask(candidate: Supported) -> tuple[str, Meter]:
    """One question, answered wrongly from the right passage and checked once: what the customer reads, and what
    the calls used."""
    wrong = PAIRS[0]
    judges = Judges(generate=lambda question, hits, feedback: wrong.claim)
    with metered(Meter()) as meter:
        answer = judges.generate(QUESTION, judges.store.retrieve(QUESTION, 5))
    return answer if candidate(answer, wrong.passage, scripted_judge) else "", meter


# ---------------------------------------------------------------- the check


@guard(returns="True or False")
def check(candidate: Supported) -> LabVerdict:
    """Eleven claims about six sentences; of each we know whether the sentence supports it."""
    for kind, diagnosis, lesson in _MISTAKES:
        pairs = [pair for pair in PAIRS if pair.kind == kind]
        said: dict[Pair, Any] = {pair: candidate(pair.claim, pair.passage, scripted_judge) for pair in pairs}
        if strange := [pair for pair in pairs if not isinstance(said[pair], bool)]:
            return failed(
                "no_bool", f"for {strange[0].claim!r} you returned {said[strange[0]]!r}; return True or False"
            )
        if wrong := [pair for pair in pairs if said[pair] is not pair.true]:
            pair = wrong[0]
            return failed(
                diagnosis,
                f"the handbook says {pair.passage!r}, the answer {pair.claim!r}: you call it {'supported' if said[pair] else 'unsupported'} "
                f"(cosine {cosine(pair.claim, pair.passage):.3f}, the judge says {pair.says}). {len(wrong)} of {len(pairs)} such claims go wrong. {lesson}",
            )
    true = [pair for pair in PAIRS if pair.true]
    return passed(
        f"{len(PAIRS)} claims: {len(true)} honest ones pass, with cosines from {min(_cosines(True)):.3f}; {len(PAIRS) - len(true)} others are stopped, with "
        f"cosines up to {max(_cosines(False)):.3f}"
    )


def _cosines(true: bool) -> list[float]:
    return [cosine(pair.claim, pair.passage) for pair in PAIRS if pair.true is true]


#: kind of claim, diagnosis when it is misjudged, what follows from it; the worst mistake first.
_MISTAKES = (
    ("opposite", "opposite_passes", "It states the opposite, in nearly the same words."),
    ("antonyms", "antonym_passes", "There is no \"not\" in either sentence, and they are opposites: counting negations does not see it."),
    ("paraphrase", "paraphrase_rejected", "It says the same in other words; an honest answer would be refused."),
    ("not stated", "neutral_passes", "The passage does not say so. Only \"entail\" is support; \"neutral\" is not."),
    ("number changed", "number_changed", "The judge does not read numbers carefully, so somebody else must."),
    ("numbers swapped", "numbers_swapped", "Both sentences hold the same numbers; what each of them counts is another thing."),
    ("other units", "equal_numbers_rejected", "The numbers are equal: four is 4, two weeks are 14 days, 60 minutes are 1 hour."),
)  # fmt: skip
