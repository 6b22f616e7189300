"""A cache that finds questions by cosine and serves what it finds: "before" gets the answer to "after".

The similarities are measured, with all-MiniLM-L6-v2; nothing here computes one.
Taught in notebooks/labs/47_leaks.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges
from cookbook.schema import Status

LAB = Lab(
    module=__name__,
    title="The answer to the opposite question",
    difficulty=2,
    minutes=20,
    you_will=(
        "say what a cached answer depends on, and let a cache serve it only to a question that asks the same"
    ),
    symptom=(
        "Since answers are cached, half of all requests cost nothing. A customer who asked what she can do "
        "*before* she cancels was told what she can do after."
    ),
    task=(
        "Write `may_reuse(asked, entry, similarity)`: may the answer of `entry` be given to `asked`? Both "
        "have a `.question`, an `.index` (the version of the indexed handbook) and a `.workspace` (whose "
        "documents were searched); the entry also has a `.status`. Say `True` only if the similarity is at "
        "least `CLOSE`, index and workspace are the same, the entry is an answer (`Status.ANSWERED`), and "
        "both questions have the same words in the same order. Case, punctuation at the ends of a word "
        "(`MARKS`) and the words in `SMALL` do not count; every other word does."
    ),
    hints=(
        "Sort the table by similarity: the nearest pair of all asks two different things. Then read two such "
        "questions side by side. How many words make the difference, and how long are they?",
        "`[word for word in (w.strip(MARKS).lower() for w in question.split()) if word not in SMALL]` for "
        "both questions, compared with `==` as *lists*: a set forgets who invites whom. The other three "
        "conditions are comparisons of fields.",
    ),
    in_the_wild=(
        "\"Turn on\" and \"turn off dark mode\" lay above the threshold of vLLM's semantic router, which "
        "served one answer to both, and no threshold helped: real paraphrases lay lower "
        "(vllm-project/semantic-router, issue 2691; the mend is a check of words). GPTCache was shown the "
        "same, with nine embedders: the reversal of a question scored .83 to .9997 (zilliztech/GPTCache, "
        "issue 694)."
    ),
    transfer=(
        "A colleague caches the support judge in the same way: the nearest *answer* that was judged gives "
        "its verdict. Which two answers will share a verdict first, and what is the difference to a cache "
        "keyed by the exact text?"
    ),
    answer=(
        "An answer and its negation: \"you need a licence\" was supported, \"you need no licence\" lies at "
        ".95 or more and is supported too. So the one check that should see the difference is answered by "
        "the comparison that cannot. The exact text of question, answer, passages and model is safe: the "
        "same judge would say the same again. Verdicts are never served by similarity."
    ),
    pitfall=(
        "They raise the threshold until their examples come out right. Ask for the nearest pair of the "
        "table: at .995 it is \"Can a guest invite a member?\" and \"Can a member invite a guest?\", as near "
        "as a question is to itself without its question mark."
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A question that arrives, and what its answer depends on besides."""

    question: str
    index: str = "handbook-7"
    workspace: str = "acme"


@dataclass(frozen=True)
class Entry(Asked):
    """A question that was answered before, and how it ended."""

    status: Status = Status.ANSWERED


Rule = Callable[[Asked, Entry, float], bool]

CLOSE = 0.95
MARKS = "?!.,;:()'\""
SMALL = frozenset("a an the is are do does can could may i my we our you your please of for".split())
"""Words in which two ways of asking the same may differ."""


@dataclass(frozen=True)
class Pair:
    """A question in the cache and one that comes later. ``kind`` says how they differ, "same" that they ask the same.

    ``similarity`` is the cosine of their MiniLM vectors, to three decimals.
    """

    before: str
    asked: str
    similarity: float
    kind: str


