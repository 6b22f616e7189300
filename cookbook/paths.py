"""Where the corpora, eval sets and recordings lie, for a clone and for an installed wheel alike."""

import os
from pathlib import Path

from cookbook.errors import ConfigError

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


def data_dir() -> Path:
    """Outside data sets, never committed: ``$COOKBOOK_DATA``, else ``../shared/data`` beside a clone."""
    return Path(os.environ.get("COOKBOOK_DATA") or ROOT.parent / "shared" / "data").expanduser()


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark, newlines normalised; ConfigError naming the path
    if it is not there or cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist; name a file that does") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}; make it a readable UTF-8 text file ({error})") from error
