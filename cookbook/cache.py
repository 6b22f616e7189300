"""The exact cache: the same call is not paid for twice. Off unless ``COOKBOOK_CACHE_LLM=1``.

A call is the same when everything that affects its output is (model, messages, limits, schema);
calls with a temperature above 0 are never cached. Kept in the same form as the recordings, as
plain JSON lines: litellm dropped its disk cache, and diskcache unpickles what it finds on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.providers.call import Call, Reply, reply_of, to_entry, without_spend
from cookbook.providers.replies import ReplyStore

_hits = 0


def _folder() -> Path:
    return paths.cache_dir() / "replies"


@cache
def _open(folder: Path) -> ReplyStore:
    return ReplyStore(folder)


@contextmanager
def _store() -> Iterator[ReplyStore]:
    """The store of the cache folder; ConfigError when the folder cannot be read or written."""
    try:
        yield _open(_folder())
    except OSError as error:
        raise ConfigError(
            f"cannot use {error.filename or _folder()} ({error.strerror or error}); "
            "set COOKBOOK_CACHE to a folder you can write to, or unset COOKBOOK_CACHE_LLM"
        ) from error


def applies_to(call: Call) -> bool:
    """Whether this call may be answered from the cache, and stored in it."""
    return os.environ.get("COOKBOOK_CACHE_LLM") == "1" and call.temperature == 0.0


def lookup(call: Call) -> Reply | None:
    """The cached reply, which spends nothing; None when there is none."""
    global _hits
    with _store() as store:
        entry = store.get(call.key)
    if entry is None:
        return None
    _hits += 1
    return without_spend(reply_of(entry))


def save(call: Call, reply: Reply) -> None:
    """Keep a reply."""
    with _store() as store:
        store.append("replies", to_entry(call, reply))


def stats() -> dict[str, Any]:
    """``entries`` on disk, ``hits`` in this process, and the ``path`` of the folder."""
    with _store() as store:
        return {"entries": len(store), "hits": _hits, "path": str(store.folder)}
