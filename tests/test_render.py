"""Rendering gives one normal form, and the comparison finds every text that changed."""

import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from cookbook import notebooks
from cookbook.errors import ConfigError, NotebookFailed


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def cell(*outputs, source="x"):
    return new_code_cell(
        source,
        outputs=list(outputs),
        execution_count=7,
        metadata={"execution": {"iopub.status.busy": "today"}, "tags": ["t"]},
    )


def normal(*cells):
    made = new_notebook(
        cells=list(cells), metadata={"widgets": {}, "language_info": {"name": "python", "version": "3.11.7"}}
    )
    return notebooks.normalise(nbformat.from_dict(made))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A repository of its own with one notebook, ``notebooks/01_a.ipynb``, as the module sees it."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.cookbook]\nrepository = "ana/book"\n')
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    return tmp_path / "notebooks"


def save(path: Path, *sources):
    cells = [
        new_markdown_cell("# Counting\n\nTakes 3 minutes."),
        *(new_code_cell(source) for source in sources),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_execution_counts_metadata_and_ids_say_nothing_of_the_run():
    made = normal(new_markdown_cell("# A"), cell(), cell(source=" "), cell())
    assert [c.get("execution_count") for c in made.cells] == [None, 1, None, 2]
    assert made.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert made.cells[1].metadata == {"tags": ["t"]}
    again = normal(new_markdown_cell("# A"), cell(), cell(source=" "), cell())
    assert [c.id for c in made.cells] == [c.id for c in again.cells]
    assert len({c.id for c in made.cells}) == 4
    nbformat.validate(made)
    assert notebooks.normalise(deepcopy(made)) == made


def test_streams_are_joined_and_progress_bars_dropped():
    made = normal(
        cell(
            stream("a"),
            stream(" 10%|#\n", "stderr"),
            stream("b\n"),
            stream("\r 99%\n", "stderr"),
            stream("c\n"),
        )
    )
    assert [(o.name, o.text) for o in made.cells[0].outputs] == [("stdout", "ab\nc\n")]
    warned = normal(cell(stream("careful\n", "stderr"), stream("a\n"), stream("50%|#\n", "stderr")))
    assert [(o.name, o.text) for o in warned.cells[0].outputs] == [("stdout", "a\n"), ("stderr", "careful\n")]


def test_widgets_go_and_pictures_stay():
    widget = new_output(
        "display_data", {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "HBox()"}
    )
    picture = new_output(
        "display_data", {"image/png": "aGk=", "text/plain": "<Figure>"}, metadata={"needs": 1}
    )
    (kept,) = normal(cell(widget, picture)).cells[0].outputs
    assert (kept.data, kept.metadata) == ({"image/png": "aGk=", "text/plain": "<Figure>"}, {})


def test_paths_and_addresses_of_this_run_are_replaced(folder, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ana")
    text = f"{folder}/x /home/ana/y /home/anabel <f at 0x7f00aa11> /tmp/ipykernel_12/34.py:5 0xff"
    made = normal(cell(stream(text), new_output("execute_result", {"text/plain": text}, execution_count=9)))
    expected = "<repository>/notebooks/x ~/y /home/anabel <f at 0x0> <cell>:5 0xff"
    assert made.cells[0].outputs[0].text == expected
    assert made.cells[0].outputs[1].data["text/plain"] == expected
    assert made.cells[0].outputs[1].execution_count == 1


def test_the_list_shows_title_and_minutes_numbered_first(folder):
    save(folder / "labs" / "00_lab.ipynb")
    save(folder / "10_b.ipynb")
    save(folder / "02_a.ipynb")
    save(folder / ".ipynb_checkpoints" / "02_a.ipynb")
    assert [(n.name, n.title, n.minutes) for n in notebooks.listed()] == [
        ("02_a.ipynb", "Counting", 3),
        ("10_b.ipynb", "Counting", 3),
        ("labs/00_lab.ipynb", "Counting", 3),
    ]


def test_the_badge_is_written_below_the_title_and_replaced_later(folder):
    line = notebooks.badge(folder / "01_a.ipynb")
    assert line.endswith("(https://colab.research.google.com/github/ana/book/blob/main/notebooks/01_a.ipynb)")
    made = new_notebook(cells=[new_markdown_cell("# Counting\n\nTakes 3 minutes.")])
    notebooks.set_badge(made, line.replace("ana", "eve"))
    notebooks.set_badge(made, line)
    assert made.cells[0].source == f"# Counting\n\n{line}\n\nTakes 3 minutes."
    with pytest.raises(ConfigError, match="begins with a markdown cell"):
        notebooks.set_badge(new_notebook(cells=[new_code_cell("1")]), line)


def test_the_install_line_names_this_repository_whatever_it_named_before(folder):
    made = new_notebook(
        cells=[new_code_cell("if x:\n    !pip install -q git+https://github.com/eve/old  # y\n1")]
    )
    for _ in range(2):
        notebooks.set_install(made)
        assert made.cells[0].source == "if x:\n    !pip install -q git+https://github.com/ana/book\n1"


def test_render_executes_in_the_folder_of_the_notebook_on_the_recordings(folder):
    source = "import os\nprint(os.getcwd(), os.environ['PROVIDER'])\nopen('left.txt', 'w').close()"
    path = save(folder / "01_a.ipynb", source, "6 * 7")
    assert list(notebooks.render([path])) == [path]
    first, second = (c for c in notebooks.read(path).cells if c.cell_type == "code")
    assert first.outputs[0].text == "<repository>/notebooks replay\n"
    assert (second.execution_count, second.outputs[0].data) == (2, {"text/plain": "42"})
    assert (folder / "left.txt").exists()
    assert path.read_text().endswith("}\n")


def test_a_notebook_that_fails_is_named_and_left_as_it_was(folder):
    path = save(folder / "01_a.ipynb", "1", "raise ValueError('no\\nway')")
    before = path.read_bytes()
    with pytest.raises(NotebookFailed, match=r"\A01_a\.ipynb, code cell 2: ValueError: no\Z"):
        list(notebooks.render([path]))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["not json", "", "{}", "[]"])
def test_what_is_no_notebook_is_an_error_that_names_it(folder, content):
    (folder / "01_a.ipynb").write_text(content)
    with pytest.raises(ConfigError, match=r"01_a\.ipynb is not a notebook"):
        notebooks.read(folder / "01_a.ipynb")


def committed_and_executed(folder, committed, executed):
    path = folder / "01_a.ipynb"
    for where, outputs in ((path, committed), (folder.parent / "run" / "01_a.ipynb", executed)):
        where.parent.mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=[cell(), cell(*outputs)]), where)
    return notebooks.check([path], folder.parent / "run")


