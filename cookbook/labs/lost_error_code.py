"""A rewriter that is free to rephrase: LK-504 on /v1/sync becomes "timeout help", and finds nothing of the kind.

Taught in notebooks/labs/44_queries.ipynb.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from cookbook.eval.sets import EvalRow, load_eval_set
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Judges, gold
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Reason, Relevance

LAB = Lab(
    module=__name__,
    title="LK-504 becomes \"timeout help\"",
    difficulty=2,
    minutes=20,
    you_will="check a rewritten query against its question, and put back the terms that may not be paraphrased",
    symptom=(
        "Since queries are rewritten, developers who paste an error code are told that the handbook says "
        "nothing about it. Each code has a section of its own."
    ),
    task=(
        "Write `keep_terms(question, query)`. `query` is what the rewriter made of `question`. Return it, "
        "followed by every *exact term* of the question that it lost, once each, in the question's order. A "
        "word is an exact term if it has a digit in it or begins with a slash: `LK-504`, `/v1/sync`, "
        "`10,000`, `v1.2.3`. Punctuation around a word (`MARKS`) does not belong to it, and case does not "
        "matter when you look whether the query still has it. A query without words (the rewriter failed) is "
        "replaced by the question."
    ),
    hints=(
        "Print `lost_error_code.REWRITES`: each question and what the rewriter made of it. Which words of a "
        "question have no synonym? And what would you have to add to a query that lost none?",
        "Split both texts at spaces and `strip(MARKS)` each word. Collect the words of the question that are "
        "exact and not among the *words* of the query (in lower case), each once (`dict.fromkeys` keeps the "
        "order), and join query and collection with spaces.",
    ),
    in_the_wild=(
        "RAGFlow's agentic search asks a model what a term might mean and searches for that: PE, in this "
        "archive a protective earthing conductor, became \"price-to-earnings; private equity; "
        "polyethylene\", and nothing was found (infiniflow/ragflow, issue 8619). In juyterman1000/entroly a "
        "rewrite with words mined from a first search moved the file that answers from rank 4 to rank 49 "
        "(pull request 208)."
    ),
    transfer=(
        "The question \"Which projects do *not* count toward the limit?\" is rewritten to \"projects that "
        "count toward the limit\". No digit and no slash was lost. Would you put the `not` back into the "
        "query, and what else must hold whatever you do?"
    ),
    answer=(
        "It can do no harm, and helps little: to BM25 `not` is a stop word, and embedders hardly move on it. "
        "A lost negation hurts where the answer is written and judged, so what must hold is that the query "
        "is for the search only and everybody else has the customer's question. Check both: terms in the "
        "query, negations and constraints at the judge. `lost_terms` in `cookbook/reflect/terms.py` reports "
        "all of them."
    ),
    pitfall=(
        "They test `if term in query`. Then LK-50 counts as kept because LK-504 holds it. The other first "
        "attempt appends the whole question: nothing is lost, and the rewrite is drowned in the words that "
        "had not worked."
    ),
)  # fmt: skip

Keeper = Callable[[str, str], str]

MARKS = "?!.,;:()'\"`*"
"""What may stand around a word and does not belong to it."""

#: The eight questions of the handbook's set that turn on a code, and what the rewriter made of each.
REWRITES = {
    "What does LK-504 on /v1/sync mean, and how do I get past it?": "timeout help",
    "I got LK-504 on /v1/tasks. What should I do?": "what to do after a timeout",
    "Why do I get LK-410?": "reason for an API error",
    "Which header tells me how long to wait after LK-429?": "header for the waiting time after lk-429",
    "Will a new token of the same kind make LK-403 go away?": "does a new token help",
    "My request failed with LK-413. How should I send the file?": "upload of a file failed",
    "After LK-422, are the valid fields of my request saved?": "partial save after LK-422",
    "What does error LK-409 tell me?": "meaning of an error code",
}


def keep_query(question: str, query: str) -> str:
    """The step as it was: what the rewriter says is searched for."""
    return query


def keep_terms(question: str, query: str) -> str:
    """The query, and behind it the exact terms of the question that it lost; the question for a query without words."""
    ### BEGIN SOLUTION
    if not query.strip():
        return question
    words = [word.strip(MARKS) for word in question.split()]
    exact = [word for word in words if word.startswith("/") or any(sign.isdigit() for sign in word)]
    has = {word.strip(MARKS).lower() for word in query.split()}
    lost = dict.fromkeys(word for word in exact if word.lower() not in has)
    return " ".join([query, *lost])
    ### END SOLUTION


def broken() -> Keeper:
    return keep_query


def solution() -> Keeper:
    return keep_terms


# ---------------------------------------------------------------- eight requests


@dataclass(frozen=True)
class Asked:
    """What came of one question. ``rank`` is that of the passage with the answer, None when it is not among the five."""

    row: EvalRow
    query: str
    rank: int | None
    text: str


def ask_handbook(keep: Keeper) -> tuple[list[Asked], Meter]:
    """The eight questions: rewrite, search, grade five passages, write from those that hold the answer."""
    asked = []
    judges = Judges(rewrite=lambda question, *given: REWRITES[question], relevance=gold("larkspur"))
    with metered(Meter()) as meter:
        for row in load_eval_set("larkspur"):
            if row.question in REWRITES:
                query = keep(row.question, judges.rewrite(row.question, row.question))
                hits = judges.store.retrieve(query, 5)
                kept = [hit for hit in hits if judges.relevance(row.question, hit) is Relevance.RELEVANT]
                text = judges.generate(row.question, kept) if kept else SENTENCES[Reason.NO_RELEVANT_PASSAGE]
                asked.append(Asked(row, query, hits.index(kept[0]) + 1 if kept else None, text))
    return asked, meter


# ---------------------------------------------------------------- the check


@guard(returns="the query to search for")
def check(candidate: Keeper) -> LabVerdict:
    """Sixteen pairs of question and query, then the eight questions against the handbook."""
    for case in CASES:
        found = candidate(case.question, case.query)
        if not isinstance(found, str):
            return failed("no_text", f"for {case.query!r} you returned {found!r}; return the query, a text")
        if (verdict := case.judge(found)) is not None:
            return verdict
    asked, _ = ask_handbook(candidate)
    missed = [one for one in asked if one.rank is None]
    if missed:
        return failed(
            "not_found",
            f"{missed[0].row.question!r} is searched for as {missed[0].query!r}, and the passage with the "
            "answer is not among the five found",
        )
    before = sum(one.rank is None for one in ask_handbook(keep_query)[0])
    return passed(
        f"{len(CASES)} pairs keep their exact terms, each once, and nothing else is added. Of the "
        f"{len(asked)} questions with a code all find their passage; as it was, {before} did not"
    )


@dataclass(frozen=True)
class Case:
    """A question, what the rewriter made of it, and what has to be searched for."""

    question: str
    query: str
    wanted: str

    def judge(self, found: str) -> LabVerdict | None:
        """What is wrong with the query that was returned; None when nothing is."""
        if found == self.wanted:
            return None
        saw = f"question {self.question!r}, rewritten to {self.query!r}: you search for {found!r}"
        if not self.query.strip():
            return failed("empty_query", f"{saw}. The rewriter said nothing, so search for the question")
        has, wanted = _counted(found), _counted(self.wanted)
        lost = [word for word in self.wanted.split() if not has[_bare(word)]]
        if gone := [word for word in lost if word in self.query.split()]:
            return failed(
                "rewrite_lost",
                f"{saw}. {gone[0]!r} and the other words of the rewriter are gone; they are what the rewrite "
                "was paid for",
            )
        if lost:
            return failed(*_lost(saw, lost[0], self.query))
        extra = list((has - wanted).elements())
        if more := [word for word in extra if not _exact(word)]:
            return failed(
                "words_added",
                f"{saw}. {more[0]!r} is no exact term. Words that can be said in another way are the "
                "rewriter's business: put back only what has no other way",
            )
        if extra:
            return failed(
                "term_doubled",
                f"{saw}. A term that the query still has, in whatever case, needs no second copy, and a lost "
                "one needs one",
            )
        if sorted(found.split()) == sorted(self.wanted.split()):
            return failed(
                "order_changed",
                f"{saw}. The rewriter's query first, then what it lost, in the question's order: "
                f"{self.wanted!r}",
            )
        return failed(
            "marks_kept", f"{saw}. Take the marks off a term: a search for 'LK-410?' can miss 'LK-410'"
        )


def _lost(saw: str, term: str, query: str) -> tuple[str, str]:
    """Diagnosis and message for a term that is gone."""
    if term.lower() in query.lower():
        return "half_a_term", (
            f"{saw}. {term} is lost: it stands *inside* another word of the query, and is not that word. "
            "Compare whole words"
        )
    if "-" in term:
        return "code_lost", (
            f"{saw}. {term} is gone. It names one error and has no synonym; without it the search is about "
            "errors in general"
        )
    if term.startswith("/"):
        return "path_lost", f"{saw}. {term} is gone: the same code means something else on another path"
    return "number_lost", (
        f"{saw}. {term} is gone; a number or a version narrows the question down as a code does"
    )


def _bare(word: str) -> str:
    return word.strip(MARKS).lower()


def _counted(text: str) -> Counter[str]:
    return Counter(map(_bare, text.split()))


def _exact(word: str) -> bool:
    return word.startswith("/") or any(sign.isdigit() for sign in word)


CASES = (
    Case("Why do I get LK-410?", "reason for an API error", "reason for an API error LK-410"),
    Case("What does LK-504 on /v1/sync mean?", "timeout help", "timeout help LK-504 /v1/sync"),
    Case("Is /v1/search slower than /v1/files?", "slow endpoints", "slow endpoints /v1/search /v1/files"),
    Case("Where do I send files, /upload?", "file upload", "file upload /upload"),
    Case("Can I import 20,000 rows with v1.2.3?", "import limits", "import limits 20,000 v1.2.3"),
    Case("I got a 504 (twice), after 30 seconds.", "server too slow", "server too slow 504 30"),
    Case("What is LK-50?", "meaning of LK-504", "meaning of LK-504 LK-50"),
    Case("Does /v1/sync need a token?", "token for /v1/syncs", "token for /v1/syncs /v1/sync"),
    Case("How do I wait after LK-429?", "waiting after lk-429", "waiting after lk-429"),
    Case("Does LK-403 go away?", "Does \"LK-403\", the error, go away?", "Does \"LK-403\", the error, go away?"),
    Case("LK-409, LK-409, again LK-409!", "conflict", "conflict LK-409"),
    Case("LK-503 or LK-504?", "maintenance or timeout LK-504", "maintenance or timeout LK-504 LK-503"),
    Case("Who can export?", "export permissions", "export permissions"),
    Case("Are members and/or guests counted?", "who counts", "who counts"),
    Case("Why do I get LK-410?", "", "Why do I get LK-410?"),
    Case("Who can export?", "  \n", "Who can export?"),
)  # fmt: skip
