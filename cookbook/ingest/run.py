"""One run over a folder: read what is new, cut it, embed it, write it, forget what is gone, and say so file by file.

Files go through in batches, and a batch is written whole. What was written is never done again, so a
run that was stopped, however hard, is resumed by running it again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from cookbook.chunkers import markdown_sections
from cookbook.embedders import Embedder, RecordingEmbedder
from cookbook.errors import MissingExtra, Unreadable
from cookbook.ingest import formats
from cookbook.ingest.finding import MAX_BYTES, Found, find, resolved
from cookbook.ingest.index import WAIT, Entry, Index, held, index_folder, open_index
from cookbook.ingest.text import counted
from cookbook.language import unread
from cookbook.schema import Chunk, Document
from cookbook.stores.points import has_content

CHUNKER = "markdown_sections"
#: The longest passage in tokens, where the embedder does not ask for shorter ones.
MAX_TOKENS = 400
#: Passages that are embedded together. A stopped run repeats at most these.
BATCH = 256
#: Indexes that were begun anew in this process, because a recording has to see every text and every word.
_recorded: set[Path] = set()
_TELLING = 40  # characters from which on a text tells its language
#: How long a file system may give one time to two changes (ns): a clock tick, or where it counts whole
#: seconds the two that FAT takes.
_TICK, _SECONDS = 50_000_000, 2_000_000_000

State = Literal["indexed", "unchanged", "skipped", "removed"]
Progress = Callable[[int, int, str], None]
"""``progress(files done, files in all, name of the file)``."""


@dataclass(frozen=True)
class FileReport:
    """What became of one file. ``why`` says it of one that was skipped, ``note`` what to know of one that was read."""

    name: str
    state: State
    passages: int = 0
    format: str = ""
    note: str = ""
    why: str = ""


@dataclass
class Report:
    """What one run did. ``embedded`` counts the texts that went to the embedder, ``passages`` what there is now."""

    paths: tuple[Path, ...]
    folder: Path
    files: list[FileReport] = field(default_factory=list)
    embedded: int = 0
    passages: int = 0
    seconds: float = 0.0

    def count(self, state: State) -> int:
        return sum(file.state == state for file in self.files)

    def __str__(self) -> str:
        states: tuple[State, ...] = ("indexed", "unchanged", "skipped", "removed")
        said = (
            ", ".join(f"{self.count(state):,} {state}" for state in states if self.count(state)) or "no files"
        )
        return f"{said}; {self.passages:,} passages, {self.embedded:,} texts embedded, {self.seconds:.1f} s"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, as printed by ``cookbook ingest --json``."""
        return {
            "paths": [str(path) for path in self.paths],
            "index": str(self.folder),
            "files": [asdict(file) for file in self.files],
            "embedded": self.embedded,
            "passages": self.passages,
            "seconds": round(self.seconds, 2),
        }


def ingest(
    paths: Sequence[Path | str],
    embedder: Embedder,
    *,
    hidden: bool = False,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
    wait: float = WAIT,
) -> Report:
    """Bring the index of these paths up to date, and report on every file under them.

    Unchanged files are not opened, edited ones replace their passages, those of files that are gone are
    removed. Raises ConfigError for a path that is not there, StoreError when the index cannot be used:
    another process holds it longer than ``wait`` seconds, or the disk is full.
    """
    started = time.monotonic()
    roots = resolved(paths)
    folder = index_folder(roots, embedder.fingerprint, CHUNKER)
    report = Report(roots, folder)
    with held(folder, wait), open_index(folder) as index:
        named = json.dumps([str(root) for root in roots])
        index.describe({"paths": named, "embedder": embedder.fingerprint.key, "chunker": CHUNKER})
        if isinstance(embedder, RecordingEmbedder) and folder not in _recorded:
            index.clear()
            _recorded.add(folder)
        listing = find(roots, hidden=hidden, max_bytes=max_bytes)
        known = index.entries()
        work = _Work(index, embedder, known, report, progress, len(listing.files))
        for found in listing.files:
            work.take(found)
        work.finish()
        gone = sorted(known.keys() - {found.doc_id for found in listing.files})
        if gone:
            index.remove(gone)
        if gone or report.count("indexed"):
            index.drop_unused()
        passed = {each.name for each in listing.passed}
        report.files += [FileReport(name, "removed") for name in gone if name not in passed]
        report.files += [FileReport(each.name, "skipped", why=each.why) for each in listing.passed]
        report.passages = sum(entry.chunks for entry in index.entries().values())
    report.files.sort(key=lambda file: file.name)
    report.seconds = time.monotonic() - started
    return report


