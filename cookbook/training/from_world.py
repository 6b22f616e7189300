"""Pairs from the encyclopaedia that never was: labels follow from the facts, whatever the words."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from cookbook.training.edits import negate
from cookbook.training.facts import KINDS, Attribute
from cookbook.training.pair import Pair
from cookbook.training.world import Subject, other_value, subjects, told

SUBJECTS = 110
"""Subjects of each kind at full size; each takes part in about seven pairs of either task."""


def pairs(rng: Random, size: float = 1.0) -> Iterator[Pair]:
    """Relevance and support pairs about every subject."""
    for kind in KINDS:
        found = subjects(kind, max(4, round(SUBJECTS * size)), rng)
        for n, subject in enumerate(found):
            other = found[n - 1]
            yield from _Entry(subject, other, rng).relevance()
            yield from _Entry(subject, other, rng).support()


class _Entry:
    """A subject, a neighbour of its kind, and which of its facts the passage tells."""

    def __init__(self, subject: Subject, other: Subject, rng: Random) -> None:
        self.subject, self.other, self.rng = subject, other, rng
        attributes = list(subject.kind.attributes)
        rng.shuffle(attributes)
        self.given, self.left_out = attributes[:-1][: rng.randint(1, 5)], attributes[-1]
        self.source = f"world/{subject.name}"

    def passage(self, extra: float = 0.4) -> str:
        """The facts that are given, and often facts about the neighbour before or behind them."""
        about = list(told(self.subject, self.given, self.rng))
        if self.rng.random() < extra:
            beside = list(told(self.other, self.rng.sample(self.other.kind.attributes, 2), self.rng))
            about = beside + about if self.rng.random() < 0.5 else about + beside
        return " ".join(about)

    # ------------------------------------------------------------ questions

    def relevance(self) -> Iterator[Pair]:
        asked, rng = self.rng.choice(self.given), self.rng
        question = self.subject.asks(asked, rng)
        alone = self.subject.says(asked, rng)
        yield self._question(question, self.passage(), True, "world: told")
        yield self._question(self.subject.asks(asked, rng), alone, True, "world: told alone")
        yield self._question(
            self.subject.asks(self.left_out, rng), self.passage(0), False, "world: another fact"
        )
        theirs = " ".join(told(self.other, [asked, self.left_out], rng))
        yield self._question(question, theirs, False, "world: another subject")
        # The subject is there and so is the kind of fact, only not together.
        both = [self.other.says(self.left_out, rng), *told(self.subject, self.given, rng)]
        yield self._question(self.subject.asks(self.left_out, rng), " ".join(both), False, "world: mixed")
        described = next(a for a in self.subject.kind.attributes if a.name == self.subject.kind.described_by)
        if asked is not described:
            value = self.subject.values[described.name]
            text = f"{self.subject.says(described, rng)} {self.subject.says(asked, rng)}"
            yield self._question(self.subject.asks(asked, rng, aside=value), text, True, "world: described")
            wrong = other_value(described, value, rng)
            yield self._question(
                self.subject.asks(asked, rng, aside=wrong), text, False, "world: described wrongly"
            )

    def _question(self, question: str, passage: str, answered: bool, kind: str) -> Pair:
        return Pair(
            "relevance", question, passage, "relevant" if answered else "irrelevant", kind, self.source
        )

    # ------------------------------------------------------------ claims

    def support(self) -> Iterator[Pair]:
        fact, rng = self.rng.choice(self.given), self.rng
        value = self.subject.values[fact.name]
        theirs = self.other.values[fact.name]
        wrong = theirs if theirs != value and rng.random() < 0.5 else other_value(fact, value, rng)
        text = self.passage()
        true, false = self.claim(fact, value), self.claim(fact, wrong)
        yield Pair("support", true, text, "supported", "world: true", self.source)
        yield Pair("support", false, text, "contradicted", "world: other value", self.source)
        absent = self.claim(self.left_out, self.subject.values[self.left_out.name])
        yield Pair("support", absent, self.passage(0), "not_stated", "world: another fact", self.source)
        stranger = self.other.says(fact, rng)
        yield Pair("support", stranger, self.passage(0), "not_stated", "world: another subject", self.source)
        if denied := negate(self.subject.says(fact, rng), rng):
            yield Pair("support", denied, text, "contradicted", "world: denied", self.source)
        if denied := negate(self.subject.says(fact, rng, value=wrong), rng):
            yield Pair("support", denied, text, "supported", "world: other value denied", self.source)
        yield from self.two_facts(text)
        yield from self.rough(fact, value, text)

    def claim(self, fact: Attribute, value: str) -> str:
        """A sentence, or now and then the question and the bare value: answers come in both forms."""
        if self.rng.random() < 0.3:
            return f"{self.subject.asks(fact, self.rng)} {value}"
        return self.subject.says(fact, self.rng, value=value)

    def two_facts(self, text: str) -> Iterator[Pair]:
        """A true claim with a second one that is true, false or not told: the whole is as good as its worst part."""
        if len(self.given) < 2:
            return
        first, second = self.rng.sample(self.given, 2)
        value = self.subject.values[second.name]
        name = self.rng.choice([self.subject.name, *self.subject.kind.pronouns])
        ways = [way for way in second.says if way.startswith("{s} ")]
        lead = self.subject.says(first, self.rng)[:-1]
        if not ways:
            return
        for given, label in ((value, "supported"), (other_value(second, value, self.rng), "contradicted")):
            said = self.rng.choice(ways).format(
                s=name if name == self.subject.name else name.lower(), v=given
            )
            yield Pair("support", f"{lead}, and {said}", text, label, "world: two facts", self.source)  # type: ignore[arg-type]

    def rough(self, fact: Attribute, value: str, text: str) -> Iterator[Pair]:
        """A number said roughly: more than 40,000, before 1950. True and false ones in equal parts."""
        digits = value.replace(",", "")
        if not digits.isdigit() or int(digits) < 20:
            return
        n, year = int(digits), len(digits) == 4 and "," not in value and 1000 < int(digits) < 2100
        is_year = year and any(word in fact.asks[0] for word in ("When", "year"))
        up = self.rng.random() < 0.5
        bound = n + (1 if up else -1) * (
            self.rng.randint(2, 60) if is_year else max(2, n // self.rng.randint(3, 9))
        )
        shown = str(bound) if is_year else f"{bound:,}"
        below, above = ("before", "after") if is_year else ("fewer than", "more than")
        for word, true in ((below, up), (above, not up)):
            way = next((way for way in fact.says if "in {v}" in way or not is_year), "")
            if not way:
                return
            said = way.replace("in {v}", f"{word} {{v}}") if is_year else way.replace("{v}", f"{word} {{v}}")
            said = said.format(s=self.subject.name, v=shown)
            said = said[0].upper() + said[1:]
            yield Pair(
                "support", said, text, "supported" if true else "contradicted", "world: roughly", self.source
            )
