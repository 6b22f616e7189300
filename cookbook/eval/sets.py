"""The eval sets: questions, the sentences that answer them, and what a system should do with each.

One JSON object a line in ``eval_sets/<corpus>.jsonl``; the card beside it says how the set was made.
Every line is checked when it is read, so that a slip in a set stops a run instead of bending a score.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.reflect.numbers import numbers_in, ungrouped
from cookbook.schema import Chunk, Document

Kind = Literal[
    "answerable",  # one section answers it
    "two_section",  # half an answer stands in each of two sections
    "exact_code",  # turns on an error code that must survive a rewrite
    "negation",  # asks for what is not possible, not included, not counted
    "false_premise",  # takes something for granted which the corpus corrects
    "unanswerable_near",  # sounds like the corpus, and the corpus does not say
    "off_topic",  # has nothing to do with the corpus
]
Behaviour = Literal["answer", "refuse", "direct"]
Split = Literal["fit", "report"]

NO_ANSWER: tuple[Kind, ...] = ("unanswerable_near", "off_topic")
"""The kinds of question that no passage answers: a system refuses, or answers without one. All others it answers."""

LONGEST = 80
"""Words that an answer may have, unless its reference answer is long: the longest one of our sets has 36. Who hands
over whole passages has searched and not answered, and would state every fact."""
SHORT = 6
"""Words that a reference answer may have to stand for a fact. Nobody says a longer one word for word."""

_WORD = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_NOT = re.compile(
    r" (?:not|never|neither|nor|can t|(?:do|does|did|is|are|was|were|has|have|had|wo|would|could|should|must)n t)$"
)
_UNTRUE = re.compile(
    r"\b(?:not (?:true|correct|right|the case)|false|untrue|wrong|incorrect)(?: to \w+)? that\b(?:[^.;!?]|\.(?=\d))*",
    re.IGNORECASE,
)
"""A denial and what it denies, to the end of the clause."""


def words(text: str) -> list[str]:
    """The words and numbers of a text in one form: "30-day" and "20,000" compare as meant, and so do a capital,
    a ligature and an accent, however they are encoded."""
    # NFKC makes a common space of the narrow one in "20 000", and a common comma of a wide one: ungroup on both sides.
    return _WORD.findall(ungrouped(unicodedata.normalize("NFKC", ungrouped(text)).casefold()))


def _spaced(text: str) -> str:
    """The words of a text with one space around each, so that a word is found whole or not at all."""
    return " ".join(["", *words(text), ""])


def _stated(way: str, text: str, said: str) -> bool:
    """Whether a text (``said``: its spaced words) holds ``way`` undenied, or else an amount that equals it."""
    places = [match.start() for match in re.finditer(f"(?={re.escape(_spaced(way))})", said)]
    if places:
        return any(not _NOT.search(said[:at]) for at in places)
    amount = numbers_in(way)
    if len(amount) != 1 or not amount[0].measured or len(words(way)) > 2:
        return False
    return any(number.equals(amount[0]) for number in numbers_in(text))


def _said(text: str) -> str:
    if not words(text):
        raise ValueError("it has no word and no number")  # and would be found in any text
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"it is no regular expression: {error}") from error
    return text


Said = Annotated[str, AfterValidator(_said)]
Pattern = Annotated[str, AfterValidator(_pattern)]


@dataclass(frozen=True)
class GoldQuote:
    """Words that stand verbatim in ``file`` of the corpus, inside one section."""

    file: Said
    quote: Said

    def stands_in(self, text: Chunk | Document) -> bool:
        """True when this chunk, or this whole document, holds the whole quote."""
        return text.doc_id == self.file and self.quote in text.text


@dataclass(frozen=True)
class EvalRow:
    """One question and what is right.

    ``answer`` is the reference answer in a sentence or two, ``variants`` are other ways to say it,
    ``facts`` is what any right answer must state: one tuple of alternatives per fact. Without facts, the reference
    answer or a variant is to be stated, which suits a date or a name and no sentence. ``absent`` are
    regular expressions that match nowhere in the corpus, in capitals or not: the proof that a refusal is right.
    Thresholds are fitted on the split "fit"; results are reported on "report". ``reviewed`` is False
    for a row that a model drafted and nobody has read yet.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: Said
    question: Said
    answer: str
    kind: Kind
    behaviour: Behaviour
    gold: tuple[GoldQuote, ...]
    variants: tuple[str, ...]
    split: Split
    facts: tuple[Annotated[tuple[Said, ...], Field(min_length=1)], ...] = ()
    tags: tuple[str, ...] = ()
    absent: tuple[Pattern, ...] = ()
    corpus: str = ""
    reviewed: bool = True

    def __post_init__(self) -> None:
        if (self.behaviour == "answer") != bool(self.gold):
            raise ValueError('gold quotes belong to behaviour "answer", and to no other')
        if (self.kind in NO_ANSWER) == (self.behaviour == "answer"):
            right = '"refuse" or "direct"' if self.kind in NO_ANSWER else '"answer"'
            raise ValueError(f'the behaviour of kind "{self.kind}" is {right}')
        if self.kind == "two_section" and len(self.gold) < 2:
            raise ValueError("a two_section row needs a gold quote from each section")

    def __getitem__(self, field: str) -> Any:
        """``row["question"]``, as published notebooks read rows; KeyError for a field there is none of."""
        if field not in self.__dataclass_fields__:
            raise KeyError(field)
        return getattr(self, field)

    def states(self, text: str) -> bool:
        """True when ``text`` states every fact, and is no longer than an answer may be (LONGEST, or four times the
        reference answer). For each fact it holds one of the alternatives as whole words, not denied, or an amount
        equal to it ("72 hours", "3 days"). Nothing states a row that has no answer.
        """
        length = max(LONGEST, 4 * len(words(self.answer)))
        return bool(self._wanted) and len(words(text)) <= length and not self.lacking(text)

    def lacking(self, text: str) -> list[tuple[str, ...]]:
        """The facts that ``text`` does not state, however long it is."""
        text = _UNTRUE.sub(" ", text)
        said = _spaced(text)
        return [fact for fact in self._wanted if not any(_stated(way, text, said) for way in fact)]

    @property
    def can_be_stated(self) -> bool:
        """False for a row to answer that has no facts, and neither an answer nor a variant of a few words."""
        ways = (way for fact in self._wanted for way in fact)
        return self.behaviour != "answer" or bool(self.facts) or any(len(words(way)) <= SHORT for way in ways)

    @property
    def _wanted(self) -> tuple[tuple[str, ...], ...]:
        given = (self.answer, *self.variants) if self.behaviour == "answer" else ()
        whole = tuple(way for way in given if words(way))
        return self.facts or ((whole,) if whole else ())


