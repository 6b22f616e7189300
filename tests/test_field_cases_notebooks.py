"""Field cases of notebooks, installation and CI: what may not be committed, and what fails must name its cell."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from packaging.requirements import Requirement
from packaging.version import Version
from test_notebooks import HERE, RULES, code, good, last, parsed

from cookbook import notebooks
from cookbook.errors import NotebookFailed
from cookbook.notebooks import listed, normalise, read
from cookbook.paths import NOTEBOOKS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BASE = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {
    name: [Requirement(line) for line in lines if not line.startswith(PROJECT["name"])]
    for name, lines in PROJECT["optional-dependencies"].items()
}
EVERYTHING = [*BASE, *(requirement for extra in EXTRAS.values() for requirement in extra)]


# ---------------------------------------------------------------- errors that hide


@pytest.mark.parametrize(
    "spoil",
    [
        lambda nb: nb.metadata.update(execution={"allow_errors": True}),
        lambda nb: last(nb).metadata.update(tags=["raises-exception"]),  # and it raises nothing any more
        lambda nb: last(nb).outputs.append(
            new_output("error", ename="AssertionError", evalue="", traceback=[])
        ),
    ],
)
def test_field_case_N01_an_error_that_is_allowed_or_stored_fails_the_policy(spoil):
    notebook = good()
    assert [said for rule in RULES.values() for said in rule(notebook, HERE)] == []
    spoil(notebook)
    complaints = [said for rule in RULES.values() for said in rule(notebook, HERE)]
    assert any(
        "allow_errors" in said or "raises-exception" in said or "AssertionError" in said
        for said in complaints
    )


# ---------------------------------------------------------------- cells that never end


def test_field_case_N02_a_killed_kernel_names_notebook_and_cell(tmp_path):
    cells = [new_code_cell("1 + 1"), new_code_cell("import os\nos.kill(os.getpid(), 9)")]
    with pytest.raises(NotebookFailed, match=r"\A01_a\.ipynb, code cell 2: .*[Kk]ernel died"):
        notebooks.execute(nbformat.from_dict(new_notebook(cells=cells)), tmp_path / "01_a.ipynb")


def test_field_case_N02_a_cell_without_an_end_is_stopped_and_named(tmp_path, monkeypatch):
    from nbclient.exceptions import CellTimeoutError

    class Client:
        def __init__(self, notebook, timeout, **options) -> None:
            assert timeout == notebooks.CELL_SECONDS <= 600
            self.code_cells_executed = 2

        def execute(self, **options) -> None:
            raise CellTimeoutError("A cell timed out while it was being executed")

    monkeypatch.setattr("nbclient.NotebookClient", Client)
    with pytest.raises(NotebookFailed, match=r"\A01_a\.ipynb, code cell 2: A cell timed out"):
        notebooks.execute(nbformat.from_dict(new_notebook()), tmp_path / "01_a.ipynb")
    assert "--nbmake-timeout=" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_field_case_N02_the_kernel_a_notebook_names_is_not_asked_for():
    """An unknown kernel name cannot be committed: the normal form has one, and it is what is started."""
    notebook = good()
    notebook.metadata.kernelspec = {"name": "venv-of-ana", "display_name": "Ana"}
    assert list(RULES["stored_as_rendered"](notebook, HERE))
    assert normalise(notebook).metadata.kernelspec["name"] == "python3"


# ---------------------------------------------------------------- widgets


@pytest.mark.parametrize(
    "spoil",
    [
        lambda nb: nb.metadata.update(widgets={"application/vnd.jupyter.widget-state+json": {}}),
        lambda nb: last(nb).outputs.append(
            new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}})
        ),
        lambda nb: last(nb).outputs.append(
            new_output("stream", name="stderr", text="50%|#####     | 5/10\n")
        ),
    ],
)
def test_field_case_N03_widgets_and_bars_are_refused_and_rendering_removes_them(spoil):
    notebook = good()
    spoil(notebook)
    assert [said for rule in RULES.values() for said in rule(notebook, HERE)]
    normalise(notebook)
    assert [said for rule in RULES.values() for said in rule(notebook, HERE)] == []


# ---------------------------------------------------------------- installing


PRELOADED = {"numpy": "2.0.2", "pandas": "2.2.2", "matplotlib": "3.10.0", "scipy": "1.14.1"}
"""What Colab has in memory before the first cell runs, at the oldest that still matters."""


@pytest.mark.parametrize(("name", "version"), PRELOADED.items())
def test_field_case_N04_installing_replaces_nothing_that_is_loaded_already(name, version):
    (requirement,) = [each for each in BASE if each.name == name]
    assert requirement.specifier.contains(version)
    assert {clause.operator for clause in requirement.specifier} == {">="}


def test_field_case_N04_the_install_stands_before_every_import_of_what_it_may_touch():
    for notebook in listed():
        first = code(read(notebook.path))[0]
        before, _, _ = first.source.partition("!pip install")
        assert re.findall(r"^\s*(?:import|from)\s+(\w+)", before, re.MULTILINE) in (
            ["os", "sys"],
            ["sys", "os"],
            ["sys"],
        )


STANDARD = sys.stdlib_module_names
COLAB_HAS = ("google", "torch")
"""Not installed by the first cell: another torch would replace the one that fits Colab's machine."""


