"""Long form: an answer written segment by segment, each from its own passage, by beam search.

A segment ends where the model asks for retrieval again. Then every passage is tried for the next one, and the
best few paths go on. Passages are fixed beforehand.
Source: arXiv 2310.11511, section 3.3; run_long_form_static.py of AkariAsai/self-rag at 1fcdc42, with beam
width 2 and up to 6 segments. What that file does otherwise is in ``faults``.
Taught in notebooks/15_reflection_tokens.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from cookbook.errors import ConfigError
from cookbook.reflect.tokens.model import Continuation, TokenModel
from cookbook.reflect.tokens.score import Rule, Score, Scorer, retrieves, score, segment
from cookbook.reflect.tokens.short import from_memory
from cookbook.reflect.tokens.vocabulary import instruction, spoken, with_passage
from cookbook.schema import Hit

MAX_TOKENS = 300

Combine = Callable[[Sequence[float]], float]
"""From the scores of a path's segments to one number: ``statistics.fmean``, or ``math.prod`` as in the release."""


@dataclass(frozen=True, eq=False)
class Node:
    """One segment in the tree. ``before`` is all that the path had said when the segment was written.

    ``asks`` says that its text ends where the model asks for more passages. ``value`` is the path's score.
    """

    parent: Node | None
    hit: Hit
    continuation: Continuation
    score: Score
    asks: bool
    before: str
    value: float

    @property
    def said(self) -> str:
        """What the next segment goes on from: reflection tokens stay in, passages do not."""
        return self.before + self.continuation.text

    @property
    def path(self) -> tuple[Node, ...]:
        """The nodes from the first segment to this one."""
        return (*self.parent.path, self) if self.parent else (self,)

    @property
    def text(self) -> str:
        """The words of the whole path."""
        return " ".join(spoken(node.continuation.text) for node in self.path)


@dataclass(frozen=True)
class Level:
    """One step of the search: all that was written, in the order of beam and passages, and what was kept."""

    written: tuple[Node, ...]
    kept: tuple[Node, ...]


@dataclass(frozen=True)
class Search:
    """The tree and what came of it. ``finished`` are complete answers, best first.

    ``memory`` is the answer when the model did not want to retrieve; there is no tree then.
    """

    levels: tuple[Level, ...] = ()
    finished: tuple[Node, ...] = ()
    memory: str | None = None

    @property
    def best(self) -> Node | None:
        return self.finished[0] if self.finished else None

    @property
    def text(self) -> str | None:
        """The answer, None if there is none to give. Refuse then."""
        return self.best.text if self.best else self.memory


@dataclass(frozen=True)
class SegmentBeam:
    """A beam search over segments. ``width`` paths go on after each step, of at most ``depth`` steps.

    A path that ends stays among the answers, whatever its siblings do later. One that still asks at the last
    step is taken as it is, and so is one for which no passage brought any more words. Calls to the model: one
    for the decision, then ``width * len(hits)`` a step at most.
    """

    model: TokenModel
    width: int = 2
    depth: int = 6
    rule: Rule = retrieves
    scorer: Scorer = score
    combine: Combine = fmean
    max_tokens: int = MAX_TOKENS

    def __post_init__(self) -> None:
        if self.width < 1 or self.depth < 1:
            raise ConfigError(
                f"a beam needs a width and a depth of 1 or more, not {self.width} and {self.depth}"
            )

    def search(self, question: str, hits: Sequence[Hit]) -> Search:
        """Write an answer from ``hits``; no hits, no answer."""
        prompt = instruction(question)
        if not self.rule(self.model.complete(prompt, max_tokens=1).first):
            return Search(memory=from_memory(self.model, prompt, self.max_tokens))
        levels: list[Level] = []
        finished: list[Node] = []
        going: list[Node | None] = [None]
        while going and len(levels) < self.depth:
            families = [(node, self.expand(prompt, node, hits)) for node in going]
            finished += [node for node, children in families if node and not children]
            pool = [child for _, children in families for child in children]
            kept = ranked(pool)[: self.width]
            if pool:
                levels.append(Level(tuple(pool), kept))
            finished += [node for node in kept if not node.asks]
            going = [node for node in kept if node.asks]
        return Search(tuple(levels), ranked([*finished, *filter(None, going)]))

    def expand(self, prompt: str, node: Node | None, hits: Sequence[Hit]) -> list[Node]:
        """The next segments of a path, one for each passage that brings words; of None, the first ones."""
        said = node.said if node else ""
        before = [ancestor.score.total for ancestor in node.path] if node else []
        children = []
        for hit in hits:
            reply = self.model.complete(with_passage(prompt + said, hit), max_tokens=self.max_tokens)
            continuation, asks = segment(reply, self.rule)
            if spoken(continuation.text):
                mark = self.scorer(continuation)
                value = self.combine([*before, mark.total])
                children.append(Node(node, hit, continuation, mark, asks, said, value))
        return children


def ranked(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Highest value first; among equals the one that was written first."""
    return tuple(sorted(nodes, key=lambda node: node.value, reverse=True))
