"""Native reflection tokens: a model that was trained to judge itself, read token by token.

Everywhere else in ``reflect`` a decision is a question to an ordinary model. Self-RAG (Asai et al., arXiv
2310.11511) trains the decisions in: the model writes ``[Relevant]`` or ``[Fully supported]`` between its words,
and the probabilities it gave those tokens are the judgement.

``vocabulary`` holds the tokens and the prompt, ``model`` what any such model must return, ``score`` turns a
continuation into numbers, ``short`` picks one answer, ``beam`` searches for a longer one, ``picture`` draws it.
``table``, ``hf`` and ``llamacpp`` are models; ``faults`` keeps the published mistakes, to learn from.
Taught in notebooks/15_reflection_tokens.ipynb.
"""

from cookbook.reflect.tokens.beam import SegmentBeam
from cookbook.reflect.tokens.model import Continuation, Token, TokenModel
from cookbook.reflect.tokens.score import Score, Weights, retrieval_probability, retrieves, score
from cookbook.reflect.tokens.short import best, short_form, vote
from cookbook.reflect.tokens.table import TableModel, written

__all__ = [
    "Continuation",
    "Score",
    "SegmentBeam",
    "TableModel",
    "Token",
    "TokenModel",
    "Weights",
    "best",
    "retrieval_probability",
    "retrieves",
    "score",
    "short_form",
    "vote",
    "written",
]
