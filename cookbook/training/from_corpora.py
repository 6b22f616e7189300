"""Pairs from our own corpora and the "fit" rows of their eval sets: near misses, edits on both sides, mixed-up answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from cookbook.chunkers import markdown_sections
from cookbook.corpora import load_corpus, load_eval_questions
from cookbook.eval.sets import EvalRow
from cookbook.reflect.claims import sentences
from cookbook.reflect.terms import content_words
from cookbook.training.edits import CONTRADICTING, change_number, invent, swap_name
from cookbook.training.pair import Label, Pair
from cookbook.training.paraphrases import KEEPING, drop_rest
from cookbook.training.questions import Asked, questions_of

CORPORA = ("larkspur", "rust_notes", "attention_digest")
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_ABOUT = (
    "What is said about {}?", "How does it work: {}?", "What are the rules for {}?", "Tell me about {}.", "{}?",
    "What should I know about {}?", "Explain {}.",
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A section as its heading and the sentences of its prose."""

    corpus: str
    file: str
    heading: str
    text: str
    said: tuple[str, ...]

    @property
    def source(self) -> str:
        return f"{self.corpus}/{self.file}/{self.heading}"

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(content_words(self.text))


def sections() -> list[Section]:
    """Every section of the three corpora that says something in prose."""
    found = []
    for corpus in CORPORA:
        for chunk in markdown_sections(load_corpus(corpus)):
            prose = _HEADING.sub("", _FENCED.sub("", chunk.text))
            said = tuple(s for block in prose.split("\n\n") for s in sentences(block) if s[-1] in ".?!")
            if said:
                found.append(Section(corpus, chunk.doc_id, chunk.headings[-1], chunk.text, said))
    return found


def pairs(rng: Random, size: float = 1.0) -> Iterator[Pair]:
    """Relevance and support pairs from every section and every row that thresholds may be fitted on."""
    texts = _Texts(sections(), rng)
    for section in texts.sections:
        for n in range(len(section.said)):
            if rng.random() < size:
                yield from texts.questions(section, n)
                yield from texts.claims(section, n)
        if rng.random() < size:
            yield from texts.heading(section)
    rows = [row for corpus in CORPORA for row in load_eval_questions(corpus) if row.split == "fit"]
    for row in rows:
        if rng.random() < size:
            yield from texts.row(row)


