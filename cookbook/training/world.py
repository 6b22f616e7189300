"""Subjects of the encyclopaedia that never was (``facts.py``), told in sentences and asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from cookbook.training.edits import articled
from cookbook.training.facts import Attribute, Kind


@dataclass(frozen=True)
class Subject:
    """A subject with one value for each attribute of its kind."""

    kind: Kind
    name: str
    values: dict[str, str]

    def says(self, attribute: Attribute, rng: Random, *, value: str = "", name: str = "") -> str:
        """The fact, or the same with another value or name, in one of its wordings."""
        said = rng.choice(attribute.says).format(s=name or self.name, v=value or self.values[attribute.name])
        return articled(said[0].upper() + said[1:])

    def asks(self, attribute: Attribute, rng: Random, *, aside: str = "") -> str:
        """A question for the fact. ``aside`` is a value that describes the subject, and may be a wrong one."""
        described = self.name + self.kind.aside.format(v=aside) if aside else self.name
        return articled(
            rng.choice(attribute.asks).format(s=described).replace(",?", "?").replace(",'s", "'s")
        )


def subjects(kind: Kind, n: int, rng: Random) -> list[Subject]:
    """About ``n`` subjects of a kind: those that were drawn twice are there once."""
    names = dict.fromkeys(kind.draw(rng) for _ in range(n))
    return [Subject(kind, name, {a.name: a.draw(rng) for a in kind.attributes}) for name in names]


def other_value(attribute: Attribute, value: str, rng: Random) -> str:
    """A value of the attribute that is not the one given."""
    return next(drawn for drawn in iter(lambda: attribute.draw(rng), None) if drawn != value)


def told(subject: Subject, attributes: Sequence[Attribute], rng: Random) -> Iterator[str]:
    """The facts as sentences; from the second on a pronoun may stand for the name."""
    pronoun = rng.choice(subject.kind.pronouns)
    for n, attribute in enumerate(attributes):
        ways = [way for way in attribute.says if way.startswith("{s} ")]
        if n and ways and rng.random() < 0.6:
            yield articled(rng.choice(ways).format(s=pronoun, v=subject.values[attribute.name]))
        else:
            yield subject.says(attribute, rng)
