"""The scripted model and the store behind the published loops: every reply is known, every call is counted.

A call is charged to the open meters as a client's is, so traces and budgets see it, and it is tallied
by kind. It goes through no provider: ten thousand of them take seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain, repeat
from math import log
from typing import Any, Protocol, TypeVar

from cookbook.chunkers import markdown_sections
from cookbook.corpora import load_corpus
from cookbook.errors import ConfigError
from cookbook.eval.sets import load_eval_set
from cookbook.lexical import chunk_weights, query_weights
from cookbook.providers.meter import check_budgets, open_meters
from cookbook.schema import (
    Chunk,
    Decision,
    Hit,
    Label,
    Relevance,
    Retrieve,
    ScoreKind,
    Support,
    Usefulness,
    Utility,
    Verdict,
)
from cookbook.tracing import note_verdict

T = TypeVar("T")

# ---------------------------------------------------------------- the store


class Store(Protocol):
    """Anything that finds passages; a real ``Retriever`` is one too."""

    def retrieve(self, query: str, k: int = 5) -> list[Hit]: ...


class Shelf:
    """A store without vectors, which finds the same chunks for a query every time: BM25 in memory.

    It always gives ``k`` chunks, as a dense store does; ties keep the order of the corpus. ``queries``
    lists what was asked, and each is charged as one embedding.
    """

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = [(chunk, dict(zip(*chunk_weights(chunk.text), strict=True))) for chunk in chunks]
        held = Counter(term for _, weights in self._chunks for term in weights)
        self._idf = {term: log(1 + (len(chunks) - n + 0.5) / (n + 0.5)) for term, n in held.items()}
        self.queries: list[str] = []

    @classmethod
    def of(cls, corpus: str) -> Shelf:
        """The sections of a corpus, on a shelf that nobody asked yet."""
        return cls(_sections(corpus))

    def retrieve(self, query: str, k: int = 5) -> list[Hit]:
        self.queries.append(query)
        for meter in open_meters():
            meter.add_embedding()
        wanted, _ = query_weights(query)
        hits = [
            Hit(
                chunk,
                sum(self._idf[term] * weights[term] for term in wanted if term in weights),
                ScoreKind.BM25,
            )
            for chunk, weights in self._chunks
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:k]


@cache
def _sections(corpus: str) -> tuple[Chunk, ...]:
    return tuple(markdown_sections(load_corpus(corpus)))


# ---------------------------------------------------------------- the model


class Judges:
    """A scripted model, one method for each kind of call, and the ``store`` it reads from.

    A reply is given by kind, as a value or as a function of what the method is given:
    ``Judges(support=Support.NONE, generate=lambda question, hits, feedback: "Yes.")``. A kind that is not
    given agrees to everything (``AGREEABLE``). A function may raise, for a model that fails: the call counts.
    ``calls`` tallies by kind over the life of the object, so take a fresh one for each run.
    """

    def __init__(self, store: Store | None = None, **replies: Any) -> None:
        if unknown := sorted(replies.keys() - AGREEABLE.keys()):
            raise ConfigError(f"no call is of the kind {unknown[0]!r}; kinds: {', '.join(AGREEABLE)}")
        self.store = store or Shelf.of("larkspur")
        self.calls: Counter[str] = Counter()
        self._replies = AGREEABLE | replies

    def retrieve(self, question: str) -> Retrieve:
        return self._judge(Retrieve, Decision.RETRIEVE, question)

    def relevance(self, question: str, hit: Hit) -> Relevance:
        return self._judge(Relevance, Decision.RELEVANCE, question, hit, subject=hit.chunk_id)

    def support(self, question: str, answer: str, hits: Sequence[Hit]) -> Support:
        return self._judge(Support, Decision.SUPPORT, question, answer, hits)

    def usefulness(self, question: str, answer: str) -> Usefulness:
        return self._judge(Usefulness, Decision.USEFULNESS, question, answer)

    def support_with_quotes(
        self, question: str, answer: str, hits: Sequence[Hit]
    ) -> tuple[Support, tuple[str, ...]]:
        """One support call whose script may also reply ``(label, quotes)``; a bare label comes without quotes."""
        reply = self._ask(object, "support", question, answer, hits)
        found, quotes = reply if isinstance(reply, tuple) else (reply, ())
        label = _typed(Support, "support", found)
        note_verdict(Verdict(Decision.SUPPORT, label))
        return label, tuple(quotes)

    def utility(self, question: str, answer: str) -> Utility:
        """Usefulness from 1 to 5; the script replies with the number."""
        found = Utility(self._ask(int, "utility", question, answer))
        note_verdict(Verdict(Decision.USEFULNESS, found))
        return found

    def direct(self, question: str) -> str:
        return self._ask(str, "direct", question)

    def generate(self, question: str, hits: Sequence[Hit], feedback: str = "") -> str:
        return self._ask(str, "generate", question, hits, feedback)

    def rewrite(self, question: str, query: str, feedback: str = "") -> str:
        """The next query, given the one that failed."""
        return self._ask(str, "rewrite", question, query, feedback)

    def revise(self, question: str, answer: str, hits: Sequence[Hit]) -> str:
        """The answer without what the passages do not support."""
        return self._ask(str, "revise", question, answer, hits)

    def _judge(self, label: type[Label], decision: Decision, *given: Any, subject: str = "") -> Label:
        found = self._ask(label, decision.value, *given)
        note_verdict(Verdict(decision, found, subject=subject))
        return found

    def _ask(self, expected: type[T], kind: str, *given: Any) -> T:
        """One call of a kind: budgeted, charged and tallied before the script is asked, as a failed one costs too."""
        check_budgets()
        self.calls[kind] += 1
        for meter in open_meters():
            meter.add_call(prompt_tokens=_words(given), completion_tokens=1, seconds=0.0, cost=0.0)
        reply = self._replies[kind]
        return _typed(expected, kind, reply(*given) if callable(reply) else reply)


def _typed(expected: type[T], kind: str, found: object) -> T:
    """A script that replies with the wrong type would be read as a "no" further on: say so here."""
    if not isinstance(found, expected):
        raise ConfigError(
            f"the script for {kind!r} replied {found!r}; let it reply with a {expected.__name__}"
        )
    return found


def _words(given: Any) -> int:
    """The length of a scripted prompt: a model without a tokenizer counts words."""
    if isinstance(given, str):
        return _words_of(given)
    return _words_of(given.text) if isinstance(given, Hit) else sum(map(_words, given))


@lru_cache(maxsize=1024)  # a loop that is stuck shows the same passages ten thousand times
def _words_of(text: str) -> int:
    return len(text.split())


# ---------------------------------------------------------------- replies


def opens_with(question: str, hits: Sequence[Hit], feedback: str = "") -> str:
    """The writer that quotes the first sentence of the first passage, and invents when it has none."""
    if not hits:
        return "As far as I remember, it is 12 dollars."
    body = " ".join(line for line in hits[0].text.splitlines() if line and not line.startswith("#"))
    return body.partition(". ")[0].removesuffix(".") + "."


def repeats(question: str, query: str, feedback: str = "") -> str:
    """The rewriter that says the question again."""
    return question


AGREEABLE: dict[str, Any] = {
    "retrieve": Retrieve.YES,
    "relevance": Relevance.RELEVANT,
    "support": Support.FULLY,
    "usefulness": Usefulness.USEFUL,
    "utility": 5,
    "direct": "19",
    "generate": opens_with,
    "rewrite": repeats,
    "revise": lambda question, answer, hits: answer,
}
"""The reply of each kind unless another is given: yes to every question, and a writer that goes on."""


def gold(corpus: str) -> Callable[[str, Hit], Relevance]:
    """The relevance judge that agrees with an eval set: relevant is a passage that holds a gold quote."""
    quotes = {row.question: row.gold for row in load_eval_set(corpus)}

    def judge(question: str, hit: Hit) -> Relevance:
        holds = any(quote.stands_in(hit.chunk) for quote in quotes.get(question, ()))
        return Relevance.RELEVANT if holds else Relevance.IRRELEVANT

    return judge


def in_turn(*replies: Any) -> Callable[..., Any]:
    """These replies one after the other, the last for ever after."""
    line = chain(replies, repeat(replies[-1]))
    return lambda *given: next(line)
