"""The names that published notebooks use: one notebook has them all and must run as it is."""

from pathlib import Path

import nbformat
import pytest

from cookbook import embedders, paths
from cookbook.embedders import HashEmbedder
from cookbook.eval import load_eval_set
from cookbook.tracing import init_tracing

NOTEBOOK = Path(__file__).with_name("published_names.ipynb")


@pytest.fixture
def the_rust_book() -> None:
    if not (paths.data_dir() / "rust-book").is_dir():
        pytest.skip("the Rust book is not in COOKBOOK_DATA, and tests download nothing")


def test_the_notebook_runs_unchanged(the_rust_book, monkeypatch):
    """On a scripted model and the word-counting embedder: this is about names, not about answers."""
    monkeypatch.setenv("PROVIDER", "scripted/always_yes")
    monkeypatch.setenv("COOKBOOK_TRACING", "on")
    monkeypatch.setitem(embedders.MAKERS, "replay", HashEmbedder)
    names: dict = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, NOTEBOOK.name, "exec"), names)
    assert len(names["docs"]) == 101
    assert len(names["base"].contexts) == 5
    assert list(names["table"]["contexts_retrieved"]) == [8] * 5
    assert names["sample"].answer


def test_a_row_is_read_by_attribute_and_by_name():
    row = load_eval_set("larkspur")[0]
    assert (row["question"], row["corpus"]) == (row.question, "larkspur")
    with pytest.raises(KeyError):
        row["states"]


def test_tracing_needs_no_setting_up():
    assert init_tracing() == "traces: in this process, on every answer (answer.trace)"
