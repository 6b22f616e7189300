"""Words that carry the question: exact terms a rewrite must keep, and words two texts share."""

from __future__ import annotations

import re

#: Codes (LK-504, E0382), paths (/v1/sync), versions (v1.2.3), numbers with their unit sign.
_EXACT = re.compile(
    r"""(?<![\w/<])/[\w./-]*\w     # a path
      | \b[A-Za-z]+-?\d[\w.-]*\b   # a code or a version
      | \b\d[\d.,:]*%?             # a number
      | "[^"\n]{1,60}"             # a quoted phrase
    """,
    re.VERBOSE,
)
_NEGATION = re.compile(r"\b(?:not|no|never|without|except|cannot|can't|don't|doesn't|isn't|won't)\b", re.I)
_CONSTRAINT = re.compile(r"\b(?:before|after|until|since|excluding|only)\b", re.I)
_NAME = re.compile(r"""(?<=[^\W_])[,;:)"']*\s+["'(]*([A-Z][^\W_]*(?:-[^\W_]+)*)""")
_WORD = re.compile(r"[^\W_]+(?:[-'./][^\W_]+)*")
_STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its "
    "me my of on or our so than that the their them then there these they this to was we were what when where "
    "which who why will with would you your".split()
)


def exact_terms(question: str) -> list[str]:
    """Codes, paths, numbers and quoted phrases, in order of appearance, without trailing punctuation."""
    return [m.group().rstrip(".,:") for m in _EXACT.finditer(question)]


def lost_terms(question: str, query: str) -> list[str]:
    """What ``query`` dropped of the question: exact terms, a negation, a time or scope constraint."""
    low = query.lower()
    lost = [t for t in exact_terms(question) if t.strip('"').lower() not in low]
    for pattern in (_NEGATION, _CONSTRAINT):
        found = pattern.findall(question)
        if found and not pattern.search(query):
            lost.append(found[0])
    return lost


def names(text: str) -> list[str]:
    """Words with a capital letter that do not begin a sentence, in order, each once; I is none."""
    found = (match[1] for match in _NAME.finditer(text))
    return list(dict.fromkeys(word for word in found if word != "I"))


def lost_names(question: str, query: str) -> list[str]:
    """The names of ``question`` that ``query`` does not mention."""
    return [name for name in names(question) if name.casefold() not in query.casefold()]


def content_words(text: str) -> set[str]:
    """Lower-cased words and codes that are not stop words, with a plural s taken off."""
    words = (w.lower().removesuffix("'s") for w in _WORD.findall(text))
    return {w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in words} - _STOP
