"""The numbers of a text as values with units, so that "2.4 million" equals "2,400,000" and 5 mg is not 5 g.

Known misses: numbers inside codes and versions (LK-504, v1.2.3) are names and left to whoever compares
words; written numbers above twelve, "first" and the seconds of a time of day are not read; of a range
("10-20 days") the first number has no unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from cookbook.reflect.terms import content_words

# ---------------------------------------------------------------- units

_UNITS = """
mass       mg 0.001    mg milligram milligrams
mass       g 1         g gram grams gramme grammes
mass       kg 1000     kg kilo kilos kilogram kilograms
time       ms 0.001    ms millisecond milliseconds
time       second 1    s sec secs second seconds
time       minute 60   min mins minute minutes
time       hour 3600   h hr hrs hour hours
time       day 86400   day days
time       week 604800 week weeks
calendar   month 1     month months
calendar   year 12     yr yrs year years
data       byte 1      byte bytes
data       kB 1e3      kb kilobyte kilobytes
data       MB 1e6      mb megabyte megabytes
data       GB 1e9      gb gigabyte gigabytes
data       TB 1e12     tb terabyte terabytes
length     mm 0.001    mm millimetre millimetres millimeter millimeters
length     cm 0.01     cm centimetre centimetres centimeter centimeters
length     m 1         m metre metres meter meters
length     km 1000     km kilometre kilometres kilometer kilometers
share      % 1         % percent percentage
dollar     $ 1         $ dollar dollars usd
euro       € 1         € euro euros eur
pound      £ 1         £ pound pounds gbp
factor     x 1         x times
clock      clock 1
"""
_ROWS = [line.split() for line in _UNITS.strip().splitlines()]
_SPELLED = {word: unit for _, unit, _, *words in _ROWS for word in words}
_SCALE = {unit: (dimension, Decimal(factor)) for dimension, unit, factor, *_ in _ROWS}

_WRITTEN = {
    word: n
    for n, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
}
_PLACES = {
    word: n
    for n, word in enumerate(
        "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 2
    )
}
_TIMES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "k": 10**3, "m": 10**6, "bn": 10**9}
_BETWEEN = frozenset("working business calendar full whole consecutive more further other extra".split())
"""Words between a number and its unit that leave the unit as it is: ten working days are days."""


@dataclass(frozen=True)
class Quantity:
    """A number in a text. ``unit`` is one of the table above, else the counted noun in the singular
    ("feature"), "ordinal" or "". A time of day is in minutes after midnight, unit "clock"."""

    value: Decimal
    unit: str = ""

    @property
    def measured(self) -> bool:
        """True for a unit of the table, False for a counted noun or none."""
        return self.unit in _SCALE

    def __str__(self) -> str:
        if self.unit == "clock":
            return f"{int(self.value) // 60}:{int(self.value) % 60:02}"
        shown = format(self.value.normalize(), "f")
        return shown + self.unit if self.unit == "%" else f"{shown} {self.unit}".strip()

    def equals(self, other: Quantity) -> bool:
        """The same amount: 60 minutes are 1 hour. A counted noun or no unit stands beside any other of these."""
        if self.measured and other.measured:
            (dimension, factor), (of_other, factor_of_other) = _SCALE[self.unit], _SCALE[other.unit]
            return dimension == of_other and self.value * factor == other.value * factor_of_other
        if self.value != other.value:
            return False
        return not (self.unit and other.unit) or self.measured == other.measured


# ---------------------------------------------------------------- reading

_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)
_GROUPED = re.compile(r"(?<=\d)[,\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_NUMBER = re.compile(
    rf"""
    (?<![\w.]) (?<![A-Za-z]-) (?<!\d:)                         # not inside a code, a version, a time
    (?: (?P<clock>\d{{1,2}}:\d{{2}})(?!\d)(?:\:\d{{2}})? (?:\s?(?P<half>[ap])\.?m\b\.?)?
      | (?P<hour>\d{{1,2}})\s?(?P<at>[ap])\.?m\b\.?
      | (?:(?P<coin>[$€£])\s?)?(?P<sign>(?<![\w)])-)?(?P<digits>\d+(?:\.\d+)?)(?![.]\d)
        (?P<place>(?:st|nd|rd|th)\b)?
      | \b(?!one\s(?:of|another|or|can|could|is|may|must)\b)(?<!\bno\s)(?P<word>{"|".join(_WRITTEN)})\b
      | (?<=\bthe\s)(?P<ordinal>{"|".join(_PLACES)})\b
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AFTER = re.compile(r"[\s-]?(?P<word>%|[^\W\d_]+)")
_ARTICLE = re.compile(r"\b(?:an?|each|every|per|single)\s([a-z]+)", re.IGNORECASE)


