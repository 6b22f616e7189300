"""Says when a question is in a language that the embedder was not made for.

An English embedder puts a Japanese question beside no passage, right or wrong. "The documents do not say"
would then be a claim about the documents that nobody has checked; what failed is the search.
Taught in notebooks/62_your_own_documents.ipynb.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from cookbook.embedders import Embedder
from cookbook.schema import Answer, Status

if TYPE_CHECKING:
    from cookbook.retrieval import Retriever

#: Embedders made for few languages (ISO 639-1). One that is not listed is taken to read them all.
READS = {
    "all-minilm-l6-v2": ("en",),
    "ollama/all-minilm": ("en",),
    "ollama/mxbai-embed-large": ("en",),
    "ollama/nomic-embed-text": ("en",),
}
_NAMES = dict(
    pair.split(":")
    for pair in """
am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish
de:German el:Greek en:English es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fr:French gu:Gujarati
he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian is:Icelandic it:Italian ja:Japanese ka:Georgian
kn:Kannada ko:Korean ku:Kurdish lo:Lao lt:Lithuanian lv:Latvian ml:Malayalam mr:Marathi ms:Malay nl:Dutch
no:Norwegian or:Odia pa:Punjabi pl:Polish pt:Portuguese ro:Romanian ru:Russian sk:Slovak sl:Slovene
sq:Albanian sr:Serbian sv:Swedish ta:Tamil te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu
vi:Vietnamese yo:Yoruba zh:Chinese
""".split()
)
_NOT_WORDS = re.compile(r"`[^`]*`|\S*[_/\\@#<>{}()=]\S*")  # code, paths and addresses are in no language


def language_of(text: str) -> str:
    """The language of a text (ISO 639-1), empty when its words do not tell.

    eld counts letter groups. Of 206 English questions of the eval sets it takes none for another language;
    of 42 short questions in 25 others it does not tell one (tests/test_language.py).
    """
    found = _detector().detect(_NOT_WORDS.sub(" ", text))
    return str(found.language) if found.language and found.is_reliable() else ""


@cache
def _detector() -> Any:
    from eld import LanguageDetector

    return LanguageDetector()


def unread(text: str, embedder: Embedder) -> str:
    """The name of the text's language when the embedder does not read it, else empty."""
    reads = READS.get(embedder.fingerprint.name)
    if reads is None or (found := language_of(text)) in ("", *reads):
        return ""
    return _NAMES.get(found, found)


def notice(question: str, retriever: Retriever) -> str:
    """What to tell somebody whose question the search by meaning cannot read; empty when it can."""
    name = retriever.embedder.fingerprint.name
    if retriever.mode == "bm25" or not (language := unread(question, retriever.embedder)):
        return ""
    reads = " and ".join(_NAMES[code] for code in READS[name])
    return (
        f"The question looks {language} and the embedder {name} reads {reads} only, so the search may have "
        f"missed what the documents say; ask in {reads}, or use an embedder for many languages."
    )


def told(answer: Answer, retriever: Retriever) -> Answer:
    """The answer, with the notice in the trace where passages were searched, and before a refusal's sentence."""
    searched = next((step for step in answer.trace.steps if step.embeddings), None)
    if searched is None or not (said := notice(answer.question, retriever)):
        return answer
    searched.note = "\n".join(filter(None, (searched.note, said)))
    return replace(answer, text=f"{said} {answer.text}") if answer.status is Status.REFUSED else answer
