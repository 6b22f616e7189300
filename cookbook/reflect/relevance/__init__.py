"""ISREL: does this passage help to answer the question?

``single`` and ``batched`` ask an LLM, ``scored`` asks an encoder; all of them are a RelevanceGrader.
"""

from cookbook.reflect.relevance.base import RelevanceGrader, kept
from cookbook.reflect.relevance.batched import BatchedRelevance
from cookbook.reflect.relevance.scored import (
    MINILM_RELEVANCE,
    SCRIPTED_RELEVANCE,
    CrossEncoderRelevance,
    EmbeddingCosine,
    EmbeddingRelevance,
    PairScorer,
    PercentileRelevance,
    calibrated,
)
from cookbook.reflect.relevance.single import KEEP_AT, LLMRelevance

__all__ = [
    "KEEP_AT",
    "MINILM_RELEVANCE",
    "SCRIPTED_RELEVANCE",
    "BatchedRelevance",
    "CrossEncoderRelevance",
    "EmbeddingCosine",
    "EmbeddingRelevance",
    "LLMRelevance",
    "PairScorer",
    "PercentileRelevance",
    "RelevanceGrader",
    "calibrated",
    "kept",
]
