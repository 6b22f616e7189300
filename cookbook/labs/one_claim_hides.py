"""An answer judged as a lump: three true sentences carry an invented fourth through the support check.

Taught in notebooks/labs/46_support.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges, Shelf, in_turn
from cookbook.published.nli_loop import WordEntailment
from cookbook.reflect.claims import sentences
from cookbook.reflect.terms import content_words
from cookbook.schema import Support

LAB = Lab(
    module=__name__,
    title="Three true sentences and one more",
    difficulty=2,
    minutes=20,
    you_will="check an answer claim by claim, and let the worst claim decide",
    symptom=(
        "The support check passes about every answer that is mostly right. The invented sentences that customers complain about all stood "
        "among true ones."
    ),
    task=(
        "Write `check_claims(answer, passages, entails)`. Take the sentences of the answer as its claims; `sentences(answer)` gives them. A claim is "
        "supported when *one* of the passages entails it (`entails(passage, claim)`). Return a pair: the level, `Support.FULLY` when every claim "
        "is supported, `PARTIALLY` when some are, `NONE` when none is; and the list of the claims that are not. A blank answer claims "
        "nothing, and nothing supports it: `(Support.NONE, [])`."
    ),
    hints=(
        "The whole-answer judge gives a number between 0 and 1 and a line at 0.8. What does the number become when one of four sentences "
        "is invented? And when it is one of ten?",
        "Collect the claims for which `any(entails(passage, claim) for passage in passages)` is false. The level follows from how many "
        "they are: none of them, all of them, or something between. Mind the answer that has no claims.",
    ),
    in_the_wild=(
        "FActScore (arXiv 2305.14251) was made because long answers mix supported and unsupported statements, so that one judgement of the whole "
        "says little: of the facts in ChatGPT's biographies 58 percent were supported. Its score is the *share* of supported facts, which is right for comparing "
        "models. A check that lets one answer out needs the minimum."
    ),
    transfer=(
        "A team reports the mean share of supported claims: 0.97 this week. Claims come in answers of five. In what share of the answers "
        "may a reader meet an invention, at least and at most?"
    ),
    answer=(
        "Between 3 and 15 percent. Three of a hundred claims are invented; if they come together in the same answers, five at a time, that is 3 "
        "percent of the answers, and if each stands alone in its answer, 15. The mean over claims cannot tell the two apart; count answers with "
        "at least one."
    ),
    pitfall=(
        "They ask whether one passage supports the *whole* answer, and reject every honest answer that draws on two. Or they split at full stops and cut "
        "28.4 in half. And `all([])` is true: half of the first attempts pass the blank answer."
    ),
)  # fmt: skip

Entails = Callable[[str, str], bool]
Checked = tuple[Support, list[str]]
Check = Callable[[str, Sequence[str], Entails], Checked]

QUESTION = "How do I get at my export, and for how long?"
SOURCES = ("data-export.md#2", "data-export.md#1")
TRUE = (
    "Preparing an export takes from a few minutes to 6 hours.",
    "The link stays valid for 72 hours and allows 5 downloads.",
    "It works only for the person who started the export.",
)
INVENTED = "An expired link can be renewed by support for 30 days."
ENOUGH = 0.8


@cache
def passages() -> tuple[str, ...]:
    """The two sections of the handbook that the answer was written from."""
    found = {hit.chunk_id: hit.text for hit in Shelf.of("larkspur").retrieve(QUESTION, 100)}
    return tuple(found[source] for source in SOURCES)


# ---------------------------------------------------------------- the code


def share_supported(answer: str, passages: Sequence[str]) -> float:
    """What share of an answer's content words the passages hold: the script behind the whole-answer judge."""
    words = content_words(answer)
    return len(words & content_words("\n".join(passages))) / max(len(words), 1)


def judged_as_a_whole(answer: str, passages: Sequence[str], entails: Entails) -> Checked:
    """One question about the whole answer, and yes when most of it is supported."""
    return (Support.FULLY if share_supported(answer, passages) >= ENOUGH else Support.NONE), []


def check_claims(answer: str, passages: Sequence[str], entails: Entails) -> Checked:
    """The level of support of an answer, and those of its sentences that no single passage entails.

    A blank answer has no support.
    """
    ### BEGIN SOLUTION
    claims = sentences(answer)
    unsupported = [claim for claim in claims if not any(entails(passage, claim) for passage in passages)]
    if len(unsupported) == len(claims):
        return Support.NONE, unsupported
    return (Support.PARTIALLY if unsupported else Support.FULLY), unsupported
    ### END SOLUTION


