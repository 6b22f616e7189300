"""Which labs are done, in a file that git ignores: a pull never meets it."""

from __future__ import annotations

import json
import os
import tempfile
from datetime import date
from pathlib import Path

from filelock import FileLock

from cookbook.errors import ConfigError
from cookbook.paths import ROOT, cache_dir, read_text


def progress_file() -> Path:
    """``.cookbook/progress.json`` in a clone; beside the cache where the package is installed without one."""
    home = ROOT / ".cookbook" if (ROOT / "pyproject.toml").exists() else cache_dir()
    return home / "progress.json"


def done() -> dict[str, str]:
    """Slug and ISO date of each lab whose check was passed; ConfigError for a file that cannot be read."""
    path = progress_file()
    if not path.exists():
        return {}
    try:
        found = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} is damaged ({error}); delete it and check your labs again") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} does not hold a JSON object; delete it and check your labs again")
    return {str(slug): str(day) for slug, day in found.items()}


def mark_done(slug: str) -> None:
    """Remember that a lab is done, and since when. The file is replaced as a whole or not at all."""
    path = progress_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        known = done()
        if slug in known:
            return
        known[slug] = date.today().isoformat()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=2, sort_keys=True)
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
