"""Evidence that nobody looked up: the judge quotes a passage that does not say so, and the quote is believed.

Taught in notebooks/labs/46_support.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.published import revise
from cookbook.published.graphs import Run, run
from cookbook.published.models import Judges, Shelf
from cookbook.reflect.claims import sentences
from cookbook.reflect.quotes import FEWEST_WORDS
from cookbook.schema import Support

LAB = Lab(
    module=__name__,
    title="The quote that stands nowhere",
    difficulty=2,
    minutes=20,
    you_will="look a judge's evidence up, and decide what its verdict is worth without any",
    symptom=(
        "Every answer now comes with verbatim evidence, in quotation marks, from the support judge. A customer opened the chapter and did not "
        "find the sentence."
    ),
    task=(
        "Write `verify(level, quotes, passages)`: the level of support that is left once the quotes were looked up. A quote counts when it stands in *one* of the "
        "passages, word for word; white space may differ (passages have line breaks), nothing else may. A quote of one word does "
        "not count (`FEWEST_WORDS` is 2). If no quote counts, the level is `Support.NONE`. If some count and others do not, it is at most `PARTIALLY`. If all count, it is the "
        "judge's own `level`. It is never raised."
    ),
    hints=(
        "Search the passages for the quote yourself (`text in passage`). If it is nearly there, which word is different? And what does the published "
        "node do with `quotes` before it returns?",
        "Flatten both sides with `\" \".join(text.split())`, and look in each passage separately. Then count: no quote found, some, all. `Support.rank` "
        "orders the levels, so the lower of two is `min(level, Support.PARTIALLY, key=lambda support: support.rank)`.",
    ),
    in_the_wild=(
        "A research agent that was asked to quote what it cites gave six quotations; none of the six stood in any of the 192 documents (Open-Source-Legal/OpenContracts, issue "
        "2189). In garrytan/gbrain, pull request 4706, 694 of 7,202 quotes that had been stored as verbatim were not in the text that the model had been given."
    ),
    transfer=(
        "Models change a comma or a dash, and honest quotes are rejected. A colleague replaces the look-up by a similarity of at least 0.92 (difflib). Which quote "
        "about the retention window does that let through, and what could you do about the dash instead?"
    ),
    answer=(
        "\"a retention window of 90 days begins\" for \"a retention window of 30 days begins\": one character of 36. What is likely to be invented, a number, a \"not\", is "
        "small. Make both sides equal where equality does not matter (white space, kinds of dashes and quotation marks), and then "
        "compare exactly."
    ),
    pitfall=(
        "They test `all(...)` and forget that it is true of an empty list: a judge that gives no evidence is then believed best of all. And they join the passages first, so "
        "that a quote may run from one into the next."
    ),
)  # fmt: skip

Verify = Callable[[Support, Sequence[str], Sequence[str]], Support]

NONE, PARTIALLY, FULLY = Support.NONE, Support.PARTIALLY, Support.FULLY

QUESTION = "Can I export my data after I cancel my plan?"
DRAFT = "Yes. After the cancellation you have 90 days in which the owner can export everything."
QUOTES = (
    "a retention window of 90 days begins",
    "The owner may still sign in, look at everything and export the data.",
)


# ---------------------------------------------------------------- the code


def believed(level: Support, quotes: Sequence[str], passages: Sequence[str]) -> Support:
    """The published node: the quotes are kept as evidence, and the level stands."""
    return level


def verify(level: Support, quotes: Sequence[str], passages: Sequence[str]) -> Support:
    """The judge's level, lowered to what its quotes bear out.

    A quote counts when one passage holds it, white space aside, and it has FEWEST_WORDS words or more.
    """
    ### BEGIN SOLUTION
    held = [" ".join(passage.split()) for passage in passages]
    flat = [" ".join(quote.split()) for quote in quotes]
    counts = [
        len(quote.split()) >= FEWEST_WORDS and any(quote in passage for passage in held) for quote in flat
    ]
    if not any(counts):
        return Support.NONE
    return level if all(counts) else min(level, Support.PARTIALLY, key=lambda support: support.rank)
    ### END SOLUTION


def broken() -> Verify:
    return believed


def solution() -> Verify:
    return verify


def ask() -> Run:
    """The published revise graph, whose judge calls an invented answer fully supported and quotes for it."""
    judges = Judges(generate=lambda question, hits, feedback: DRAFT, support=(Support.FULLY, QUOTES))
    return run(revise.build(judges), revise.fresh_state(QUESTION))


def look_up(done: Run) -> list[dict[str, str]]:
    """A row for each quote of a request: whether one of its passages holds it, and the sentence that is nearest to it."""
    held = [" ".join(hit.text.split()) for hit in done.state["kept"]]
    said = [sentence for hit in done.state["kept"] for sentence in sentences(hit.text)]
    return [
        {
            "quote": quote,
            "found": "yes" if any(quote in text for text in held) else "NO",
            "nearest sentence": max(said, key=lambda sentence: len({*sentence.split()} & {*quote.split()})),
        }
        for quote in done.state["evidence"]
    ]


# ---------------------------------------------------------------- the check


@cache
def passages() -> tuple[str, ...]:
    """Two neighbouring sections of the handbook, as the judge saw them."""
    found = {hit.chunk_id: hit.text for hit in Shelf.of("larkspur").retrieve(QUESTION, 100)}
    return found["cancellation.md#1"], found["data-export.md#2"]


@guard(returns="a Support")
def check(candidate: Verify) -> LabVerdict:
    """Twelve replies of a judge about two sections of the handbook."""
    for case in cases():
        found: Any = candidate(case.level, case.quotes, passages())
        if not isinstance(found, Support):
            return failed("no_support", f"{case.name}: you returned {found!r}; return a Support")
        if found is not case.left:
            return failed(
                case.diagnosis,
                f"{case.name}: the judge says {case.level} and quotes {_listed(case.quotes)}; you leave it at {found}, and it is {case.left}. {case.lesson}",
            )
    return passed(
        f"{len(cases())} replies: invented quotes, quotes across two passages, quotes of one word and no quotes at all count for nothing; honest ones keep the judge's level"
    )


def _listed(quotes: Sequence[str]) -> str:
    return " and ".join(repr(" ".join(quote.split())) for quote in quotes) or "nothing"


@dataclass(frozen=True)
class Case:
    """A judge's reply, what is left of its level, and the diagnosis for leaving something else."""

    name: str
    level: Support
    quotes: tuple[str, ...]
    left: Support
    diagnosis: str
    lesson: str


