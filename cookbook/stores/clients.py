"""Opening and closing Qdrant: in memory, in a folder, or on a server, with errors that say what to do.

A folder can be open in one process only (qdrant-client locks it), but within a process any number
of stores share its one client: running the cell that opens a store a second time just works.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cookbook.errors import StoreError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_lock = threading.Lock()
_folders: dict[str, tuple[QdrantClient, int]] = {}  # open folders: the client and how many stores use it


def open_client(path: Path | str | None, url: str | None) -> tuple[QdrantClient, Callable[[], None], str]:
    """A client, the function that gives it back, and where it keeps its data in words.

    ``path`` is a folder; ``url`` (or ``QDRANT_URL``, with ``QDRANT_API_KEY``) a server; neither is memory.
    """
    from qdrant_client import QdrantClient

    if path is not None:
        folder = str(Path(path).expanduser().resolve())
        return _open_folder(folder), lambda: _release(folder), folder
    if address := url or os.environ.get("QDRANT_URL"):
        key = os.environ.get("QDRANT_API_KEY")
        # Without the version check a server that is down gives one error, not a warning before it.
        client = QdrantClient(url=address, api_key=key, timeout=30, check_compatibility=False)
        return client, client.close, address
    client = QdrantClient(":memory:")
    return client, client.close, "memory"


def _open_folder(folder: str) -> QdrantClient:
    from qdrant_client import QdrantClient

    with _lock:
        if folder in _folders:
            client, users = _folders[folder]
        else:
            try:
                client, users = QdrantClient(path=folder), 0
            except RuntimeError as error:
                if "already accessed" not in str(error):
                    raise
                raise StoreError(
                    f"the store at {folder} is open in another process; close it there (store.close(), or stop "
                    "that kernel), use another path, or start a Qdrant server and set QDRANT_URL"
                ) from error
            except OSError as error:
                raise StoreError(
                    f"cannot use {folder} as a store ({error.strerror}); choose another path"
                ) from error
            except ValueError as error:  # its JSON or its rows cannot be read
                raise StoreError(
                    f"the store at {folder} is damaged ({error}); delete the folder and index again"
                ) from error
        _folders[folder] = (client, users + 1)
        return client


def _release(folder: str) -> None:
    with _lock:
        client, users = _folders.pop(folder)
        if users > 1:
            _folders[folder] = (client, users - 1)
        else:
            client.close()


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn what a Qdrant server can answer into StoreError."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except ResponseHandlingException as error:
        raise StoreError(f"no Qdrant answers at {where} ({error}); start it, or unset QDRANT_URL") from error
    except UnexpectedResponse as error:
        said = error.content.decode(errors="replace")[:200]
        raise StoreError(f"Qdrant at {where} refused with status {error.status_code}: {said}") from error
