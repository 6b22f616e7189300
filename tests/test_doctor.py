"""Every line of the doctor, well and ill: what fails says what to do, what is optional never fails."""

from __future__ import annotations

import socket
from importlib import metadata
from pathlib import Path
from threading import Thread

import pytest

from cookbook import doctor, paths
from cookbook.doctor import Check
from cookbook.embedders import HashEmbedder
from cookbook.ingest import ingest
from cookbook.providers import models
from cookbook.providers.models import Status

QWEN, MINILM = "qwen2.5-coder-1.5b", "all-minilm-l6-v2"


def only(checks) -> Check:
    (check,) = checks
    return check


def named(name: str, checks) -> Check:
    return only(check for check in checks if check.name == name)


# ---------------------------------------------------------------- what a path needs


@pytest.mark.parametrize(
    ("provider", "needed"),
    [
        (None, {MINILM}),
        ("replay", set()),
        ("scripted/echo", set()),
        ("local", {MINILM, QWEN}),
        ("local/smollm2-135m", {MINILM, "smollm2-135m"}),
        ("openai", {MINILM}),
        ("nonsense", set()),
    ],
)
def test_needed_weights(provider: str | None, needed: set[str], monkeypatch):
    if provider:
        monkeypatch.setenv("PROVIDER", provider)
    assert doctor.needed_models() == needed


def test_missing_weights_fail_only_where_they_are_needed(monkeypatch):
    lines = list(doctor.weights())
    minilm, qwen = named(f"weights {MINILM}", lines), named(f"weights {QWEN}", lines)
    assert not minilm.ok
    assert minilm.fix == f"cookbook models fetch {MINILM}, or set PROVIDER=replay which needs no weights"
    assert qwen == Check(f"weights {QWEN}", True, f"not fetched (only needed for PROVIDER=local/{QWEN})")
    monkeypatch.setenv("PROVIDER", "replay")
    assert all(check.ok for check in doctor.weights())
    monkeypatch.setenv("PROVIDER", "local")
    assert [check.ok for check in doctor.weights()] == [False, False, True]


