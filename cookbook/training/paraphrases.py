"""Edits that keep the truth of a sentence: other words, another order, a number spelled out, a reason left out."""

from __future__ import annotations

import re
from random import Random

from cookbook.training.clauses import RELATIVE, in_code, main_clause
from cookbook.training.edits import NUMBER, WRITTEN, WRITTEN_NUMBER, Edit

_SAME = r"""
at once | immediately
at most(?= \d) | no more than
up to(?= \d) | at most
at least(?= \d) | no fewer than
cannot | can't
is not | isn't
are not | aren't
does not | doesn't
do not | don't
must be | has to be
needs | requires
about(?= \d) | roughly
therefore | for that reason
hence | so
as well | too
whereas | while
seldom | rarely
because | since
removed | taken away
deleted | erased
shows | displays
begins | starts
ends | finishes
every | each
within(?= \d) | in no more than
until | up to the moment when
however | though
for example | for instance
instead of | rather than
larger | bigger
allows | permits
gives | yields
is called | has the name
also | in addition
stays | remains
happens | takes place
usually | normally
entirely | completely
big | large
""".strip().splitlines()
_SAME_PAIRS = [tuple(part.strip() for part in row.split("|")) for row in _SAME]
_DIGITS = {str(n): word for n, word in enumerate(WRITTEN, 2)}


def reword(sentence: str, rng: Random) -> str | None:
    """Up to three words or phrases replaced by others that mean the same."""
    found = [
        (old, new)
        for old, new in _SAME_PAIRS
        if (m := re.search(rf"(?<![\w`-]){old}(?![\w`-])", sentence)) and not in_code(sentence, m.start())
    ]
    for old, new in rng.sample(found, min(len(found), 3)):
        sentence = re.sub(rf"(?<![\w`-]){old}(?![\w`-])", new, sentence, count=1)
    return sentence if found else None


def turn_condition(sentence: str, rng: Random) -> str | None:
    """The condition moved to the other end: "If A, B." and "B if A." say the same."""
    if (m := re.match(r"(If|When|Once|While|After|Before) ([^,;:]+), ([^,;:]+)\.$", sentence)) is not None:
        if re.match(r"(?:it|he|she|they|this|that|its|then)\b", m[3]):
            return None  # the pronoun would stand before its noun
        return f"{m[3][0].upper()}{m[3][1:]} {m[1].lower()} {m[2]}."
    if (m := re.match(r"([A-Z][^,;:`]+) (if|when) ([^,;:]+)\.$", sentence)) is not None:
        if RELATIVE.search(m[1]) or re.match(r"(?:it|he|she|they|this|that)\b", m[3]):
            return None
        if re.search(r"\b(?:only|even|and|or|at|just|except|than)$", m[1]):
            return None
        return f"{m[2].capitalize()} {m[3]}, {m[1][0].lower()}{m[1][1:]}."
    return None


def respell_number(sentence: str, rng: Random) -> str | None:
    """A small number in words, a written one in digits, a long one with or without its comma."""
    choices: list[tuple[int, int, str]] = []
    for m in NUMBER.finditer(sentence):
        if in_code(sentence, m.start()):
            continue
        if m[1] in _DIGITS and not re.match(r"\s?(?:%|[kMGT]B)", sentence[m.end() :]):
            choices.append((m.start(), m.end(), _DIGITS[m[1]]))
        elif "," in m[1]:
            choices.append((m.start(), m.end(), m[1].replace(",", "")))
    for m in WRITTEN_NUMBER.finditer(sentence):
        if m.start() and not in_code(sentence, m.start()):
            choices.append((m.start(), m.end(), str(WRITTEN.index(m[1].lower()) + 2)))
    if not choices:
        return None
    start, end, new = rng.choice(choices)
    return sentence[:start] + new + sentence[end:]


_CUT = (
    re.compile(r", (?:so|which|because|since|as|therefore|hence) .*(?=\.$)"),
    re.compile(r" because [^,;]*(?=\.$)"),
    re.compile(r"; .*(?=\.$)"),
    re.compile(r": .*(?=\.$)"),
    re.compile(r",? and (?:is|are|can|must|cannot|has|have|does|returns|gives|takes|was|were) .*(?=\.$)"),
)


def drop_rest(sentence: str, rng: Random) -> str | None:
    """The sentence without a reason or a second statement at its end. What stays is still said by the whole."""
    cut = [
        sentence[: found.start()] + "."
        for pattern in _CUT
        if (found := pattern.search(sentence))
        and found.start() > 15
        and sentence.count("`", 0, found.start()) % 2 == 0
    ]
    # "Either ..., and": half a choice is another statement, and so is a condition without what follows from it.
    cut = [
        text for text in cut if main_clause(text) >= 0 and not re.match(r"(?:Either|Neither|Both)\b", text)
    ]
    return rng.choice(cut) if cut else None


KEEPING: dict[str, Edit] = {
    "reworded": reword,
    "shortened": drop_rest,
    "condition": turn_condition,
    "respelled": respell_number,
}
