"""What has to be in place for the cookbook to work here, checked one thing at a time.

Each check answers with a line: OK, or FAIL and what to do. What is missing is a failure only when
the model that ``PROVIDER`` names, or the default path without it, needs it. Nothing heavy is
imported and every wait is bounded.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from threading import Thread

from cookbook import paths
from cookbook.errors import ConfigError, CookbookError, WeightsError

DISTRIBUTION = "reflective-rag-cookbook"
EMBEDDER = "all-minilm-l6-v2"
RESTORE = "restore the folder (git checkout), or install the package again"
SECONDS = 4.0  # the longest wait for a server
_ADDRESSES = {  # where litellm sends calls when it is told nothing else and names no address itself
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "ollama_chat": "http://localhost:11434",
}


@dataclass(frozen=True)
class Check:
    """One line. ``fix`` says what to do and is empty when all is well."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def examine(*, full: bool = False) -> Iterator[Check]:
    """Every check, in the order in which things are needed. ``full`` hashes the weights, which takes a while."""
    yield python()
    yield from packages()
    yield from texts()
    yield from recordings()
    yield from weights(full=full)
    yield from provider()
    yield cache()
    yield disk()
    yield from indexes()
    if address := os.environ.get("QDRANT_URL"):
        yield server("Qdrant", address, "start Qdrant there, or unset QDRANT_URL")


def needed_models() -> set[str]:
    """The weights without which the chosen path cannot answer a question."""
    from cookbook.providers.names import resolve

    if not os.environ.get("PROVIDER"):
        return {EMBEDDER}  # the extractive reader at least; the local model comes on top if it is there
    try:
        target = resolve(None)
    except ConfigError:
        return set()  # the PROVIDER line says what is wrong
    if not target.live:
        return set()
    local = {target.model.removeprefix("local/")} if target.provider == "local" else set()
    return {EMBEDDER} | local


# ---------------------------------------------------------------- Python and packages


def python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")


def packages() -> Iterator[Check]:
    """The packages the cookbook depends on, then those of each extra, by what pip says is installed."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        yield Check("packages", False, f"{DISTRIBUTION} is not installed", "pip install -e .")
        return
    groups: dict[str, list[str]] = {"": [], "local": [], "documents": [], "notebooks": []}
    for requirement in requirements:
        marker = re.search(r"extra == ['\"]([^'\"]+)", requirement)
        group = groups.get(marker[1] if marker else "")
        if group is not None:
            group.append(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    uses = {
        "": "everything",
        "local": "models on this machine",
        "documents": "your own files",
        "notebooks": "Jupyter",
    }
    for extra, names in groups.items():
        missing = [name for name in names if _version(name) is None]
        needed = not extra or (extra == "local" and bool(needed_models()))
        install = f"pip install '{DISTRIBUTION}[{extra}]'" if extra else f"pip install {DISTRIBUTION}"
        detail = ", ".join(f"{name} {_version(name)}" for name in names)
        if missing:
            detail = f"missing {', '.join(missing)} (for {uses[extra]})"
        label = f"packages [{extra}]" if extra else "packages"
        yield Check(label, not missing or not needed, detail, install if missing else "")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


# ---------------------------------------------------------------- what the repository brings


def texts() -> Iterator[Check]:
    """Corpora and eval sets: there, and readable."""
    from cookbook import corpora, rust_book
    from cookbook.eval.sets import eval_set_names, load_eval_set

    names = [name for name in corpora.corpus_names() if name != rust_book.NAME]  # that one is downloaded

    def documents() -> str:
        return ", ".join(f"{name} ({len(corpora.load_corpus(name))} documents)" for name in names)

    def questions() -> str:
        return ", ".join(f"{name} ({len(load_eval_set(name))} questions)" for name in eval_set_names())

    yield _brought("corpora", documents)
    yield _brought("eval sets", questions)


def recordings() -> Iterator[Check]:
    """Recorded replies by model, and recorded embeddings by fingerprint."""
    from cookbook.embedders.recorded import Records, folder
    from cookbook.providers.replay import recorded_dates
    from cookbook.providers.replay import recordings as replies

    def by_model() -> str:
        models = Counter(entry["model"] for entry in replies())
        return ", ".join(f"{n:,} of {model} ({recorded_dates(model)})" for model, n in models.items())

    def by_embedder() -> str:
        vectors: Counter[str] = Counter()
        for path in sorted(folder().glob("*.npz")):
            found = Records.read(path)
            vectors[found.fingerprint.key] += len(found.vectors)
        return ", ".join(f"{n:,} of {key}" for key, n in vectors.items())

    yield _brought("recorded replies", by_model)
    yield _brought("recorded embeddings", by_embedder)


def _brought(name: str, described: Callable[[], str]) -> Check:
    """A check of committed data: what ``described`` says about it; FAIL when that is nothing or an error."""
    try:
        detail = described()
    except (CookbookError, OSError, ValueError, KeyError) as error:
        return Check(name, False, f"unreadable: {error}", RESTORE)
    return Check(name, bool(detail), detail or "there are none", "" if detail else RESTORE)


# ---------------------------------------------------------------- weights and the model behind a call


def weights(*, full: bool = False) -> Iterator[Check]:
    """Each model's weights: fetched, with the published size, and with the published hash if ``full``."""
    from cookbook.providers import models

    needed = needed_models()
    for status in models.statuses():
        name, fix = f"weights {status.name}", f"cookbook models fetch {status.name}"
        if status.state == "missing" and status.name in needed:
            detail = status.problem or "not fetched"
            yield Check(name, False, detail, f"{fix}, or set PROVIDER=replay which needs no weights")
        elif status.state == "missing":
            yield Check(
                name, True, f"{status.problem or 'not fetched'} (only needed for {_use(status.name)})"
            )
        elif status.state == "corrupt":
            yield Check(name, False, status.problem, fix)
        elif full:
            try:
                models.verify(status.name)
                yield Check(name, True, f"{status.size / 1e6:,.0f} MB, SHA-256 as published")
            except WeightsError as error:
                yield Check(name, False, str(error), fix)
        else:
            yield Check(name, True, f"{status.size / 1e6:,.0f} MB")


