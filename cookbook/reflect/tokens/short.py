"""Short form: one continuation for each passage, each scored, one answer chosen.

Source: arXiv 2310.11511, section 3.3; run_short_form.py of AkariAsai/self-rag at 1fcdc42. The paper shows 10
passages for PopQA and TriviaQA, 5 for PubHealth and ARC.
Taught in notebooks/15_reflection_tokens.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cookbook.reflect.tokens.model import Continuation, TokenModel
from cookbook.reflect.tokens.score import Rule, Score, Scorer, retrieves, score, segment
from cookbook.reflect.tokens.vocabulary import NO_RETRIEVAL, instruction, spoken, with_passage
from cookbook.schema import Hit

MAX_TOKENS = 100


@dataclass(frozen=True)
class Candidate:
    """What the model wrote with one passage before it, and what that is worth."""

    hit: Hit
    continuation: Continuation
    score: Score

    @property
    def text(self) -> str:
        """The words alone; "" when the model wrote nothing but reflection tokens."""
        return spoken(self.continuation.text)

    @property
    def answer(self) -> str:
        """The text as votes are counted: case and a final full stop make no difference."""
        return self.text.casefold().rstrip(". ")


Chooser = Callable[[Sequence[Candidate]], Candidate | None]


def best(candidates: Sequence[Candidate]) -> Candidate | None:
    """For open questions: the highest score, the earlier passage among equals. None if nobody said anything."""
    return max((c for c in candidates if c.text), key=lambda c: c.score.total, default=None)


def vote(candidates: Sequence[Candidate]) -> Candidate | None:
    """For a closed set of answers: scores are summed for each answer. The best candidate of the winner."""
    said = [c for c in candidates if c.text]
    winner = max(totals(said).items(), key=lambda item: item[1], default=(None, 0.0))[0]
    return best([c for c in said if c.answer == winner])


def totals(candidates: Sequence[Candidate]) -> dict[str, float]:
    """The summed scores of each answer, in the order in which the answers first came up."""
    sums: dict[str, float] = {}
    for candidate in candidates:
        sums[candidate.answer] = sums.get(candidate.answer, 0.0) + candidate.score.total
    return sums


@dataclass(frozen=True)
class ShortForm:
    """An answer. ``text`` is None when there is none to give: no passages, or no words. Refuse then.

    ``chosen`` is the candidate it comes from, None for an answer from memory.
    """

    text: str | None
    retrieved: bool
    chosen: Candidate | None = None
    candidates: tuple[Candidate, ...] = ()


def short_form(
    model: TokenModel,
    question: str,
    hits: Sequence[Hit],
    *,
    rule: Rule = retrieves,
    scorer: Scorer = score,
    choose: Chooser = best,
    max_tokens: int = MAX_TOKENS,
) -> ShortForm:
    """Ask whether to retrieve (one token), then answer from each passage, or from memory.

    One call to the model for the decision, and one for each passage or one for memory.
    """
    prompt = instruction(question)
    if not rule(model.complete(prompt, max_tokens=1).first):
        return ShortForm(from_memory(model, prompt, max_tokens), retrieved=False)
    found = candidates(model, question, hits, scorer=scorer, max_tokens=max_tokens)
    chosen = choose(found)
    return ShortForm(chosen.text if chosen else None, True, chosen, tuple(found))


def candidates(
    model: TokenModel,
    question: str,
    hits: Sequence[Hit],
    *,
    scorer: Scorer = score,
    max_tokens: int = MAX_TOKENS,
) -> list[Candidate]:
    """One continuation for each passage, in their order, each with its score. One call each."""
    found = []
    for hit in hits:
        reply = model.complete(with_passage(instruction(question), hit), max_tokens=max_tokens)
        continuation, _ = segment(reply)
        found.append(Candidate(hit, continuation, scorer(continuation)))
    return found


def from_memory(model: TokenModel, prompt: str, max_tokens: int) -> str | None:
    """The answer without passages, after a ``[No Retrieval]`` that we put there; None if there are no words."""
    reply, _ = segment(model.complete(prompt + NO_RETRIEVAL, max_tokens=max_tokens))
    return spoken(reply.text) or None