PAIRS = (
    Pair("Can I export my data after I cancel my plan?", "Can I export my data before I cancel my plan?", 0.988, "time"),
    Pair("Can I remove a seat after the renewal date?", "Can I remove a seat before the renewal date?", 0.980, "time"),
    Pair("Which kinds of notification can I switch off?", "Which kinds of notification can I not switch off?", 0.982, "negation"),
    Pair("Which projects count toward the Starter limit?", "Which projects do not count toward the Starter limit?", 0.979, "negation"),
    Pair("How do I switch quiet hours on?", "How do I switch quiet hours off?", 0.970, "on or off"),
    Pair("Can members sign in with a password?", "Can members sign in without a password?", 0.951, "on or off"),
    Pair("Is the export deleted after 30 days?", "Is the export deleted after 35 days?", 0.975, "number"),
    Pair("Can a guest invite a member?", "Can a member invite a guest?", 0.995, "order"),
    Pair("Can an admin remove the owner?", "Can the owner remove an admin?", 0.963, "order"),
    Pair("How long is a sync token valid?", "how long is a sync token valid", 0.995, "same"),
    Pair("How long is a sync token valid?", "For how long is a sync token valid?", 0.992, "same"),
    Pair("How long is a sync token valid?", "How long is the sync token valid?", 0.991, "same"),
    Pair("How do I retire a board?", "How can I retire a board?", 0.993, "same"),
    Pair("How long does the download link of an export stay valid?", "How long does an export's download link stay valid?", 0.993, "same, other words"),
    Pair("Can I export my data after I cancel my plan?", "Can I still export my data after cancelling my plan?", 0.989, "same, other words"),
    Pair("How many guests can a Studio workspace have?", "How many guests can a workspace on Studio have?", 0.987, "same, other words"),
)  # fmt: skip


# ---------------------------------------------------------------- the code


def near_enough(asked: Asked, entry: Entry, similarity: float) -> bool:
    """The rule as it was."""
    return similarity >= CLOSE


def may_reuse(asked: Asked, entry: Entry, similarity: float) -> bool:
    """True if the entry answers the same question, asked of the same documents."""
    ### BEGIN SOLUTION

    def words(question: str) -> list[str]:
        said = (word.strip(MARKS).lower() for word in question.split())
        return [word for word in said if word not in SMALL]

    return (
        similarity >= CLOSE
        and entry.status is Status.ANSWERED
        and (asked.index, asked.workspace) == (entry.index, entry.workspace)
        and words(asked.question) == words(entry.question)
    )
    ### END SOLUTION


def broken() -> Rule:
    return near_enough


def solution() -> Rule:
    return may_reuse


# ---------------------------------------------------------------- a day of questions


def serve(rule: Rule) -> tuple[list[dict[str, Any]], Meter]:
    """A row for each later question of ``PAIRS``: was it served from the cache, and is that right? A miss costs two calls."""
    judges, rows = Judges(), []
    with metered(Meter()) as meter:
        for pair in PAIRS:
            hit = rule(Asked(pair.asked), Entry(pair.before), pair.similarity)
            if not hit:
                hits = judges.store.retrieve(pair.asked, 1)
                judges.support(pair.asked, judges.generate(pair.asked, hits), hits)
            same = pair.kind.startswith("same")
            rows.append(
                {
                    "asked": pair.asked,
                    "nearest before": pair.before,
                    "similarity": f"{pair.similarity:.3f}",
                    "served": "yes" if hit else "no",
                    "the answer is": "-" if not hit else "right" if same else "WRONG",
                }
            )
    return rows, meter


# ---------------------------------------------------------------- the check


