"""Drafts an eval set from somebody's own documents: a model writes, code checks, and a person has to read it.

Each row comes from one passage: a question, its answer, and the words that state it. A row is kept only
if those words stand in the passage, and carries ``reviewed: false`` until somebody says otherwise, because
a model asks what it finds easy and never asks what the documents do not say. What a right answer must state is
proposed where it need not be guessed; the other facts are the reader's to write.
Taught in notebooks/62_your_own_documents.ipynb.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated

from pydantic import BaseModel, Field

from cookbook import prompts
from cookbook.corpora import CorpusCard
from cookbook.errors import ReplyTruncated, ReplyUnparsable
from cookbook.eval.sets import SHORT, EvalRow, GoldQuote, words
from cookbook.providers import LLMClient
from cookbook.reflect.numbers import numbers_in, unstated_numbers
from cookbook.schema import Chunk, Hit, ScoreKind

MAX_DRAFT_TOKENS = 260
#: A passage must say enough to be asked about, and a quote enough to be found again.
FEWEST_WORDS, FEWEST_QUOTED = 25, 4
#: How many passages may be tried for each row that is wanted.
TRIES = 3

Text = Annotated[str, Field(max_length=300)]


class DraftedRow(BaseModel):
    """The model's reply. The words come first, so that question and answer follow from them."""

    quote: Text
    question: Text
    answer: Text


@dataclass
class Drafts:
    """The rows that held, and why each of the others did not, by the passage it came from."""

    rows: list[EvalRow] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The rows as an eval set has them, one JSON object a line."""
        return [json.dumps(_plain(row), ensure_ascii=False) for row in self.rows]


def draft(
    chunks: Sequence[Chunk],
    client: LLMClient,
    card: CorpusCard,
    *,
    n: int = 10,
    seed: int = 0,
    done: Callable[[str], None] | None = None,
) -> Drafts:
    """Up to ``n`` drafted rows, each from another passage, spread over the documents.

    One call a passage, and at most ``3 * n`` calls; ``done`` is told the question of each row. A reply that
    cannot be read drops its passage; a provider that does not answer raises its error.
    """
    drafts, asked = Drafts(), set()
    for tried, chunk in enumerate(_spread(chunks, random.Random(seed))):
        if len(drafts.rows) == n or tried == TRIES * n:
            break
        row, why = _row(chunk, client, card, len(drafts.rows) + 1)
        if row is not None and row.question.casefold() not in asked:
            asked.add(row.question.casefold())
            drafts.rows.append(row)
            if done:
                done(row.question)
        else:
            drafts.dropped[chunk.chunk_id] = why or "the question was asked before"
    return drafts


def _spread(chunks: Sequence[Chunk], chance: random.Random) -> Iterator[Chunk]:
    """Passages with enough words, one of each document in turn, in a random order that the seed repeats."""
    by_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        if len(chunk.text.split()) >= FEWEST_WORDS:
            by_document[chunk.doc_id].append(chunk)
    waiting = list(by_document.values())
    chance.shuffle(waiting)
    for each in waiting:
        chance.shuffle(each)
    while waiting:
        yield from (each.pop() for each in waiting)
        waiting = [each for each in waiting if each]


def _row(chunk: Chunk, client: LLMClient, card: CorpusCard, number: int) -> tuple[EvalRow | None, str]:
    """The row drafted from a passage, or None and what was wrong with it."""
    passage = prompts.passages_block([Hit(chunk, 0.0, ScoreKind.COSINE)])
    messages = prompts.DRAFT.messages(subject=card.subject, passage=passage)
    try:
        said = client.ask(messages, DraftedRow, max_tokens=MAX_DRAFT_TOKENS)
    except (ReplyTruncated, ReplyUnparsable) as error:
        return None, str(error)
    if not said.question.strip().endswith("?"):
        return None, f"no question: {said.question}"
    quoted = said.quote.split()
    found = re.search(r"\s+".join(map(re.escape, quoted)), chunk.text)
    if found is None or len(quoted) < FEWEST_QUOTED:
        return None, f"these words do not stand in the passage: {said.quote}"
    return EvalRow(
        id=f"draft-{number:03}",
        question=said.question.strip(),
        answer=said.answer.strip(),
        kind="answerable",
        behaviour="answer",
        gold=(GoldQuote(chunk.doc_id, found[0]),),
        variants=(),
        facts=_facts(said.question, said.answer),
        split="fit" if number % 2 else "report",
        tags=(f"from {chunk.chunk_id}",),
        reviewed=False,
    ), ""


def _facts(question: str, answer: str) -> tuple[tuple[str, ...], ...]:
    """A short answer itself; of a sentence the amounts, as it writes them, which the question does not name."""
    if len(words(answer)) <= SHORT:
        return ((answer.strip(" ."),),) if words(answer) else ()
    tokens = answer.split()
    runs = [" ".join(tokens[at : at + n]) for n in (1, 2, 3) for at in range(len(tokens))]
    amounts = [number for number in unstated_numbers(answer, question) if number.measured]
    written = (next((run for run in runs if numbers_in(run) == [amount]), "") for amount in amounts)
    return tuple((run,) for run in dict.fromkeys(run.strip(" .,;:()") for run in written) if run)


def _plain(row: EvalRow) -> dict[str, object]:
    """The fields that a draft has; the corpus is the file's name, and ``absent`` is for refusals."""
    return {name: value for name, value in asdict(row).items() if name not in ("absent", "corpus")}
