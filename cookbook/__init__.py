"""Self-reflective retrieval, built step by step: the package behind the notebooks.

Importing it is cheap on purpose: litellm, torch and langgraph load when they are first used.
"""

__version__ = "0.1.0"
