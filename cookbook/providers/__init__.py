"""One way to any model: ``LLMClient``, over litellm, with the provider chosen by ``PROVIDER``."""

from cookbook.providers.client import LLMClient

__all__ = ["LLMClient"]
