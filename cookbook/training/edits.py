"""Edits of a sentence that change what it says, and how: labels that need no labeller.

Each function takes a sentence and a random generator and gives the edited sentence, or None where it does not
apply. It would rather not apply than be wrong: a negation inside a condition, for example, is left alone.
``CONTRADICTING`` edits make a sentence that the old one denies, ``UNSUPPORTED`` edits one that it does not state
(it may deny it: who else can do a thing is left open). Those that change nothing are in ``paraphrases.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

from cookbook.training.clauses import (
    QUANTIFIED,
    RELATIVE,
    VERB,
    auxiliary,
    base_form,
    in_code,
    main_clause,
    predicate,
)

Edit = Callable[[str, Random], str | None]

# ---------------------------------------------------------------- negation

_DENIED = {
    "can": "cannot", "cannot": "can", "can't": "can", "must": "does not have to", "will": "will not", "would": "would not",
    "should": "should not", "is": "is not", "are": "are not", "was": "was not", "were": "were not",
    "has to": "does not have to", "have to": "do not have to", "isn't": "is", "aren't": "are", "wasn't": "was",
    "weren't": "were", "won't": "will",
}  # fmt: skip


def negate(sentence: str, rng: Random) -> str | None:
    """The sentence with its main clause denied, or with its "not" taken out."""
    if not (found := auxiliary(sentence)):
        return _negate_verb(sentence)
    before, word, after = sentence[: found.start()], found[1], sentence[found.end() :]
    if QUANTIFIED.search(before):
        return None
    if (negated := re.match(r" not\b(?! only)", after)) and word in (
        "is",
        "are",
        "was",
        "were",
        "must",
        "will",
        "may",
    ):
        return f"{before}{word}{after[negated.end() :]}"
    if re.match(r" (?:never|no|only|not|neither|nothing)\b", after) or word == "may":
        return None
    if word.startswith(("do", "did")):
        # "does not need" becomes "does need": clumsier than "needs", and never wrong.
        plain = word.removesuffix(" not").removesuffix("n't")
        return f"{before}{plain}{after}"
    return f"{before}{_DENIED[word]}{after}"


def _negate_verb(sentence: str) -> str | None:
    start = main_clause(sentence)
    if start < 0 or not (found := VERB.search(sentence, start)):
        return None
    before = sentence[start : found.start()]
    if (
        not before.strip()
        or RELATIVE.search(before)
        or re.search(r"[,;:?()]", before)
        or QUANTIFIED.search(before)
    ):
        return None
    if re.search(r"\b(?:a|an|the|of|to|and|per|its|their)\s$", before) or re.match(
        r" (?:no|not|nothing|only|never)\b", sentence[found.end() :]
    ):
        return None
    return f"{sentence[: found.start()]}does not {base_form(found[1])}{sentence[found.end() :]}"


# ---------------------------------------------------------------- numbers, units, dates

NUMBER = re.compile(
    r"(?<![\w.,:/=^<>'-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w:^'=]|[.,-]\d|-[a-z]+-)(?!\s*[*=^+])"
)
WRITTEN = "two three four five six seven eight nine ten eleven twelve".split()
WRITTEN_NUMBER = re.compile(rf"\b({'|'.join(WRITTEN)})\b(?!-)", re.IGNORECASE)


def other_number(digits: str, rng: Random) -> str:
    """A different number of the same look: 14 may become 21, 20,000 becomes 50,000, 1873 another year near it."""
    value = float(digits.replace(",", ""))
    if "." in digits:
        places = len(digits.partition(".")[2])
        return f"{value * rng.choice([0.5, 0.8, 1.25, 1.5, 2]) + 10**-places:.{places}f}"
    if 1000 < value < 2100 and "," not in digits:
        return str(int(value) + rng.choice([-1, 1]) * rng.randint(1, 30))
    if value < 10:
        choices = [n for n in range(1, 13) if n != value]
    else:
        choices = [round(value * factor) for factor in (0.2, 0.5, 0.7, 1.5, 2, 3, 5)]
        choices += [int(value) + step for step in (-3, -1, 1, 2, 5)]
    found = rng.choice([n for n in choices if n not in (value, 0)])
    return f"{found:,}" if "," in digits else str(found)


def change_number(sentence: str, rng: Random) -> str | None:
    """One number replaced by another; numbers in code, codes, versions and formulas are left alone."""
    found = [m for m in NUMBER.finditer(sentence) if not in_code(sentence, m.start())]
    written = [m for m in WRITTEN_NUMBER.finditer(sentence) if not in_code(sentence, m.start())]
    # "Two references are an error" is not denied by "ten references are an error".
    found += [m for m in written if m.start() > predicate(sentence)]
    if not found:
        return None
    match = rng.choice(found)
    if match[1][0].isdigit():
        new = other_number(match[1], rng)
    else:
        new = rng.choice([word for word in WRITTEN if word != match[1].lower()])
        new = new.capitalize() if match[1][0].isupper() else new
    return sentence[: match.start()] + new + sentence[match.end() :]


_UNITS = (
    ("seconds", "minutes", "hours", "days", "weeks", "months", "years"),
    ("second", "minute", "hour", "day", "week", "month", "year"),
    ("kB", "MB", "GB", "TB"),
    ("metres", "kilometres"), ("kilograms", "tonnes"), ("dollars", "euros"), ("thousand", "million", "billion"),
)  # fmt: skip
_DATES = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "January February March April June July August September October November December".split(),
)


def change_unit(sentence: str, rng: Random) -> str | None:
    """The unit behind a number replaced by another of its kind: 14 days become 14 weeks."""
    spelled = {word: [other for other in row if other != word] for row in _UNITS for word in row}
    pattern = rf"(?<=\d) ?(?:(?:working|business|calendar) )?({'|'.join(spelled)})\b"
    found = [m for m in re.finditer(pattern, sentence) if not in_code(sentence, m.start())]
    return _replaced(sentence, found, spelled, rng)


def change_date(sentence: str, rng: Random) -> str | None:
    """A month or a weekday replaced by another."""
    named = {word: [other for other in row if other != word] for row in _DATES for word in row}
    return _replaced(sentence, list(re.finditer(rf"\b({'|'.join(named)})\b", sentence)), named, rng)


def _replaced(
    sentence: str, found: Sequence[re.Match[str]], choices: Mapping[str, Sequence[str]], rng: Random
) -> str | None:
    if not found:
        return None
    match = rng.choice(found)
    return sentence[: match.start(1)] + rng.choice(list(choices[match[1]])) + sentence[match.end(1) :]


# ---------------------------------------------------------------- words for their opposites, names for others

_OPPOSITES = """
at least | at most
more than | less than
larger | smaller
larger than | smaller than
first day | last day
at once | a week later
the first | the last
larger plan | smaller plan
public | private
faster | slower
higher | lower
longer | shorter
the same | a different
increases | decreases
rises | falls
always | never
allowed | forbidden
included | left out
mutable | immutable
at compile time | at run time
free of charge | charged for
visible | hidden
possible | impossible
upper | lower
"""
_PAIRS = [[part.strip() for part in row.split("|")] for row in _OPPOSITES.strip().splitlines()]
_OPPOSITE = {a: b for a, b in _PAIRS} | {b: a for a, b in _PAIRS}  # noqa: C416 (the rows have two parts)


def oppose(sentence: str, rng: Random) -> str | None:
    """One word of the main clause replaced by its opposite: at most becomes at least, public private."""
    words = "|".join(sorted(map(re.escape, _OPPOSITE), key=len, reverse=True))
    found = [
        m
        for m in re.finditer(rf"(?<![\w`-])({words})(?![\w`-])", sentence)
        if not in_code(sentence, m.start())
    ]
    # Two opposites in a sentence contrast with each other; swapping one makes a muddle, not a denial. And a
    # subject that is changed ("a smaller plan") makes a statement about something else.
    if (
        len(found) != 1
        or re.search(r"\b(?:not|no|than the)\b", sentence)
        or found[0].start() < predicate(sentence)
    ):
        return None
    return _replaced(sentence, found, {word: [other] for word, other in _OPPOSITE.items()}, rng)


KINDS_OF_NAMES: tuple[tuple[str, ...], ...] = (
    ("Starter", "Studio", "Enterprise"),
    ("owner", "admin", "member", "guest"),
    ("owners", "admins", "members", "guests"),
    ("board", "project", "workspace", "task", "checklist", "template", "comment", "report"),
    ("boards", "projects", "workspaces", "tasks", "checklists", "templates", "comments", "reports"),
    ("iOS", "Android"), ("Slack", "GitHub", "Zapier"), ("CSV", "JSON", "PDF"), ("read", "write"),
    ("Vec", "String", "Box", "Rc", "Arc", "Cell", "RefCell", "Mutex", "RwLock", "Option", "Result"),
    ("struct", "enum", "trait", "function", "closure", "macro", "module", "crate", "method"),
    ("structs", "enums", "traits", "functions", "closures", "macros", "modules", "crates", "methods"),
    ("thread", "process", "task", "channel"), ("mutex", "channel", "slice", "iterator", "future"),
    ("Send", "Sync", "Copy", "Clone", "Drop", "Deref", "Debug", "Default", "Hash"),
    ("encoder", "decoder"), ("queries", "keys", "values"), ("English-German", "English-French"),
    ("self-attention", "recurrence", "convolution"), ("base model", "big model"),
)  # fmt: skip


def swap_name(sentence: str, rng: Random, kinds: Sequence[Sequence[str]] = KINDS_OF_NAMES) -> str | None:
    """One name or role replaced by another of its kind that the sentence does not mention."""
    said = set(re.findall(r"[\w-]+", sentence))
    others = {w: [o for o in row if o not in said and o + "s" not in said] for row in kinds for w in row}
    words = "|".join(
        sorted((re.escape(word) for word, left in others.items() if left), key=len, reverse=True)
    )
    if not words or not (found := list(re.finditer(rf"(?<![\w-])({words})(?![\w-])", sentence))):
        return None
    old = rng.choice(found)[1]
    return articled(re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", rng.choice(others[old]), sentence))


def articled(sentence: str) -> str:
    """The sentence with a or an as the next letter demands; words said otherwise (a user, an hour) keep theirs."""

    def fitting(match: re.Match[str]) -> str:
        article = "an" if match[2].lower() in "aeiou" else "a"
        return (article.capitalize() if match[1][0] == "A" else article) + " " + match[2] + match[3]

    return re.sub(r"\b([Aa]n?) ([A-Za-z])((?!ni|se|ne\b|our|ono)\w+)", fitting, sentence)


# ---------------------------------------------------------------- what is left out, and what is added

_INVENTED = """
, but only on weekdays
, for an extra fee
, after a manager has approved it
, as long as nobody objects
, twice a year
, but not in older versions
, which was decided in a public vote
, with the exception of trial customers
, and a copy is sent to the tax office
, although many people advise against it
, since a law requires it
, and the result is printed on paper
, which costs 12 dollars
, and this has been so since 2011
, at the request of a Danish customer
, in honour of its inventor
, and it took nine years to get there
, provided that the weather allows it
, as a newspaper reported
, together with her brother
""".strip().splitlines()


def invent(sentence: str, rng: Random) -> str | None:
    """A true sentence with a claim added that no text of ours makes."""
    return f"{sentence[:-1]}{rng.choice(_INVENTED)}." if sentence.endswith(".") else None


CONTRADICTING: dict[str, Edit] = {
    "negation": negate,
    "number": change_number,
    "unit": change_unit,
    "date": change_date,
    "opposite": oppose,
}
UNSUPPORTED: dict[str, Edit] = {"name": swap_name, "invented": invent}
