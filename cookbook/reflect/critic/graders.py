"""The committed critic behind the protocols of relevance and support."""

from __future__ import annotations

from cookbook.reflect.critic.judge import load_critic
from cookbook.reflect.relevance import CrossEncoderRelevance
from cookbook.reflect.support import ClaimSupport


def critic_relevance(keep_at: float = 0.5) -> CrossEncoderRelevance:
    """Keeps a passage that answers exactly the question, with at least this probability."""
    critic = load_critic()
    return CrossEncoderRelevance(critic, critic.calibration, keep_at)


def critic_support(*, number_guard: bool = True) -> ClaimSupport:
    """Each claim of an answer against each passage; a claim that is no sentence is read after its question."""
    return ClaimSupport(load_critic(), number_guard=number_guard, bare_answers=True)
