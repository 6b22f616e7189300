"""Training sequences with reflection tokens, labelled from gold data by program: what a critic does in the paper.

A sheet is one prompt and what may follow it: the first token (retrieve? relevant?) and several continuations, each with
its own judgement. Labels follow from what the program did to the texts:

- Retrieve: yes for every question about the texts, no for small talk.
- ISREL: does the passage hold the sentence that answers?
- ISSUP: a sentence of the passage, or another wording of it, is fully supported; one with an invented claim partly; one that was
  edited, or stands elsewhere, not. Every edit is made on both sides: the passage may hold the edited sentence, which is
  then supported, while the original is not. So the traces of an edit give nothing away.
- ISUSE: 5 the answering sentence (true or not: support is judged apart), 4 with a needless one beside it, 3 half of an
  answer, 2 another sentence of a relevant passage, 1 a sentence of another.

Texts: our three corpora, the "fit" rows of their eval sets, and the invented encyclopaedia (``world.py``).
Taught in notebooks/16_train_a_tiny_self_rag.ipynb.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TypeVar

from cookbook.corpora import load_corpus, load_eval_questions
from cookbook.eval.sets import EvalRow
from cookbook.reflect.terms import content_words
from cookbook.reflect.tokens.tiny import REPLIES
from cookbook.reflect.tokens.vocabulary import (
    NO_RETRIEVAL,
    RELEVANCE,
    RETRIEVAL,
    SUPPORT,
    USEFULNESS,
    instruction,
    with_passage,
)
from cookbook.schema import Chunk, Hit, ScoreKind
from cookbook.training.edits import CONTRADICTING, Edit, invent, swap_name
from cookbook.training.facts import KINDS
from cookbook.training.from_corpora import CORPORA, Section, sections
from cookbook.training.paraphrases import KEEPING
from cookbook.training.questions import questions_of
from cookbook.training.small_talk import UNSEEN, small_talk
from cookbook.training.world import subjects, told

T = TypeVar("T")
RELEVANT, IRRELEVANT = RELEVANCE
FULLY, PARTLY, NOT = SUPPORT
U1, U2, U3, U4, U5 = USEFULNESS


@dataclass(frozen=True)
class Branch:
    """A continuation: its words, and the tokens after them ("" for none). Only ``learned`` words are taught;
    the others are there to be judged, and a model that learned to write them would learn to lie."""

    words: str
    support: str
    usefulness: str
    learned: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Sheet:
    """A prompt, the first token after it, and what may follow that. ``source`` says what it was made from."""

    prompt: str
    first: str
    branches: tuple[Branch, ...]
    source: str


# ---------------------------------------------------------------- questions with their sentence


@dataclass(frozen=True)
class Text:
    """A passage as its titles and its sentences."""

    titles: tuple[str, ...]
    said: tuple[str, ...]
    source: str

    def shown(self, said: Sequence[str]) -> Hit:
        """These sentences as a passage under the titles."""
        text = f"## {self.titles[-1]}\n\n{' '.join(said)}"
        return Hit(Chunk(self.source, self.source, text, 0, len(text), self.titles), 0.0, ScoreKind.COSINE)


@dataclass(frozen=True)
class Case:
    """A question and the sentence that answers it: the ``n``-th of ``text``. ``others`` are texts that do not answer.

    ``half`` says that a second sentence, elsewhere, belongs to the answer.
    """

    question: str
    text: Text
    n: int
    others: tuple[Text, ...]
    source: str
    half: bool = False


def held_out(source: str) -> bool:
    """True for a tenth of the sources, whole: no sentence of theirs is ever trained on as an answer."""
    return int(hashlib.sha256(source.encode()).hexdigest(), 16) % 10 == 0


@cache
def program_cases() -> tuple[Case, ...]:
    """A case for each question that a rule makes from a sentence of our corpora."""
    found = []
    for section, text, others in _texts():
        for n, sentence in enumerate(section.said):
            for asked in questions_of(sentence):
                found.append(Case(asked.question, text, n, others, section.source))
    return tuple(found)


def row_cases(split: str) -> list[Case]:
    """The questions of our eval sets, one case for each gold quote, on the sentence that shares most words with it."""
    texts = _texts()
    found = []
    for row in (row for corpus in CORPORA for row in load_eval_questions(corpus) if row.split == split):
        for quote in row.gold:
            for section, text, others in texts:
                if (section.corpus, section.file) == (row.corpus, quote.file) and quote.quote in section.text:
                    n = _sharing(quote.quote, section.said)
                    found.append(Case(row.question, text, n, others, row.id, half=len(row.gold) > 1))
    return found


def hard_rows(split: str) -> list[tuple[EvalRow, tuple[Text, ...]]]:
    """The questions that no text answers, each with the sections of its corpus that share most words with it."""
    texts = _texts()
    found = []
    for row in (row for corpus in CORPORA for row in load_eval_questions(corpus) if row.split == split):
        if row.behaviour == "refuse":
            own = [(section, text) for section, text, _ in texts if section.corpus == row.corpus]
            words = content_words(row.question)
            own.sort(key=lambda pair: -len(words & pair[0].words))
            found.append((row, tuple(text for _, text in own[:5])))
    return found


def world_cases(n: int, rng: Random) -> list[Case]:
    """About ``n`` questions on invented subjects, each told in a few facts, beside others of its kind."""
    found: list[Case] = []
    each = max(2, round(n / len(KINDS) / 3))
    for kind in KINDS:
        entries = []
        for subject in subjects(kind, each, rng):
            attributes = rng.sample(kind.attributes, rng.randint(3, len(kind.attributes)))
            text = Text((subject.name,), tuple(told(subject, attributes, rng)), f"world/{subject.name}")
            entries.append((subject, attributes, text))
        texts = [text for _, _, text in entries]
        for subject, attributes, text in entries:
            others = tuple(other for other in rng.sample(texts, min(5, len(texts))) if other is not text)
            for at in rng.sample(range(len(attributes)), 3):
                found.append(Case(subject.asks(attributes[at], rng), text, at, others, text.source))
    return found


@cache
def _texts() -> tuple[tuple[Section, Text, tuple[Text, ...]], ...]:
    """Every section as a text, with the eight others of its corpus that share most words with it."""
    titles = {(corpus, doc.doc_id): doc.title for corpus in CORPORA for doc in load_corpus(corpus)}
    pairs = []
    for section in sections():
        above = dict.fromkeys((titles[section.corpus, section.file], section.heading))
        pairs.append((section, Text(tuple(above), section.said, section.source)))
    found = []
    for section, text in pairs:
        others = [(o, t) for o, t in pairs if o.corpus == section.corpus and o is not section]
        others.sort(key=lambda pair: -len(section.words & pair[0].words) / (len(pair[0].words) + 20) ** 0.5)
        found.append((section, text, tuple(t for _, t in others[:8])))
    return tuple(found)


def _sharing(quote: str, said: Sequence[str]) -> int:
    words = content_words(quote)
    return max(range(len(said)), key=lambda n: (len(words & content_words(said[n])), -len(said[n])))


# ---------------------------------------------------------------- sheets

_CHANGES: dict[str, Edit] = {**CONTRADICTING, "name": swap_name}


class Sheets:
    """Draws sheets of a case: about half show the passage that answers, the others a near miss."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def draw(self, case: Case) -> Sheet:
        return self.rng.choices((self.answering, self.without, self.elsewhere), (5, 3, 3))[0](case)

    def answering(self, case: Case) -> Sheet:
        """The passage holds the answer, now and then in an edited form."""
        rng, answer = self.rng, case.text.said[case.n]
        before, after = self.around(case.text.said, case.n)
        others = [*before, *after]
        changed = self.edited(answer, _CHANGES)
        if changed and rng.random() < 0.4:
            answer, changed = changed, answer  # the edit on the other side: now the passage says it
        best = U3 if case.half else U5
        branches = [Branch(answer, FULLY, best, learned=True, kind="answer")]
        if changed:
            branches.append(Branch(changed, NOT, best, kind="changed"))
        if kept := self.edited(answer, KEEPING):
            branches.append(Branch(kept, FULLY, best, kind="reworded"))
        if rng.random() < 0.5 and (more := invent(answer, rng)):
            branches.append(Branch(more, PARTLY, U4 if not case.half else U3, kind="invented"))
        if others:
            other = rng.choice(others)
            branches.append(Branch(other, FULLY, U2, kind="other"))
            if rng.random() < 0.5:
                pair = rng.sample((answer, other), 2)
                branches.append(Branch(" ".join(pair), FULLY, U3 if case.half else U4, kind="both"))
            if wrong := self.edited(other, _CHANGES):
                branches.append(Branch(f"{answer} {wrong}", PARTLY, U4, kind="partly"))
                branches.append(Branch(wrong, NOT, U2, kind="other changed"))
        passage = case.text.shown([*before, answer, *after])
        return self._sheet(case, passage, RELEVANT, branches[:1] + self.some(branches[1:], 3))

    def without(self, case: Case) -> Sheet:
        """The passage that would answer, its answering sentence taken out."""
        before, after = self.around(case.text.said, case.n)
        left = [*before, *after]
        return self._missing(case, case.text, left) if left else self.elsewhere(case)

    def elsewhere(self, case: Case) -> Sheet:
        """Another passage that sounds like it."""
        other = self.rng.choice(case.others)
        n = self.rng.randrange(len(other.said))
        before, after = self.around(other.said, n)
        return self._missing(case, other, [*before, other.said[n], *after])

    def _missing(self, case: Case, text: Text, said: Sequence[str]) -> Sheet:
        answer = case.text.said[case.n]
        if answer in said:
            return self.answering(case)
        shown = self.some(said, 2)  # the first is edited as well
        branches = [Branch(one, FULLY, U1, kind="missing") for one in shown]
        branches.append(Branch(answer, NOT, U5, kind="said elsewhere"))
        if wrong := self.edited(shown[0], _CHANGES):
            branches.append(Branch(wrong, NOT, U1, kind="missing, changed"))
        return self._sheet(case, text.shown(said), IRRELEVANT, branches)

    def hard(self, row: EvalRow, texts: Sequence[Text]) -> Sheet:
        """A question that no text answers, with one of the texts that sound most like it."""
        text = self.rng.choice(texts)
        branches = tuple(Branch(one, FULLY, U1, kind="missing") for one in self.some(text.said, 3))
        return Sheet(
            with_passage(instruction(row.question), text.shown(text.said)), IRRELEVANT, branches, row.id
        )

    def retrieve(self, question: str, source: str) -> Sheet:
        """A question about the texts: nothing to say before a passage is there."""
        return Sheet(instruction(question), RETRIEVAL, (), source)

    def talk(self) -> Sheet:
        """Small talk: each reply judged, the fitting one learned."""
        message, reply = small_talk(self.rng)
        last = REPLIES[-1]
        branches = tuple(
            Branch(one, "", U5 if one == reply != last else U1, learned=one == reply, kind="reply")
            for one in REPLIES
        )
        return Sheet(instruction(message), NO_RETRIEVAL, branches, "small talk")

    def around(self, said: Sequence[str], n: int) -> tuple[Sequence[str], Sequence[str]]:
        """The sentences before and after the n-th: all of them, or mostly a few. Short passages train faster."""
        if self.rng.random() < 0.25:
            return said[:n], said[n + 1 :]
        return said[max(0, n - self.rng.randint(0, 3)) : n], said[n + 1 : n + 1 + self.rng.randint(0, 3)]

    def edited(self, sentence: str, table: dict[str, Edit]) -> str:
        """The sentence after the first edit of the table, in random order, that applies; "" when none does."""
        for name in self.rng.sample(list(table), len(table)):
            if (found := table[name](sentence, self.rng)) and found != sentence:
                return found
        return ""

    def some(self, things: Sequence[T], most: int) -> list[T]:
        return self.rng.sample(list(things), min(most, len(things)))

    def _sheet(self, case: Case, passage: Hit, first: str, branches: Sequence[Branch]) -> Sheet:
        return Sheet(with_passage(instruction(case.question), passage), first, tuple(branches), case.source)


