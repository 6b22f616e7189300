"""Where the corpora, eval sets and recordings lie, for a clone and for an installed wheel alike."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
#: In a clone the data lie beside the package; a wheel carries them inside it.
ROOT = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parent

CORPORA = ROOT / "corpora"
EVAL_SETS = ROOT / "eval_sets"
RECORDINGS = ROOT / "recordings"
NOTEBOOKS = ROOT / "notebooks"


def cache_dir() -> Path:
    """The user cache (weights, indexes): ``$COOKBOOK_CACHE``, else the platform's cache folder."""
    if chosen := os.environ.get("COOKBOOK_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "reflective-rag-cookbook"