@guard(returns="True or False")
def check(candidate: Rule) -> LabVerdict:
    """Nine pairs that ask different things, four that ask the same, and the same question under other circumstances."""
    said = {pair: candidate(Asked(pair.asked), Entry(pair.before), pair.similarity) for pair in PAIRS}
    if strange := next((pair for pair in said if not isinstance(said[pair], bool)), None):
        return failed(
            "no_bool", f"for {_named(strange)} you returned {said[strange]!r}; return True or False"
        )
    if (verdict := _different(said)) is not None:
        return verdict
    for asked, entry, diagnosis, lesson in CIRCUMSTANCES:
        if candidate(asked, entry, 1.0):
            return failed(
                diagnosis, f"{asked.question!r}, word for word in the cache: you say True, but {lesson}"
            )
    missed = [pair for pair in PAIRS if pair.kind == "same" and not said[pair]]
    if not candidate(ASKED, ENTRY, 1.0) or len(missed) == 4:
        return failed(
            "never_a_hit",
            f"{len(missed)} of 4 pairs that ask the same are missed, such as "
            f"{_named(missed[0]) if missed else repr(ASKED.question)}. A cache that serves nobody costs a "
            "look-up for each question",
        )
    if missed:
        return failed(
            "paraphrase_missed",
            f"{_named(missed[0])} is missed ({len(missed)} of 4 such pairs). They differ in case, a mark, or "
            "a word of SMALL, and ask the same",
        )
    rows, meter = serve(candidate)
    hits = sum(row["served"] == "yes" for row in rows)
    return passed(
        f"{hits} of {len(rows)} questions are served from the cache, none of them wrong; three paraphrases "
        f"in other words are asked again, which costs two calls each ({meter.calls} calls in all). Index, "
        "workspace and status are looked at"
    )


def _different(said: dict[Pair, bool]) -> LabVerdict | None:
    """The first pair of different questions that was served; None when none was."""
    different = [pair for pair in PAIRS if not pair.kind.startswith("same")]
    wrong = [pair for pair in different if said[pair]]
    right = [pair.similarity for pair in different if not said[pair]]
    if not wrong:
        return None
    saw = f"{_named(wrong[0])} is served from the cache ({len(wrong)} of {len(different)} such pairs)"
    if len(wrong) == len(different):
        return failed(
            "cosine_decides",
            f"{saw}. To an embedder one word of eight is a small difference, whichever word it is. Let the "
            "similarity find the entry and the words decide",
        )
    if min(pair.similarity for pair in wrong) > max(right):
        return failed(
            "higher_threshold",
            f"{saw}. You ask for more than {max(right):.3f}, and this pair lies at "
            f"{wrong[0].similarity:.3f}; so does a question to itself without its question mark. There is no "
            "threshold between them",
        )
    return failed(*_KINDS[wrong[0].kind](saw))


def _named(pair: Pair) -> str:
    return f"{pair.asked!r} after {pair.before!r} at {pair.similarity:.3f}"


_KINDS: dict[str, Callable[[str], tuple[str, str]]] = {
    "time": lambda saw: ("time_missed", (
        f"{saw}. The word that differs says when: every word counts that is not in SMALL"
    )),
    "negation": lambda saw: ("negation_missed", (
        f"{saw}. One has a `not` and the other has none: it is short, and not in SMALL"
    )),
    "on or off": lambda saw: (
        "small_word_dropped",
        f"{saw}. `on` and `off`, `with` and `without` are short and turn the question round. Leave out the "
        "words of SMALL and no others",
    ),
    "number": lambda saw: ("number_missed", (
        f"{saw}. A number is a word too, and a different one is another question"
    )),
    "order": lambda saw: ("order_ignored", (
        f"{saw}. The words are the same; who does it to whom is in their order. Compare lists, not sets"
    )),
}  # fmt: skip

ASKED = Asked("Can I export my data after I cancel my plan?")
ENTRY = Entry(ASKED.question)
CIRCUMSTANCES = (
    (replace(ASKED, index="handbook-8"), ENTRY, "stale_index",
     "the answer was written from handbook-7 and the index is handbook-8 now. What it rests on may be gone"),
    (replace(ASKED, workspace="globex"), ENTRY, "other_workspace",
     "the answer was written from the documents of acme, and globex asks. A cache is no way round who may "
     "read what"),
    (ASKED, replace(ENTRY, status=Status.REFUSED), "refusal_cached",
     "what is in the cache is a refusal. It may have been an outage; served again, it outlives it"),
    (ASKED, replace(ENTRY, status=Status.FAILED), "refusal_cached",
     "what is in the cache is a request that failed. Served again, the failure outlives its cause"),
)  # fmt: skip