def training_sheets(n: int, seed: int = 0) -> Iterator[Sheet]:
    """``n`` sheets to train on: of four, one for each kind of text and one on whether to retrieve."""
    rng = Random(seed)
    draw = Sheets(rng)
    program = [case for case in program_cases() if not held_out(case.source)]
    rows, hard = row_cases("fit"), hard_rows("fit")
    world = [case for case in world_cases(n // 3, rng) if not held_out(case.source)]
    for _ in range(n):
        kind = rng.choices(("program", "row", "hard", "world", "retrieve", "talk"), (34, 14, 6, 28, 9, 9))[0]
        if kind == "hard":
            yield draw.hard(*rng.choice(hard))
        elif kind == "talk":
            yield draw.talk()
        else:
            case = rng.choice({"row": rows, "world": world}.get(kind, program))
            yield draw.retrieve(case.question, case.source) if kind == "retrieve" else draw.draw(case)


def held_out_sheets(seed: int = 1) -> list[Sheet]:
    """What the model is judged on: every "report" row with its gold passage and with near misses, and the questions
    that a program made of the sections that were held out. The order is always the same."""
    rng = Random(seed)
    draw = Sheets(rng)
    found: list[Sheet] = []
    for case in [*row_cases("report"), *(case for case in program_cases() if held_out(case.source))]:
        found += [draw.answering(case), draw.without(case), draw.elsewhere(case)]
        found.append(draw.retrieve(case.question, case.source))
    found += [draw.hard(row, texts[n : n + 1]) for row, texts in hard_rows("report") for n in range(3)]
    found += [draw.retrieve(row.question, row.id) for row, _ in hard_rows("report")]
    for row in (row for corpus in CORPORA for row in load_eval_questions(corpus)):
        if (row.behaviour, row.split) == ("direct", "report"):
            found.append(Sheet(instruction(row.question), NO_RETRIEVAL, (), row.id))
    return [*found, *(Sheet(instruction(message), NO_RETRIEVAL, (), message) for message in UNSEEN)]
