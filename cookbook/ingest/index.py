"""The index of own documents on disk: one SQLite file with the files, their passages and vectors.

A passage and the file it came from are written in one transaction, so a run that is killed leaves whole
files behind and the next one goes on with the rest. A vector belongs to a text, wherever it stands. Searching is Qdrant's, in memory, filled from here:
its own folder format commits each passage by itself, which took 27 s for the Rust book's 1,637 passages
where this takes under one, and a folder that is open cannot be opened by anybody else.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from cookbook import paths
from cookbook.embedders import Fingerprint, Vectors, settle
from cookbook.errors import StoreError
from cookbook.ingest.finding import Stamp
from cookbook.schema import Chunk

#: Part of an index's name: what other rules read or cut is another index.
RULES = "documents-1"
#: How long another process may hold an index before this one gives up, in seconds.
WAIT = 15.0

_TABLES = """
create table if not exists about (name text primary key, value text not null);
create table if not exists files (
  doc_id text primary key, size integer not null, written integer not null, changed integer not null,
  read_at integer not null, sha256 text not null, format text not null, title text not null,
  note text not null, unread text not null, chunks integer not null
);
create table if not exists chunks (
  chunk_id text primary key, doc_id text not null, position integer not null, digest blob not null,
  text text not null, rest text not null
);
create table if not exists vectors (digest blob primary key, vector blob not null) without rowid;
create index if not exists chunks_doc on chunks (doc_id);
"""


@dataclass(frozen=True)
class Entry:
    """A file as the index knows it. ``unread`` is why nothing of it could be used, else empty.

    ``read_at`` is when it was read (ns): a change in that very moment would not show in the stamp.
    """

    doc_id: str
    stamp: Stamp
    read_at: int
    sha256: str
    format: str = ""
    title: str = ""
    note: str = ""
    unread: str = ""
    chunks: int = 0


def all_indexes() -> list[Path]:
    """The folders of every index in the user cache, sorted."""
    return sorted(file.parent for file in (paths.cache_dir() / "indexes").glob("*/index.sqlite"))


def index_folder(roots: Sequence[Path], fingerprint: Fingerprint, chunker: str) -> Path:
    """Where the index of these paths lies: another embedder or chunker has another index, never a mix."""
    named = [RULES, fingerprint.key, chunker, *map(str, roots)]
    key = sha256("\n".join(named).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    label = "".join(c if c.isalnum() and c.isascii() else "-" for c in roots[0].name)[:40].strip("-")
    return paths.cache_dir() / "indexes" / f"{label or 'documents'}-{key}"


class Index:
    """An open index. Use ``open_index``; reading needs no lock, writing is done under ``held``."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder, self._db = folder, connection

    def entries(self) -> dict[str, Entry]:
        """Every file the index knows, by doc_id."""
        rows = self._db.execute(
            "select doc_id, size, written, changed, read_at, sha256, format, title, note, unread, chunks from files"
        )
        return {row[0]: Entry(row[0], (row[1], row[2], row[3]), *row[4:]) for row in rows}

    def about(self) -> dict[str, str]:
        """What the index was made of and with: paths, embedder, chunker, and how often it changed."""
        return dict(self._db.execute("select name, value from about"))

    def describe(self, values: Mapping[str, str]) -> None:
        with self._db:
            self._db.executemany("insert or replace into about values (?, ?)", values.items())

    def keep_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors, shape (texts, dim), before their files are complete: nothing is embedded twice."""
        rows = zip(map(_digest, texts), np.asarray(vectors, np.float16), strict=True)
        with self._db:
            self._db.executemany(
                "insert or replace into vectors values (?, ?)", [(d, row.tobytes()) for d, row in rows]
            )

    def without_vector(self, texts: Iterable[str]) -> list[str]:
        """The texts that have no vector yet, each once. A file that was moved or copied has its own already."""
        has = "select 1 from vectors where digest = ?"
        return [t for t in dict.fromkeys(texts) if self._db.execute(has, (_digest(t),)).fetchone() is None]

    def write(self, files: Sequence[tuple[Entry, Sequence[Chunk]]]) -> None:
        """Replace these files and their passages, all of them or none. Their vectors must be kept before."""
        with self._db:
            for entry, chunks in files:
                self._put(entry)
                self._db.execute("delete from chunks where doc_id = ?", (entry.doc_id,))
                self._db.executemany(
                    "insert into chunks values (?, ?, ?, ?, ?, ?)",
                    [
                        (c.chunk_id, c.doc_id, n, _digest(c.text), c.text, _rest(c))
                        for n, c in enumerate(chunks)
                    ],
                )
            self._count_change()

    def touch(self, entries: Sequence[Entry]) -> None:
        """Remember new stamps of files whose bytes are the same."""
        with self._db:
            for entry in entries:
                self._put(entry)

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Forget files and their passages."""
        with self._db:
            for table in ("files", "chunks"):
                self._db.executemany(f"delete from {table} where doc_id = ?", [(d,) for d in doc_ids])
            self._count_change()

    def clear(self) -> None:
        """Forget everything, so that the next run reads every file."""
        with self._db:
            for table in ("files", "chunks", "vectors"):
                self._db.execute(f"delete from {table}")
            self._count_change()

    def drop_unused(self) -> None:
        """Forget vectors that no passage has any more."""
        with self._db:
            self._db.execute("delete from vectors where digest not in (select digest from chunks)")

    def chunks(self) -> tuple[list[Chunk], Vectors]:
        """Every passage in the order of the documents, with its unit vector, shape (passages, dim)."""
        chunks: list[Chunk] = []
        rows: list[Vectors] = []
        for chunk_id, doc_id, text, rest, vector in self._db.execute(
            "select chunk_id, doc_id, text, rest, vector from chunks join vectors using (digest) order by doc_id, position"
        ):
            start, end, headings, metadata = json.loads(rest)
            chunks.append(Chunk(chunk_id, doc_id, text, start, end, tuple(headings), metadata))
            rows.append(np.frombuffer(vector, np.float16))
        if not chunks:
            return [], np.empty((0, 0), np.float32)
        return chunks, settle(np.array(rows), [c.text for c in chunks], f"the index {self.folder}")

    def _put(self, entry: Entry) -> None:
        row = (entry.doc_id, *entry.stamp, *list(vars(entry).values())[2:])
        self._db.execute(f"insert or replace into files values ({','.join('?' * len(row))})", row)

    def _count_change(self) -> None:
        self._db.execute(
            "insert into about values ('changes', '1') on conflict (name) do update set value = value + 1"
        )


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def _rest(chunk: Chunk) -> str:
    return json.dumps([chunk.start, chunk.end, chunk.headings, dict(chunk.metadata)])