def ungrouped(text: str) -> str:
    """The text with the separators of thousands taken out: "20,000" becomes "20000"."""
    return _GROUPED.sub("", text)


def numbers_in(text: str) -> list[Quantity]:
    """Every number of the text, in order, with its unit."""
    return list(_read(_PER_CENT.sub("percent", ungrouped(text))))


def unstated_numbers(claim: str, premise: str) -> list[Quantity]:
    """The numbers of the claim that the premise does not state.

    A noun that both count must be counted alike, so that "3 features and 12 bugs" is not "12 features and
    3 bugs"; a number without a noun may be an ellipsis ("5 guests on Starter, 50 on Studio") and fits any.
    In the premise "an hour" is one hour, and "a board" is one of anything.
    """
    given, ones = numbers_in(premise), list(_articles(premise))

    def stated(number: Quantity) -> bool:
        others = [*given, *ones]
        if number.unit and not number.measured and any(other.unit == number.unit for other in given):
            others = [other for other in given if other.unit in (number.unit, "")]
        return any(number.equals(other) for other in others)

    return [number for number in numbers_in(claim) if not stated(number)]


def _articles(text: str) -> Iterator[Quantity]:
    for match in _ARTICLE.finditer(text):
        yield Quantity(Decimal(1), _unit_of(match[1]))


def _read(text: str) -> Iterator[Quantity]:
    position = 0
    while match := _NUMBER.search(text, position):
        position = match.end()
        if match["clock"] or match["hour"]:
            yield _time_of_day(match)
        elif match["ordinal"] or match["place"]:
            yield Quantity(Decimal(match["digits"] or _PLACES[match["ordinal"].lower()]), "ordinal")
        else:
            value = Decimal(match["digits"] or _WRITTEN[match["word"].lower()])
            times, unit, position = _unit(text, position)
            if unit is None:
                continue  # letters grown onto the digits: 2FA
            value *= times if not match["sign"] else -times
            yield Quantity(value, _SPELLED[match["coin"]] if match["coin"] else unit)


def _time_of_day(match: re.Match[str]) -> Quantity:
    hours, minutes = map(int, match["clock"].split(":")) if match["clock"] else (int(match["hour"]), 0)
    half = (match["half"] or match["at"] or "").lower()
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    return Quantity(Decimal(60 * hours + minutes), "clock")


def _unit(text: str, position: int) -> tuple[int, str | None, int]:
    """What follows a number: its multiplier, its unit (None: part of a code), and where that ends."""
    times, start = 1, position
    match = _AFTER.match(text, position)
    if match and (word := match["word"]).lower() in _TIMES:
        attached = match.start("word") == position
        # "5 m" and "5m" are metres, "5M" is a multiplier; a lone k or bn is one only where it is attached.
        if len(word) > 2 or (attached and (word == "M" or word.lower() in ("k", "bn"))):
            times, position = _TIMES[word.lower()], match.end()
            match = _AFTER.match(text, position)
    if match and match["word"].lower() in _BETWEEN:
        position = match.end()
        match = _AFTER.match(text, position)
    if match is None:
        return times, "", position
    word = match["word"].lower()
    if match.start("word") == start and word not in _SPELLED:
        return times, None, match.end()
    return times, _unit_of(word), match.end() if word in _SPELLED else position


def _unit_of(word: str) -> str:
    """The unit that a word spells, else the word itself in the singular, "" for a stop word."""
    word = word.lower()
    return _SPELLED.get(word) or "".join(content_words(word))