def _use(name: str) -> str:
    return "searching without recordings" if name == EMBEDDER else f"PROVIDER=local/{name}"


def provider() -> Iterator[Check]:
    """PROVIDER names a model; a hosted one has its key and answers at its address."""
    from cookbook.providers.names import resolve
    from cookbook.providers.replay import require_recorded

    chosen = os.environ.get("PROVIDER")
    if not chosen:
        yield Check(
            "PROVIDER", True, "not set: `cookbook ask` takes the local model, else the extractive reader"
        )
        return
    try:
        target = resolve(None)
        if target.provider == "replay":
            require_recorded(target.model)
    except ConfigError as error:
        yield Check("PROVIDER", False, str(error), "set PROVIDER=replay, which needs nothing")
        return
    yield Check("PROVIDER", True, f"{chosen}: {target.route}")
    if target.ours:
        return
    from cookbook.providers import gateway

    try:
        gateway.require_key(target)
    except ConfigError as error:
        yield Check("key", False, str(error), "set it in the shell that runs the cookbook")
        return
    yield Check("key", True, "set, or not needed")
    if address := _address(target.route):
        yield server(target.provider, address, "start it, or check the network, the proxy and the address")


def _address(route: str) -> str:
    """Where calls of a hosted model go; empty when litellm alone knows."""
    from cookbook.providers.gateway import litellm

    _, name, _, found = litellm().get_llm_provider(route)
    stem = name.removesuffix("_chat").upper()
    given = os.environ.get(f"{stem}_API_BASE") or os.environ.get(f"{stem}_BASE_URL")
    return given or found or _ADDRESSES.get(name, "")


def server(name: str, address: str, fix: str) -> Check:
    """Whether anything answers HTTP at ``address`` within a few seconds; any status counts as an answer."""
    import httpx

    said: list[str] = []

    def knock() -> None:
        try:
            httpx.get(address, timeout=SECONDS)
            said.append("")
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            said.append(str(error) or type(error).__name__)

    # In a thread, because looking up a name has a time limit of its own, and a long one.
    waiting = Thread(target=knock, daemon=True)
    waiting.start()
    waiting.join(SECONDS)
    problem = said[0] if said else f"no answer within {SECONDS:.0f} s"
    if problem:
        return Check(f"{name} server", False, f"{address}: {problem}", fix)
    return Check(f"{name} server", True, f"answers at {address}")


# ---------------------------------------------------------------- the disk


def cache() -> Check:
    """The cache folder can be written to."""
    folder = paths.cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        detail = f"cannot write to {folder}: {error.strerror or error}"
        return Check("cache folder", False, detail, "set COOKBOOK_CACHE to a folder you can write to")
    return Check("cache folder", True, str(folder))


def disk() -> Check:
    """Room for the weights that the chosen path still needs."""
    from cookbook.providers import models

    folder = paths.cache_dir()
    try:
        there = next(path for path in (folder, *folder.parents) if path.is_dir())
        free = shutil.disk_usage(there).free
    except PermissionError as error:
        detail = f"cannot read {error.filename or folder}"
        return Check("disk", False, detail, "set COOKBOOK_CACHE to a folder you can use")
    to_come = sum(s.size for s in models.statuses() if s.state != "fetched" and s.name in needed_models())
    detail = f"{free / 1e9:,.1f} GB free, {to_come / 1e9:,.1f} GB of weights to fetch"
    return Check("disk", free > to_come, detail, f"free some space at {there}" if free <= to_come else "")


def indexes() -> Iterator[Check]:
    """Each index of own documents: what is in it, the embedder it was made with, and the room it takes."""
    from cookbook.errors import StoreError
    from cookbook.ingest.index import all_indexes, open_index
    from cookbook.ingest.text import counted

    folders = all_indexes()
    if not folders:
        yield Check("own documents", True, "none indexed yet (cookbook ingest PATH)")
    for folder in folders:
        try:
            size = sum(path.stat().st_size for path in folder.iterdir())
            with open_index(folder) as index:
                files = index.entries().values()
                made_with = index.about().get("embedder", "nothing yet")
        except (StoreError, OSError) as error:
            yield Check(f"index {folder.name}", False, str(error), f"delete {folder} and ingest again")
            continue
        read = counted(sum(not file.unread for file in files), "file")
        passages = counted(sum(file.chunks for file in files), "passage")
        detail = f"{passages} of {read}, embedder {made_with}, {size / 1e6:,.1f} MB"
        yield Check(f"index {folder.name}", True, detail)