@contextmanager
def open_index(folder: Path) -> Iterator[Index]:
    """The index in this folder, made if it is not there. StoreError says what to do when the disk fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(folder / "index.sqlite", timeout=WAIT)) as connection:
            connection.executescript(_TABLES)
            yield Index(folder, connection)
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, OSError) and folder.is_dir():
            raise  # not ours: it comes from what was done while the index was open
        raise StoreError(_trouble(folder, error)) from error


def _trouble(folder: Path, error: OSError | sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk that holds {folder.parent} is full; free some space and run it again, it goes on where it stopped"
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"the index at {folder} is damaged ({error}); delete the folder and run it again"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the index at {folder} is held by another process ({holder(folder)}); wait until it is done"
    said = (error.strerror if isinstance(error, OSError) else "") or error
    return f"cannot use {folder} ({said}); set COOKBOOK_CACHE to a folder you can write to"


# ---------------------------------------------------------------- one writer at a time


@contextmanager
def held(folder: Path, wait: float = WAIT) -> Iterator[None]:
    """Keep other processes from writing this index. Waits ``wait`` seconds, then StoreError names the holder.

    The lock is the operating system's and ends with the process, however that ends.
    """
    lock = FileLock(folder / "lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait)
        name = f"process {os.getpid()}, {Path(sys.argv[0]).name} since {time.strftime('%H:%M:%S')}"
        (folder / "holder").write_text(name, "utf-8")
    except Timeout as error:
        raise StoreError(
            f"the index at {folder} is being written by another process ({holder(folder)}) and was not free "
            f"within {wait:.0f} s; wait until it is done, or stop it: what it has written is kept"
        ) from error
    except OSError as error:
        lock.release()
        raise StoreError(_trouble(folder, error)) from error
    try:
        yield
    finally:
        lock.release()


def holder(folder: Path) -> str:
    """Who wrote its name last, in words."""
    try:
        return (folder / "holder").read_text("utf-8")
    except OSError:
        return "its name is not known"
