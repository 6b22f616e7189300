"""BM25's half of hybrid search: text into terms, and terms into the sparse weights that Qdrant scores.

Qdrant keeps the document frequencies and multiplies by IDF itself (``Modifier.IDF``); what it needs
from us is, per chunk, the saturated term frequency of BM25 (Robertson and Zaragoza 2009):

    weight(term, chunk) = n * (K1 + 1) / (n + K1 * (1 - B + B * length / AVERAGE_LENGTH))

with n the count of the term and length the number of terms of the chunk. The average is a constant
rather than the corpus's own, so that adding one chunk does not change the weights of all others.

Stop words and the stemmer are here because they were measured: of the 175 gold passages of the three
small corpora, cut into sections, BM25 finds 84 % in its first five without them, 87 % with either one
and 90 % with both. tests/test_retrieval.py repeats the measurement.
Taught in notebooks/02_chunks_to_store.ipynb.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from decimal import Decimal
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import regex

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 50
#: Stored with a collection: terms made by other rules cannot be compared with these.
RULES = f"terms-2 k1={K1} b={B} average={AVERAGE_LENGTH}"

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--{_UNSPACED}]"
_JOINT = r"[-./:@+#&']"
_TERM = regex.compile(
    rf"""(?V1)
    (?P<unspaced>{_UNSPACED}+)
  | (?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?) (?!{_WORD}|{_JOINT}{_WORD})
    (?:\s(?P<scale>thousand|million|billion)\b)?
  | (?P<word>{_WORD}+(?:{_JOINT}{_WORD}+)*(?:\+\+|\#)?)
    """,
    regex.VERBOSE,
)
_STOP_WORDS = """
a about am an and are as at be been but by can could did do does for from had has have he her his how
i if in into is it its me my no not of on or our she should so such than that the their them then there
these they this those to too us was we were what when where which who why will with would you your
"""
_PARTS = regex.compile(r"[-./:@+#&'_]+")
_stopped = frozenset(_STOP_WORDS.split())
_stemming = Lock()
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}

SparseWeights = tuple[list[int], list[float]]
"""Term ids (unsigned 32 bit, ascending, unique) and the weight of each."""


def terms(text: str) -> list[str]:
    """The searchable terms of a text, in order; [] when it has none ("???", "the of and").

    - Lower case and Unicode compatibility forms; a possessive 's is dropped, and so are English
      stop words; other English words lose their endings (Snowball: exporting, exports -> export).
    - An identifier stays whole and also gives its parts: ``LK-504`` -> lk-504, lk, 504.
      ``C++``, ``v1.2.3``, ``node.js``, ``/v1/sync`` and ``ER20328_23`` survive that way.
    - Numbers lose their thousands commas, and "2.4 million" gives 2400000 as well.
    - Scripts that are written without spaces (and Hangul, whose particles stick to the noun) give
      every pair of neighbouring characters; a lone character stands for itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    found: list[str] = []
    for match in _TERM.finditer(folded):
        if run := match["unspaced"]:
            found += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
        elif number := match["number"]:
            plain = number.replace(",", "")
            found.append(plain)
            if scale := match["scale"]:
                found += [scale, format((Decimal(plain) * _SCALES[scale]).normalize(), "f")]
        elif any(map(str.isalnum, match["word"])):  # not a line of underscores
            word = match["word"].removesuffix("'s")
            parts = [part for part in _PARTS.split(word) if len(part) > 1]
            found += [word, *parts] if parts != [word] else [word]
    return [_stem(term) for term in found if term not in _stopped]


@cache
def _english() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def _stem(term: str) -> str:
    """The stem of a plain word; identifiers, numbers and other alphabets stay as they are."""
    if not (term.isascii() and term.isalpha()):
        return term
    with _stemming:  # a stemmer keeps its word in itself
        return str(_english().stemWord(term))


def term_id(term: str) -> int:
    """An unsigned 32-bit id, the same on every machine.

    Two terms may share one: with 10,000 different terms the chance that any two do is about 1 %.
    They are then counted as one term, which costs a little precision and breaks nothing.
    """
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest())


def chunk_weights(text: str) -> SparseWeights:
    """BM25 term-frequency weights of a chunk, without IDF."""
    found = terms(text)
    length_norm = K1 * (1 - B + B * len(found) / AVERAGE_LENGTH)
    counts = Counter(map(term_id, found))
    ids = sorted(counts)
    return ids, [counts[i] * (K1 + 1) / (counts[i] + length_norm) for i in ids]


def query_weights(text: str) -> SparseWeights:
    """Each different term of a query once."""
    ids = sorted({term_id(term) for term in terms(text)})
    return ids, [1.0] * len(ids)
