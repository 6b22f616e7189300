"""The critic: a small encoder trained here to judge relevance and support (``cookbook train critic``).

It has no grader of its own: with ``CrossEncoderRelevance`` and ``ClaimSupport`` it stands where other encoders do.
Taught in notebooks/17_train_a_critic.ipynb.
"""

from cookbook.reflect.critic.graders import critic_relevance, critic_support
from cookbook.reflect.critic.judge import Critic, critic_card, load_critic

__all__ = ["Critic", "critic_card", "critic_relevance", "critic_support", "load_critic"]