@dataclass(frozen=True)
class EvalSample:
    """A question with what a system made of it, under the names of published notebooks: all texts."""

    question: str
    answer: str = ""
    contexts: tuple[str, ...] = ()
    reference: str = ""


_ROW = TypeAdapter(EvalRow)


def eval_set_names() -> list[str]:
    """The names that load_eval_set takes, sorted. A set is named after its corpus."""
    return sorted(path.stem for path in paths.EVAL_SETS.glob("*.jsonl"))


def load_eval_set(name: str) -> list[EvalRow]:
    """The rows of one eval set, in file order.

    Raises ConfigError for an unknown name, and for a line that is no JSON, lacks a field, contradicts
    itself, or has the id or the question of another; the message names the file, the line and the field.
    """
    if name not in (known := eval_set_names()):
        raise ConfigError(f"there is no eval set {name!r}; choose one of: {', '.join(known)}")
    return load_eval_file(paths.EVAL_SETS / f"{name}.jsonl")


def load_eval_file(path: Path, *, allow_unreviewed: bool = False) -> list[EvalRow]:
    """The rows of an eval set that lies anywhere; its corpus is the file's name without the suffix.

    Raises ConfigError as load_eval_set does, and for rows that nobody has reviewed unless these are allowed:
    a comparison on questions that a model made up measures the model that made them up. Blank lines are passed over.
    """
    rows: list[EvalRow] = []
    first: dict[tuple[str, str], int] = {}  # the line of each id and of each question
    for number, line in enumerate(paths.read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = replace(_ROW.validate_json(line), corpus=path.stem)
        except ValidationError as error:
            slip = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in slip["loc"]) or "the row"
            said = slip["msg"].removeprefix("Value error, ")
            raise ConfigError(f"mend {path.name}, line {number}, {field}: {said}") from error
        for field, value in ("id", row.id), ("question", " ".join(row.question.casefold().split())):
            if (before := first.setdefault((field, value), number)) != number:
                raise ConfigError(f"mend {path.name}, line {number}, {field}: line {before} has the same")
        rows.append(row)
    if not rows:
        raise ConfigError(f"{path.name} has no rows; write one JSON object a line")
    drafts = [row.id for row in rows if not row.reviewed]
    if drafts and not allow_unreviewed:
        raise ConfigError(
            f"{len(drafts)} of {len(rows)} rows of {path.name} are unreviewed drafts, {drafts[0]} the first: read each, "
            'mend or delete it, and set "reviewed": true; or pass --unreviewed (allow_unreviewed=True) to look at them'
        )
    return rows


def in_turn(rows: Iterable[EvalRow]) -> list[EvalRow]:
    """The kinds of question in turn, the rows that are reported before those to fit on.

    So any beginning holds something of every kind, and two runs of different length share their rows.
    """
    kinds: dict[tuple[Split, Kind], list[EvalRow]] = {}
    for row in rows:
        kinds.setdefault((row.split, row.kind), []).append(row)
    turns = [
        zip_longest(*(found for (own, _), found in kinds.items() if own == split))
        for split in ("report", "fit")
    ]
    return [row for split in turns for turn in split for row in turn if row]
