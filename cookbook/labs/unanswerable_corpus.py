"""A filter that keeps three passages in a hundred: it is right about them, the index holds landing pages only.

Taught in notebooks/labs/49_measuring.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from cookbook.chunkers import fixed_window, markdown_sections
from cookbook.corpora import load_corpus
from cookbook.embedders import WordTokenizer
from cookbook.eval.sets import EvalRow, load_eval_set
from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter, metered
from cookbook.published.models import Shelf, gold
from cookbook.published.recipe import K, WordJudges
from cookbook.schema import Chunk, Relevance

LAB = Lab(
    module=__name__,
    title="The filter is too strict",
    difficulty=2,
    minutes=20,
    you_will="prove, before anything is measured, that an index holds the words that answer each question",
    symptom=(
        "The recipe answers 14 of 55 questions and keeps 3% of the passages it finds. The team has loosened "
        "the filter's prompt twice, and it still keeps 3%."
    ),
    task=(
        "Write `missing_gold(rows, chunks)`: which gold quotes are not in the index? `rows` are eval rows "
        "(`.id`, `.gold`), `chunks` is what was indexed. Return a dictionary from the id of a row to the "
        "texts (`quote.quote`) of those of its gold quotes that no *single* chunk holds; a row that lacks "
        "nothing is not in it, and a row without gold quotes (it is to be refused) lacks nothing. "
        "`quote.stands_in(chunk)` is true when the chunk holds the whole quote."
    ),
    hints=(
        "Take one refused question, look up where its answer stands (`row.gold`), and search the index for "
        "those words. What does the index have of that file?",
        "For each row `[quote.quote for quote in row.gold if not any(quote.stands_in(chunk) for chunk in "
        "chunks)]`, and keep the rows whose list is not empty. Not the file, and not all chunks joined: what "
        "is cut in two is found by nobody.",
    ),
    in_the_wild=(
        "A published recipe answers over the Rust book, and its script fetches 18 files of it, `ch01-00` to "
        "`ch19-00`: the opening page of each chapter (FareedKhan-dev/rag-cookbook-2026, "
        "`scripts/fetch_corpus.py`). Its committed output says \"Mean keep rate: 5%\", none of five "
        "evaluation questions is answered, and the prose around it is about strict filters. In "
        "masumi-network/Citadel, issue 228, 892 of 2,867 documents had been accepted and never indexed."
    ),
    transfer=(
        "Your test is green: every gold quote stands in a chunk. The recall of the first five passages is "
        "still 40%. What has the test ruled out, what has it not, and what would you look at next?"
    ),
    answer=(
        "It has ruled out that the answer *cannot* be found; that it is not found has other reasons: the "
        "rank (is it among the first fifty?), the embedder (does it read the end of the chunk?), the query. "
        "Look at the rank of the gold chunk for each question: 6 to 10 is a matter of k, 200 one of the "
        "embedder or of the words. The test gives these numbers their meaning, since \"never\" is no rank."
    ),
    pitfall=(
        "They check that the *file* of the gold quote is in the index. All 28 files are. Ask what a file "
        "consists of after chunking, and which of its pieces they have seen."
    ),
)  # fmt: skip

Finder = Callable[[Sequence[EvalRow], Sequence[Chunk]], dict[str, list[str]]]


# ---------------------------------------------------------------- the indexes


@cache
def questions() -> tuple[EvalRow, ...]:
    """The 72 questions over the Rust notes: 55 to answer, the rest without gold."""
    return tuple(load_eval_set("rust_notes"))


@cache
def index(name: str) -> tuple[Chunk, ...]:
    """``landing``: the first section of each file. ``sections``: all of them. ``windows``: 64 words, blind to what they cut."""
    documents = load_corpus("rust_notes")
    if name == "windows":
        return tuple(fixed_window(documents, 64, 0, tokenizer=WordTokenizer()))
    sections = markdown_sections(documents)
    return tuple(chunk for chunk in sections if name == "sections" or chunk.chunk_id.endswith("#0"))


# ---------------------------------------------------------------- the code


def files_are_there(rows: Sequence[EvalRow], chunks: Sequence[Chunk]) -> dict[str, list[str]]:
    """The test as it was: green when every file with an answer is in the index."""
    indexed = {chunk.doc_id for chunk in chunks}
    return {
        row.id: [quote.quote for quote in row.gold]
        for row in rows
        if any(quote.file not in indexed for quote in row.gold)
    }


def missing_gold(rows: Sequence[EvalRow], chunks: Sequence[Chunk]) -> dict[str, list[str]]:
    """By row id, the gold quotes that no chunk holds; {} when the index can answer every row that has an answer."""
    ### BEGIN SOLUTION
    missing = {}
    for row in rows:
        lost = [quote.quote for quote in row.gold if not any(quote.stands_in(chunk) for chunk in chunks)]
        if lost:
            missing[row.id] = lost
    return missing
    ### END SOLUTION


def broken() -> Finder:
    return files_are_there


def solution() -> Finder:
    return missing_gold


# ---------------------------------------------------------------- the recipe


@dataclass(frozen=True)
class Asked:
    """One question: ``graded`` has the passages found and what the filter said of each."""

    row: EvalRow
    graded: tuple[tuple[str, bool], ...]

    @property
    def kept(self) -> int:
        return sum(relevant for _, relevant in self.graded)


def ask_recipe(chunks: Sequence[Chunk]) -> tuple[list[Asked], Meter]:
    """The 55 questions that have an answer, put to the steps of the prompt recipe over an index; k is 8.

    The filter is as good as can be: its verdicts are the gold ones. Without a kept passage the recipe refuses.
    """
    judges = WordJudges(Shelf(chunks), relevance=gold("rust_notes"))
    asked = []
    with metered(Meter()) as meter:
        for row in questions():
            if row.behaviour != "answer":
                continue
            judges.retrieve(row.question)
            hits = judges.store.retrieve(row.question, K)
            verdicts = [judges.relevance(row.question, hit) is Relevance.RELEVANT for hit in hits]
            kept = [hit for hit, relevant in zip(hits, verdicts, strict=True) if relevant]
            if kept:
                judges.support(row.question, judges.generate(row.question, kept), kept)
            asked.append(Asked(row, tuple(zip((hit.chunk_id for hit in hits), verdicts, strict=True))))
    return asked, meter


# ---------------------------------------------------------------- the check


@guard(returns="a dictionary from row ids to lists of quotes")
def check(candidate: Finder) -> LabVerdict:
    """The index of landing pages, one of blind windows, and the whole one, against what stands in their chunks."""
    counts = []
    for name in ("landing", "windows", "sections"):
        found = candidate(questions(), index(name))
        if not isinstance(found, dict) or not all(isinstance(quotes, list) for quotes in found.values()):
            return failed(
                "no_dictionary",
                f"you returned {str(found)[:80]}; return a dictionary from row ids to lists of quotes",
            )
        wanted = {row.id: lost for row in questions() if (lost := _lost(row, index(name)))}
        if (verdict := _compare(name, found, wanted)) is not None:
            return verdict
        counts.append(len(wanted))
    kept = {name: sum(one.kept > 0 for one in ask_recipe(index(name))[0]) for name in ("landing", "sections")}
    return passed(
        f"landing pages: {counts[0]} of 55 questions lack a quote and {55 - kept['landing']} lack all of "
        f"them, whatever the filter does. Windows of 64 words: {counts[1]}, whose quotes they cut. All "
        f"sections: {counts[2]}, and the same filter now finds something to keep for {kept['sections']} of 55"
    )


def _lost(row: EvalRow, chunks: Sequence[Chunk]) -> list[str]:
    return [quote.quote for quote in row.gold if not any(quote.stands_in(chunk) for chunk in chunks)]


def _compare(name: str, found: dict[str, list[str]], wanted: dict[str, list[str]]) -> LabVerdict | None:
    """What is wrong with the findings on one index; None when nothing is."""
    by_id = {row.id: row for row in questions()}
    saw = (
        f"the index {name!r} ({len(index(name))} chunks): you report {len(found)} rows, and {len(wanted)} "
        "lack a quote"
    )
    if strange := [row for row in found if row not in by_id]:
        return failed("unknown_rows", f"{saw}. {strange[0]!r} is the id of no row")
    if empty := [row for row in found if not by_id[row].gold]:
        return failed(
            "nothing_to_look_for",
            f"{saw}. {empty[0]} ({by_id[empty[0]].question!r}) has no gold quote: it is to be refused, and "
            "no index lacks anything for that",
        )
    if missed := [row for row in wanted if row not in found]:
        return failed(*_missed(saw, name, by_id[missed[0]], wanted, len(missed)))
    if extra := [row for row in found if row not in wanted]:
        row = by_id[extra[0]]
        return failed(
            "held_and_reported",
            f"{saw}. {row.id} is reported, and each of its gold quotes stands in a chunk, such as "
            f"{row.gold[0].quote[:60]!r}. Is it the *quote* that you look for, and in one chunk?",
        )
    if wrong := [row for row in wanted if sorted(found[row]) != sorted(wanted[row])]:
        row_id = wrong[0]
        return failed(
            "not_the_missing_ones",
            f"{saw}. Of {row_id} you report {len(found[row_id])} quotes; it has {len(by_id[row_id].gold)}, "
            f"and {len(wanted[row_id])} are missing. Report the missing ones: they say what to index",
        )
    return None


def _missed(saw: str, name: str, row: EvalRow, wanted: dict[str, list[str]], count: int) -> tuple[str, str]:
    """Diagnosis and message for a row that lacks a quote and is not reported."""
    quote = wanted[row.id][0]
    there = [chunk.chunk_id for chunk in index(name) if chunk.doc_id == row.gold[0].file]
    lacks = f"{row.id} lacks {quote[:60]!r} ({count} such rows)"
    if name == "windows":
        return "cut_in_two", (
            f"{saw}. {lacks}: the words are in the file, and the cut between two windows goes through them. "
            "A retriever gives one chunk or the other; look for the quote in single chunks"
        )
    if count == len(wanted):
        return "file_is_not_quote", (
            f"{saw}. {lacks}. The index has {len(there)} chunk of {row.gold[0].file}, {there[0]}, and the "
            "quote stands in another part of the file. That a file is there says nothing about a sentence "
            "in it"
        )
    return "one_of_two", (
        f"{saw}. {lacks}, and holds another of its {len(row.gold)} quotes. Half an answer is not the answer: "
        "every quote has to be there"
    )