def test_field_case_N05_notebooks_import_what_the_first_cell_installs_and_nothing_else():
    provided = metadata.packages_distributions()
    base = {requirement.name.replace("_", "-").lower() for requirement in BASE}
    for notebook in listed():
        for cell in code(read(notebook.path)):
            for node in ast.walk(parsed(cell)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                for name in {each.partition(".")[0] for each in names} - STANDARD - {"cookbook", "IPython"}:
                    held = {dist.replace("_", "-").lower() for dist in provided.get(name, [])}
                    assert held & base or name in COLAB_HAS, f"{notebook.name} imports {name}"


def test_field_case_N05_notebooks_do_not_care_where_they_are_started():
    relative = re.compile(r"""(?:open|Path|read_text)\(\s*["'](?:\.\.?/|notebooks/|corpora/)""")
    for notebook in listed():
        for cell in code(read(notebook.path)):
            assert not relative.search(cell.source), f"{notebook.name}: {cell.source[:60]!r}"
            assert "sys.path" not in cell.source
            assert "os.chdir" not in cell.source


def test_field_case_N05_the_package_finds_its_data_from_any_folder(tmp_path):
    lines = "from cookbook.corpora import load_corpus; print(len(load_corpus('larkspur')))"
    found = {
        subprocess.run(
            [sys.executable, "-c", lines], capture_output=True, text=True, cwd=where, timeout=60
        ).stdout
        for where in (tmp_path, ROOT, NOTEBOOKS)
    }
    assert found == {"16\n"}
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {"corpora", "eval_sets", "recordings"} <= set(wheel["force-include"])


def test_field_case_N07_every_dependency_has_a_tested_range_and_a_locked_version():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = dict(line.partition(";")[0].strip().split("==") for line in lines if "==" in line)
    versions = {name.lower().replace("_", "-"): version for name, version in locked.items()}
    for requirement in EVERYTHING:
        name = requirement.name.lower().replace("_", "-")
        assert {clause.operator for clause in requirement.specifier} & {">=", "=="}, requirement.name
        assert requirement.specifier.contains(versions[name], prereleases=True), requirement.name
        assert Version(versions[name])


def test_field_case_N07_a_scheduled_job_tries_both_ends_of_the_ranges_and_shows_what_differs():
    job = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    for part in (
        "schedule:",
        "resolution: highest",
        "resolution: lowest-direct",
        "diff requirements.lock",
        "-W default",
    ):
        assert part in job
