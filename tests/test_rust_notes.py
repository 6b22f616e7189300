"""The Rust notes are right where a compiler can tell: every snippet does what its fence says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cookbook.corpora import load_corpus


def require_rustdoc() -> None:
    """Skip unless a rustdoc that knows edition 2024 runs; rustup's proxy may be there without a toolchain."""
    if shutil.which("rustdoc") is None:
        pytest.skip("rustdoc is not installed")
    said = subprocess.run(["rustdoc", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < (1, 85):
        pytest.skip(f"rustdoc 1.85 or newer is needed, this one says {said.strip() or 'nothing'!r}")


def test_every_snippet_runs_panics_or_fails_with_the_error_named(tmp_path: Path) -> None:
    require_rustdoc()
    notes = tmp_path / "notes.md"
    notes.write_text("\n".join(doc.text for doc in load_corpus("rust_notes")), encoding="utf-8")
    # RUSTC_BOOTSTRAP makes a stable rustdoc compare the codes in compile_fail fences; edition 2024
    # compiles all snippets in one go.
    done = subprocess.run(
        ["rustdoc", "--test", "--edition", "2024", str(notes)],
        env=os.environ | {"RUSTC_BOOTSTRAP": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("... ok") == notes.read_text(encoding="utf-8").count("\n```rust")