@cache
def cases() -> tuple[Case, ...]:
    first, second = (" ".join(text.split()) for text in passages())
    days, owner = "a retention window of 30 days begins", QUOTES[1]
    link = "The link stays valid for 72 hours and allows 5 downloads."
    across = f"{' '.join(first.split()[-4:])} {' '.join(second.split()[:4])}"
    elsewhere = "support can extend the window on request"
    return (
        Case("an invention", FULLY, (elsewhere,), NONE, "invention_believed", "No passage says anything of the kind."),
        Case("a changed number", FULLY, (QUOTES[0],), NONE, "nearly_is_enough",
             "The handbook says 30 days. One character makes the difference, and it is the one that matters."),
        Case("an honest quote", FULLY, (days,), FULLY, "honest_quote_rejected", "It stands in the first passage, word for word."),
        Case("an honest quote over a line break", FULLY, (owner.replace(" export", "\n export"), link.replace("and", " and")), FULLY,
             "honest_quote_rejected", "White space may differ; the words are the same."),
        Case("a true quote and a changed one", FULLY, (owner, QUOTES[0]), PARTIALLY, "one_quote_vouches",
             "One quote stands, the other does not: what rests on it is not supported."),
        Case("a changed quote and a true one", FULLY, (QUOTES[0], link), PARTIALLY, "one_quote_vouches",
             "One quote stands, the other does not: what rests on it is not supported."),
        Case("no evidence", FULLY, (), NONE, "no_quote_no_doubt", "all() of no quotes is True; a judge without evidence is not a better one."),
        Case("a quote of one word", FULLY, ("days",), NONE, "a_word_is_no_quote",
             f"It stands in almost any passage. A quote has at least {FEWEST_WORDS} words."),
        Case("a quote across two passages", FULLY, (across,), NONE, "across_passages",
             "It begins at the end of one passage and ends in the next; nobody wrote it."),
        Case("not supported, with a true quote", NONE, (days,), NONE, "level_raised", "That a quote is true does not mean that it supports the answer."),
        Case("partly supported, with true quotes", PARTIALLY, (days, link), PARTIALLY, "level_raised",
             "The quotes stand, and the judge still found only a part supported."),
        Case("not supported, with one true quote of two", NONE, (days, elsewhere), NONE, "level_raised",
             "The level may be lowered by the quotes, and never raised."),
    )  # fmt: skip