def test_a_changed_text_is_shown_as_a_diff_that_names_notebook_and_cell(folder):
    (said,) = committed_and_executed(folder, [stream("calls 9\nsame\n")], [stream("calls 13\nsame\n")])
    assert said.split("\n")[:2] == [
        "--- 01_a.ipynb, code cell 2: committed",
        "+++ 01_a.ipynb, code cell 2: executed",
    ]
    assert "-calls 9" in said
    assert "+calls 13" in said


@pytest.mark.parametrize(
    ("committed", "executed", "differences"),
    [
        ([stream("ab\n")], [stream("a"), stream("b\n")], 0),
        ([stream("a\n")], [stream("a\n"), stream("warning\n", "stderr")], 0),
        (
            [new_output("display_data", {"image/png": "AA=="})],
            [new_output("display_data", {"image/png": "BB=="})],
            0,
        ),
        ([new_output("display_data", {"image/png": "AA=="})], [], 1),
        ([stream("a\n")], [], 1),
        (
            [new_output("display_data", {"text/html": "<b>1</b>"})],
            [new_output("display_data", {"text/html": "<b>2</b>"})],
            1,
        ),
        ([stream("a\n")], [stream("a\n"), new_output("error", ename="E", evalue="x", traceback=[])], 1),
    ],
)
def test_only_what_a_reader_sees_counts(folder, committed, executed, differences):
    assert len(committed_and_executed(folder, committed, executed)) == differences


def test_a_copy_with_other_cells_is_a_difference(folder):
    path = save(folder / "01_a.ipynb", "1", "2")
    save(folder.parent / "run" / "01_a.ipynb", "1")
    assert notebooks.check([path], folder.parent / "run") == [
        "01_a.ipynb: 2 code cells committed, 1 executed"
    ]


@pytest.mark.parametrize(
    ("call", "refused"),
    [
        ("socket.create_connection(('example.org', 80))", True),
        ("socket.create_connection(('10.0.0.1', 80), 1)", True),
        ("socket.gethostbyname('example.org')", True),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('10.0.0.1', 9))", True),
        ("s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())", False),
        ("socket.getaddrinfo('localhost', 80)", False),
        ("socket.socketpair()", False),
    ],
)
def test_the_network_is_blocked_in_kernels(call, refused):
    run = subprocess.run(
        [sys.executable, "-c", f"import socket; {call}"],
        env={"PYTHONPATH": str(Path(__file__).parent / "netblock")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("the network is blocked in this run" in run.stderr) is refused
    assert (run.returncode != 0) is refused