def broken() -> Check:
    return judged_as_a_whole


def solution() -> Check:
    return check_claims


def judge_answers(*answers: str) -> tuple[list[dict[str, Any]], Meter]:
    """Write each answer from the two passages and let the judge look at it as a whole: a row for each, and what
    the calls used."""
    replies = {
        answer: judged_as_a_whole(answer, passages(), WordEntailment().entails)[0] for answer in answers
    }
    judges = Judges(generate=in_turn(*answers), support=lambda question, answer, hits: replies[answer])
    hits = [hit for hit in judges.store.retrieve(QUESTION, 100) if hit.chunk_id in SOURCES]
    rows: list[dict[str, Any]] = []
    with metered(Meter()) as meter:
        for _ in answers:
            answer = judges.generate(QUESTION, hits)
            said = judges.support(QUESTION, answer, hits)
            share = share_supported(answer, passages())
            rows.append(
                {"sentences": len(sentences(answer)), "share supported": share, "the judge says": said.value}
            )
    return rows, meter


# ---------------------------------------------------------------- the check


@guard(returns="a pair: the level of support and the list of unsupported claims")
def check(candidate: Check) -> LabVerdict:
    """Nine answers, of each of which we know which sentences the passages state."""
    entails = WordEntailment().entails
    for case in cases():
        found: Any = candidate(case.answer, case.passages, entails)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], Support)):
            return failed(
                "no_pair",
                f"{case.name}: you returned {found!r}; return (a Support, the list of unsupported claims)",
            )
        level, unsupported = found
        if level is not case.level:
            return failed(
                case.diagnosis,
                f"{case.name}: you say {level} and {list(unsupported)!r}; it is {case.level}. {case.lesson}",
            )
        if list(unsupported) != case.unsupported:
            return failed(
                "wrong_list",
                f"{case.name}: {level} is right, and you list {list(unsupported)!r} as unsupported; it should be {case.unsupported!r}. The list tells the "
                "writer what to leave out",
            )
    return passed(
        f"{len(cases())} answers: one invented sentence is found at each of four places, an answer from two passages is fully supported, and "
        "a blank one is not"
    )


@dataclass(frozen=True)
class Case:
    """An answer with its passages, what is right of it, and the diagnosis for saying something else."""

    name: str
    answer: str
    level: Support
    unsupported: list[str]
    diagnosis: str
    lesson: str
    passages: Sequence[str]


@cache
def cases() -> tuple[Case, ...]:
    here = passages()
    mixed = [
        Case(f"three true sentences and an invented one at place {at + 1}", " ".join([*TRUE[:at], INVENTED, *TRUE[at:]]),
             Support.PARTIALLY, [INVENTED], "the_rest_vouches_for_it",
             "The sentence on renewing stands in no passage, whatever stands beside it.", here)
        for at in (3, 0, 1, 2)
    ]  # fmt: skip
    other = "Support can renew it by telephone."
    return (
        *mixed,
        Case("two invented sentences", f"{INVENTED} {other}", Support.NONE, [INVENTED, other], "invention_has_support",
             "No sentence of it stands in a passage.", here),
        Case("an honest answer from two passages", f"{TRUE[1]} A workspace can start 4 exports in 24 hours.",
             Support.FULLY, [], "one_passage_for_all",
             "One sentence stands in the first passage, the other in the second; no passage has to hold both.", here),
        Case("an honest answer with a decimal", "The big Transformer reached a BLEU score of 28.4. The base model reached 27.3.",
             Support.FULLY, [], "cut_inside_a_number",
             "A full stop inside a number ends no sentence: use sentences(answer).",
             ["The big Transformer reached a BLEU score of 28.4. The base model reached 27.3, too."]),
        Case("words from two passages, put together by the writer", "On Starter the audit log goes back 90 days.",
             Support.NONE, ["On Starter the audit log goes back 90 days."], "passages_glued",
             "Each passage holds a half of it, and neither states it. Ask about one passage at a time.",
             ["Starter has no audit log.", "On Studio the log goes back 90 days."]),
        Case("a blank answer", " \n", Support.NONE, [], "nothing_is_supported",
             "It makes no claim, and all() of no claims is True.", here),
    )  # fmt: skip
