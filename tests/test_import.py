"""Importing the package is cheap: what is slow to load is loaded when it is first used."""

import subprocess
import sys

import pytest

SLOW = {"litellm", "torch", "langgraph", "sentence_transformers", "qdrant_client", "pandas", "matplotlib"}


@pytest.mark.parametrize(
    "module",
    [
        "cookbook",
        "cookbook.cli",
        "cookbook.schema",
        "cookbook.chunkers",
        "cookbook.notebooks",
        "cookbook.ingest",
        "cookbook.language",
        "cookbook.eval.judges",
        "cookbook.eval.report",
    ],
)
def test_importing_loads_nothing_slow(module):
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert SLOW & set(loaded) == set()
    assert module in loaded