class _Texts:
    """All sections, and the ways to make pairs of them."""

    def __init__(self, sections: Sequence[Section], rng: Random) -> None:
        self.sections, self.rng = sections, rng

    # ------------------------------------------------------------ passages

    def window(self, section: Section, n: int, instead: str = "") -> str:
        """Some sentences around the n-th, which may be replaced; with its heading now and then, seldom with more."""
        said = list(section.said)
        if instead:
            said[n] = instead
        first = self.rng.randint(max(0, n - 2), n)
        last = self.rng.randint(n, min(len(said) - 1, n + 2))
        return self._shown(section, said[first : last + 1])

    def without(self, section: Section, n: int) -> str:
        """The section without its n-th sentence, or "" if nothing is left."""
        left = [*section.said[:n], *section.said[n + 1 :]]
        first = self.rng.randint(0, max(0, n - 2))
        return self._shown(section, left[first : first + self.rng.randint(2, 5)]) if left else ""

    def _shown(self, section: Section, said: Sequence[str]) -> str:
        text = " ".join(said)
        if self.rng.random() < 0.3:
            text = f"## {section.heading}\n\n{text}"
        if self.rng.random() < 0.05:
            text = self._longer(section, text)
        return text

    def _longer(self, section: Section, text: str) -> str:
        others = [other for other in self.sections if other.corpus == section.corpus and other is not section]
        more = " ".join(self.rng.choice(others).said)
        return f"{more}\n\n{text}" if self.rng.random() < 0.5 else f"{text}\n\n{more}"

    def near(self, section: Section, text: str, among: int = 6) -> Section:
        """Another section that shares many words with a text: a near miss."""
        words = content_words(text)
        others = [other for other in self.sections if other is not section]
        ranked = sorted(others, key=lambda other: -len(words & other.words) / (len(other.words) + 20) ** 0.5)
        return self.rng.choice(ranked[:among])

    def told_elsewhere(self, section: Section, n: int, text: str) -> bool:
        """True when another sentence of the section has most words of a text: then its loss would lose nothing."""
        words = content_words(text)
        return any(
            len(words & content_words(s)) > 0.6 * len(words) for m, s in enumerate(section.said) if m != n
        )

    # ------------------------------------------------------------ questions

    def questions(self, section: Section, n: int) -> Iterator[Pair]:
        asked = list(questions_of(section.said[n]))
        for one in self.rng.sample(asked, min(len(asked), 3)):
            yield from self._asked(section, n, one)

    def _asked(self, section: Section, n: int, asked: Asked) -> Iterator[Pair]:
        rng, question, sentence = self.rng, asked.question, section.said[n]

        def pair(text: str, passage: str, answered: bool, kind: str) -> Pair:
            return Pair(
                "relevance", text, passage, "relevant" if answered else "irrelevant", kind, section.source
            )

        yield pair(question, self.window(section, n), True, "sentence asked for")
        if rng.random() < 0.4:
            yield pair(question, sentence, True, "sentence asked for, alone")
        if not self.told_elsewhere(section, n, question):
            if passage := self.without(section, n):
                yield pair(question, passage, False, "its sentence left out")
            other = self.near(section, question)
            if not self.told_elsewhere(other, -1, question):
                yield pair(question, self._shown(other, other.said[:5]), False, "near section")
        if asked.without and len(asked.without.split()) > 3:
            yield pair(question, self.window(section, n, asked.without), False, "answer cut out")
        if changed := swap_name(question, rng):
            passage = self.window(section, n)
            new = content_words(changed) - content_words(question)
            if not new & content_words(passage):
                yield pair(changed, passage, False, "asked of another")
        # The same names swapped in the passage and the question: an odd text, and its question answered.
        changed = swap_name(sentence, rng)
        if changed and rng.random() < 0.5:
            for one in questions_of(changed):
                if one.question[:8] == question[:8]:
                    yield pair(
                        one.question, self.window(section, n, changed), True, "asked and told of another"
                    )
                    break

    def heading(self, section: Section) -> Iterator[Pair]:
        lowered = (
            section.heading
            if section.heading[1:2].isupper()
            else section.heading[0].lower() + section.heading[1:]
        )
        question = self.rng.choice(_ABOUT).format(lowered)
        words = content_words(section.heading)
        first = self.rng.randrange(len(section.said))
        passage = " ".join(section.said[max(0, first - 3) : first + 3])
        yield Pair("relevance", question, passage, "relevant", "heading asked for", section.source)
        other = self.near(section, section.heading + " " + section.said[0], among=10)
        if not words <= other.words:
            yield Pair(
                "relevance",
                question,
                " ".join(other.said[:5]),
                "irrelevant",
                "heading, other section",
                section.source,
            )

    # ------------------------------------------------------------ claims

    def claims(self, section: Section, n: int) -> Iterator[Pair]:
        rng, sentence = self.rng, section.said[n]
        if len(sentence.split()) < 5:
            return

        def pair(claim: str, passage: str, label: Label, kind: str) -> Pair:
            return Pair("support", claim, passage, label, kind, section.source)

        yield pair(self.reworded(sentence), self.window(section, n), "supported", "stated")
        if rng.random() < 0.7 and (claim := drop_rest(sentence, rng)):
            yield pair(self.reworded(claim), self.window(section, n), "supported", "stated in part")
            yield pair(sentence, self.window(section, n, claim), "not_stated", "said more than told")
        for kind, edit in CONTRADICTING.items():
            if (changed := edit(sentence, rng)) and (kind != "negation" or rng.random() < 0.6):
                yield pair(self.reworded(changed), self.window(section, n), "contradicted", kind)
                yield pair(
                    self.reworded(changed),
                    self.window(section, n, changed),
                    "supported",
                    f"{kind} on both sides",
                )
                if rng.random() < 0.5:
                    yield pair(
                        self.reworded(sentence),
                        self.window(section, n, changed),
                        "contradicted",
                        f"{kind} in the passage",
                    )
        if changed := swap_name(sentence, rng):
            passage = self.window(section, n)
            if not (content_words(changed) - content_words(sentence)) & content_words(passage):
                yield pair(self.reworded(changed), passage, "unsupported", "name")
            yield pair(
                self.reworded(changed), self.window(section, n, changed), "supported", "name on both sides"
            )
        if rng.random() < 0.35 and (added := invent(sentence, rng)):
            yield pair(added, self.window(section, n), "not_stated", "invented")
            yield pair(added, self.window(section, n, added), "supported", "invented on both sides")
        if not self.told_elsewhere(section, n, sentence):
            if passage := self.without(section, n):
                yield pair(self.reworded(sentence), passage, "not_stated", "its sentence left out")
            if rng.random() < 0.5:
                other = self.near(section, sentence)
                yield pair(sentence, self._shown(other, other.said[:5]), "not_stated", "near section")
        yield from self._answers(section, n)

    def _answers(self, section: Section, n: int) -> Iterator[Pair]:
        """A question with a bare answer: its own, one with another number, or that of a neighbouring question."""
        own = [a for a in questions_of(section.said[n]) if a.answer not in ("yes", "no")]
        if not own:
            return
        asked = self.rng.choice(own)
        passage = self.window(section, n)
        yield Pair(
            "support", f"{asked.question} {asked.answer}", passage, "supported", "answer", section.source
        )
        if changed := change_number(asked.answer, self.rng):
            yield Pair(
                "support",
                f"{asked.question} {changed}",
                passage,
                "contradicted",
                "answer, number",
                section.source,
            )
        others = [
            other.answer
            for m, sentence in enumerate(section.said)
            if m != n
            for other in questions_of(sentence)
            if other.question.split()[0] == asked.question.split()[0]
            and other.answer not in ("yes", "no", asked.answer)
        ]
        if others:
            claim = f"{asked.question} {self.rng.choice(others)}"
            yield Pair(
                "support",
                claim,
                self._shown(section, section.said),
                "unsupported",
                "neighbour's answer",
                section.source,
            )

    def reworded(self, claim: str) -> str:
        """The claim, half of the time in other words."""
        if self.rng.random() < 0.5:
            return claim
        ways = [
            other
            for edit in (*KEEPING.values(),)
            if edit is not drop_rest and (other := edit(claim, self.rng))
        ]
        return self.rng.choice(ways) if ways else claim

    # ------------------------------------------------------------ rows of the eval sets

    def row(self, row: EvalRow) -> Iterator[Pair]:
        source = f"{row.corpus}/{row.id}"
        mine = [section for section in self.sections if section.corpus == row.corpus]
        gold = [s for s in mine if any(g.file == s.file and g.quote in s.text for g in row.gold)]
        for section in gold:
            for text in (section.text, self._near_quote(section, row)):
                yield Pair("relevance", row.question, text, "relevant", "fit row", source)
        words = content_words(f"{row.question} {row.answer}")
        others = sorted((s for s in mine if s not in gold), key=lambda s: -len(words & s.words))
        for section in others[: 4 if gold else 6]:
            text = self._shown(section, section.said)
            yield Pair("relevance", row.question, text, "irrelevant", "fit row, near section", source)
        if len(gold) != 1:
            return
        passage = gold[0].text
        for claim in (
            row.answer,
            f"{row.question} {row.answer}",
            *(f"{row.question} {v}" for v in row.variants[:1]),
        ):
            yield Pair("support", claim, passage, "supported", "fit row", source)
            yield Pair(
                "support",
                claim,
                self._shown(others[0], others[0].said),
                "not_stated",
                "fit row, near section",
                source,
            )
        for edit in CONTRADICTING.values():
            if changed := edit(row.answer, self.rng):
                yield Pair("support", changed, passage, "contradicted", "fit row, edited", source)

    def _near_quote(self, section: Section, row: EvalRow) -> str:
        held = [
            n
            for n, s in enumerate(section.said)
            if any(s[:30] in g.quote or g.quote[:30] in s for g in row.gold)
        ]
        return self.window(section, self.rng.choice(held)) if held else section.text