class _Work:
    """The files of one run, read one by one and written in batches."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        known: Mapping[str, Entry],
        report: Report,
        progress: Progress | None,
        total: int,
    ) -> None:
        self.index, self.embedder, self.known, self.report = index, embedder, known, report
        self.progress, self.total, self.done = progress, total, 0
        self.limit = min(embedder.fingerprint.max_tokens or MAX_TOKENS, MAX_TOKENS)
        self.batch: list[tuple[Entry, list[Chunk]]] = []
        self.same: list[Entry] = []  # their stamp is new, their bytes are not

    def take(self, found: Found) -> None:
        """Deal with one file: leave it, or read it and put it into the batch."""
        entry = self.known.get(found.doc_id)
        if entry is not None and _surely_unchanged(entry, found):
            self._say(_reported(entry, "unchanged"))
            return
        read_at = time.time_ns()
        try:
            data = found.path.read_bytes()
        except OSError as error:
            self._leave_out(found, f"cannot be opened: {error.strerror}")
            return
        fresh = Entry(found.doc_id, found.stamp, read_at, sha256(data).hexdigest())
        if entry is not None and entry.sha256 == fresh.sha256:
            self.same.append(replace(entry, stamp=fresh.stamp, read_at=read_at))
            self._say(_reported(entry, "unchanged"))
            return
        try:
            self._add(*self._cut(fresh, formats.read(found.path.name, data)))
        except MissingExtra as error:  # not remembered: it is read as soon as the library is here
            self._leave_out(found, str(error))
        except Unreadable as error:
            self._add(replace(fresh, unread=str(error)), [])

    def _cut(self, entry: Entry, reading: formats.Reading) -> tuple[Entry, list[Chunk]]:
        document = Document(entry.doc_id, reading.text)
        found = markdown_sections([document], tokenizer=self.embedder.tokenizer, max_tokens=self.limit)
        chunks = [chunk for chunk in found if has_content(chunk.text)]
        named = (chunk.headings[0] for chunk in chunks if chunk.headings)
        title = "" if reading.format == "PDF" else next(named, "")  # a PDF's first heading is "Page 1"
        blank = len(found) - len(chunks)
        left_out = f"{counted(blank, 'passage')} without a word left out" if blank else ""
        note = ", ".join(filter(None, (reading.note, self._language(reading), left_out)))
        entry = replace(entry, format=reading.format, note=note, title=title, chunks=len(chunks))
        return entry, chunks

    def _language(self, reading: formats.Reading) -> str:
        """A warning when the embedder does not read the language of the text; code and tables are in none."""
        if reading.format not in formats.PROSE or len(reading.text) < _TELLING:
            return ""
        language = unread(reading.text[:2000], self.embedder)
        return f"{language}, which {self.embedder.fingerprint.name} does not read well" if language else ""

    def _leave_out(self, found: Found, why: str) -> None:
        """Report a file that cannot be read now, and forget what an earlier run had of it."""
        if found.doc_id in self.known:
            self.index.remove([found.doc_id])
        self._say(FileReport(found.doc_id, "skipped", why=why))

    def _add(self, entry: Entry, chunks: list[Chunk]) -> None:
        self.batch.append((entry, chunks))
        if sum(1 + len(held) for _, held in self.batch) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        texts = self.index.without_vector(chunk.text for _, chunks in self.batch for chunk in chunks)
        for first in range(0, len(texts), BATCH):
            some = texts[first : first + BATCH]
            self.index.keep_vectors(some, self.embedder.embed(some))
            self.report.embedded += len(some)
            self._show(self.batch[-1][0].doc_id)
        if self.batch:
            self.index.write(self.batch)
        for entry, _ in self.batch:
            self._say(_reported(entry, "indexed"))
        self.batch.clear()

    def finish(self) -> None:
        """Write what is left of the last batch."""
        self._flush()
        if self.same:
            self.index.touch(self.same)

    def _say(self, file: FileReport) -> None:
        self.report.files.append(file)
        self.done += 1
        self._show(file.name)

    def _show(self, name: str) -> None:
        if self.progress:
            self.progress(self.done, self.total, name)


def _surely_unchanged(entry: Entry, found: Found) -> bool:
    """The stamp is the one remembered, and the file was old enough when it was read for any change to show."""
    written = found.stamp[1]
    tick = _TICK if written % 1_000_000_000 else _SECONDS
    return entry.stamp == found.stamp and written + tick < entry.read_at


def _reported(entry: Entry, state: State) -> FileReport:
    state = "skipped" if entry.unread else state
    return FileReport(entry.doc_id, state, entry.chunks, entry.format, entry.note, entry.unread)