def test_broken_weights_fail_even_where_they_are_optional(monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay")
    monkeypatch.setattr(
        models, "statuses", lambda: [Status(QWEN, 10, "corrupt", Path("here"), "model.gguf has 2 bytes")]
    )
    assert only(doctor.weights()) == Check(
        f"weights {QWEN}", False, "model.gguf has 2 bytes", f"cookbook models fetch {QWEN}"
    )


def test_full_hashes_what_is_there(monkeypatch):
    monkeypatch.setattr(models, "statuses", lambda: [Status(QWEN, 10, "fetched", Path("here"))])
    assert only(doctor.weights()).ok

    def verify(name: str) -> None:
        raise models.WeightsError(f"{name} has another SHA-256")

    monkeypatch.setattr(models, "verify", verify)
    found = only(doctor.weights(full=True))
    assert (found.ok, found.detail) == (False, f"{QWEN} has another SHA-256")


# ---------------------------------------------------------------- Python, packages, texts


def test_python_and_packages_of_this_installation():
    assert doctor.python().ok
    assert named("packages", doctor.packages()).detail.count("litellm ") == 1


def test_a_missing_package_is_named_with_its_install(monkeypatch):
    monkeypatch.setattr(
        metadata, "requires", lambda _: ["litellm>=1", "torch==2; extra == 'local'", "x>1; extra == 'dev'"]
    )
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    base, local, documents, notebooks = doctor.packages()
    assert (base.ok, base.detail) == (False, "missing litellm (for everything)")
    assert base.fix == "pip install reflective-rag-cookbook"
    assert not local.ok
    assert local.fix == "pip install 'reflective-rag-cookbook[local]'"
    assert documents.ok
    assert notebooks.ok
    monkeypatch.setenv("PROVIDER", "replay")
    assert [check.ok for check in doctor.packages()] == [False, True, True, True]


def test_not_installed_at_all(monkeypatch):
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert only(doctor.packages()).fix == "pip install -e ."


def test_texts_that_are_here():
    corpora, sets = doctor.texts()
    assert corpora.ok
    assert sets.ok
    assert "larkspur (16 documents)" in corpora.detail
    assert "larkspur (96 questions)" in sets.detail


def test_texts_that_are_not_or_cannot_be_read(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "CORPORA", tmp_path / "corpora")
    monkeypatch.setattr(paths, "EVAL_SETS", tmp_path)
    (tmp_path / "broken.jsonl").write_text("{\n", encoding="utf-8")
    corpora, sets = doctor.texts()
    assert (corpora.ok, corpora.detail) == (False, "there are none")
    assert not sets.ok
    assert "broken.jsonl, line 1" in sets.detail


def test_recordings_that_are_missing_or_torn(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    replies, vectors = doctor.recordings()
    assert (replies.ok, replies.detail) == (False, "there are none")
    assert (vectors.ok, vectors.detail) == (False, "there are none")
    assert "git checkout" in replies.fix


@pytest.mark.parametrize("line", ["not a recording", '{"key":"' + "0" * 64 + '","model":'])
def test_recordings_that_cannot_be_read(line: str, monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    (tmp_path / "bad.jsonl").write_text(f"{line}\n", encoding="utf-8")
    (tmp_path / "embeddings").mkdir()
    (tmp_path / "embeddings" / "bad.npz").write_bytes(b"no archive")
    replies, vectors = doctor.recordings()
    assert not replies.ok
    assert not vectors.ok
    assert "bad.npz" in vectors.detail


# ---------------------------------------------------------------- the model behind a call


def test_provider_unset_is_fine():
    assert only(doctor.provider()).ok


@pytest.mark.parametrize("name", ["nonsense", "local/unknown", "scripted/unknown"])
def test_a_bad_provider_says_what_is_known(name: str, monkeypatch):
    monkeypatch.setenv("PROVIDER", name)
    found = only(doctor.provider())
    assert not found.ok
    assert "known" in found.detail
    assert found.fix == "set PROVIDER=replay, which needs nothing"


def test_a_model_that_nobody_recorded(monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay/foo")
    found = only(doctor.provider())
    assert not found.ok
    assert found.detail.startswith(f"nothing is recorded of foo; recorded: local/{QWEN};")


def test_replay_needs_no_key(monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay")
    assert only(doctor.provider()).detail == f"replay: replay/local/{QWEN}"


def test_a_hosted_provider_without_its_key(monkeypatch):
    monkeypatch.setenv("PROVIDER", "openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    key = named("key", doctor.provider())
    assert not key.ok
    assert "OPENAI_API_KEY" in key.detail


def test_a_hosted_provider_is_looked_for_at_its_address(monkeypatch, unused_port):
    monkeypatch.setenv("PROVIDER", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{unused_port}/v1")
    server = named("openai server", doctor.provider())
    assert not server.ok
    assert f"127.0.0.1:{unused_port}" in server.detail


def test_a_server_that_answers_whatever_it_answers():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def once() -> None:
            connection, _ = listening.accept()
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")
            connection.close()

        Thread(target=once, daemon=True).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert doctor.server("Some", address, "fix it") == Check("Some server", True, f"answers at {address}")


def test_a_server_that_says_nothing_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(doctor, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = doctor.server("Some", f"http://127.0.0.1:{silent.getsockname()[1]}", "fix it")
    assert (found.ok, found.fix) == (False, "fix it")


def test_an_address_that_is_none():
    assert not doctor.server("Qdrant", "not an address", "fix it").ok


def test_qdrant_is_looked_for_only_when_it_is_set(monkeypatch, unused_port):
    assert "Qdrant server" not in [check.name for check in doctor.examine()]
    monkeypatch.setenv("QDRANT_URL", f"http://127.0.0.1:{unused_port}")
    last = list(doctor.examine())[-1]
    assert (last.name, last.ok) == ("Qdrant server", False)
    assert "unset QDRANT_URL" in last.fix


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


# ---------------------------------------------------------------- the disk


def test_a_cache_folder_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "file" / "cache"))
    found = doctor.cache()
    assert not found.ok
    assert found.fix == "set COOKBOOK_CACHE to a folder you can write to"
    assert doctor.disk().ok


def test_a_cache_folder_is_made(monkeypatch, tmp_path):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "new" / "cache"))
    assert doctor.cache() == Check("cache folder", True, str(tmp_path / "new" / "cache"))
    assert list((tmp_path / "new" / "cache").iterdir()) == []


def test_too_small_a_disk_for_the_weights_to_come(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 50_000_000}))
    monkeypatch.setenv("PROVIDER", "local")
    found = doctor.disk()
    assert not found.ok
    assert found.fix.startswith("free some space at ")
    monkeypatch.setenv("PROVIDER", "replay")
    assert doctor.disk().ok


def test_a_cache_folder_that_cannot_be_read(monkeypatch):
    def refused(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refused)
    assert doctor.disk() == Check(
        "disk",
        False,
        f"cannot read {paths.cache_dir()}",
        "set COOKBOOK_CACHE to a folder you can use",
    )
    minilm, *others = doctor.weights()
    assert not minilm.ok
    assert minilm.detail.startswith("cannot read ")
    assert all(check.ok for check in others)


# ---------------------------------------------------------------- own documents


def test_each_index_says_its_embedder_and_its_size(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    assert only(doctor.indexes()).detail == "none indexed yet (cookbook ingest PATH)"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text("# Green\n\nGreen tea\n\n# Black\n\nBlack tea")
    (tmp_path / "docs" / "empty.md").write_text("")
    report = ingest([tmp_path / "docs"], HashEmbedder())
    check = only(doctor.indexes())
    assert (check.name, check.ok) == (f"index {report.folder.name}", True)
    start = f"2 passages of 1 file, embedder {HashEmbedder.fingerprint.key}, 0."
    assert check.detail.startswith(start)
    assert check.detail.endswith(" MB")
    (report.folder / "index.sqlite").write_bytes(b"not a database, " * 100)
    check = only(doctor.indexes())
    assert not check.ok
    assert check.fix == f"delete {report.folder} and ingest again"
