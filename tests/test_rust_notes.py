"""The Rust notes are right where a compiler can tell: every snippet does what its fence says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cookbook.corpora import load_corpus


@pytest.mark.skipif(shutil.which("rustdoc") is None, reason="rustdoc is not installed")
def test_every_snippet_runs_panics_or_fails_with_the_error_named(tmp_path: Path) -> None:
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
