"""Makes the two notebooks of a family from its source: the learner's copy and the solved one.

A source, ``notebooks/labs/source/<stem>.py`` in percent format, holds the story of each lab and these
cells without a body, which are filled from the lab's module:

``# %% lab: SLUG``  begins a lab: number, title, difficulty, minutes, what you will be able to do, the report
``# %% broken``     the code that fails, for reading; ``# %% broken: package.module.name`` shows another object
``# %% exercise``   the task, the stub (or the solution), the check, two hints and the solution, folded
``# %% closing``    in the wild, and the transfer question
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cookbook import notebooks
from cookbook.errors import ConfigError
from cookbook.labs import get, labs_of
from cookbook.labs.families import Family
from cookbook.labs.kit import stub
from cookbook.labs.kit.lab import Lab
from cookbook.paths import NOTEBOOKS, read_text

if TYPE_CHECKING:
    from nbformat import NotebookNode

LEARNER, SOLVED = NOTEBOOKS / "labs", NOTEBOOKS / "solutions"
SOURCES = LEARNER / "source"


def source_of(family: Family) -> Path:
    return SOURCES / f"{family.stem}.py"


def copies_of(family: Family) -> tuple[Path, Path]:
    """Where the learner's copy and the solved copy lie."""
    return LEARNER / f"{family.stem}.ipynb", SOLVED / f"{family.stem}.ipynb"


def make(family: Family) -> Iterator[Path]:
    """Build, execute and write both copies; yields each path once it is written."""
    for path, solved in zip(copies_of(family), (False, True), strict=True):
        notebook = build(family, solved=solved)
        path.parent.mkdir(exist_ok=True)
        notebooks.execute(notebook, path, PROVIDER="replay")
        notebooks.write(notebooks.normalise(notebook), path)
        yield path


def drift(family: Family) -> list[str]:
    """What in the two committed copies does not follow from source and modules, a line for each cell."""
    found = []
    for path, solved in zip(copies_of(family), (False, True), strict=True):
        name = path.relative_to(NOTEBOOKS).as_posix()
        if not path.exists():
            found.append(f"{name} is missing; make it with: cookbook labs build {family.stem}")
            continue
        there = [_said(cell) for cell in notebooks.read(path).cells]
        wanted = [_said(cell) for cell in notebooks.normalise(build(family, solved=solved)).cells]
        if there != wanted:
            n = next(
                (n for n, pair in enumerate(zip(there, wanted, strict=False)) if pair[0] != pair[1]),
                len(there),
            )
            found.append(
                f"{name}, cell {n + 1}, is not what its source says; run: cookbook labs build {family.stem}"
            )
    return found


def _said(cell: NotebookNode) -> tuple[str, str, dict[str, Any]]:
    return cell.cell_type, cell.source, dict(cell.metadata)


def build(family: Family, *, solved: bool) -> NotebookNode:
    """The notebook without outputs. ConfigError names the line of a source that cannot be used."""
    import jupytext
    from nbformat.v4 import new_notebook

    path = copies_of(family)[solved]
    story = jupytext.reads(read_text(source_of(family)), fmt="py:percent").cells
    cells = [*_opening(family, solved)]
    lab: Lab | None = None
    number = 0
    for cell in story:
        word, _, rest = cell.metadata.get("title", "").partition(":")
        if not word:
            cells.append(_plain(cell))
        elif word == "lab":
            lab, number = get(rest.strip()), number + 1
            cells.append(_markdown(_header(lab, number)))
        elif lab is None or word not in _PARTS or cell.source.strip():
            raise ConfigError(
                f"{source_of(family).name}: '# %% {cell.metadata['title']}' is no directive with an empty cell "
                f"inside a lab; known: lab: SLUG, {', '.join(_PARTS)}"
            )
        else:
            cells += _PARTS[word](lab, rest.strip(), solved)
    cells.append(
        _markdown("All labs, with their difficulty: [the list](../labs/README.md), or `cookbook labs`.")
    )
    notebook: NotebookNode = new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    notebooks.set_badge(notebook, notebooks.badge(path))
    return notebook


# ---------------------------------------------------------------- cells

#: Comments in published code that name the fault, which the learner is to find.
_FAULTS = re.compile(r"^[ \t]*# FAULT.*\n|[ \t]*# FAULT.*$", re.MULTILINE)


def _markdown(text: str, *tags: str) -> NotebookNode:
    from nbformat.v4 import new_markdown_cell

    return new_markdown_cell(text, metadata={"tags": list(tags)} if tags else {})  # type: ignore[no-untyped-call, no-any-return]


def _code(text: str, nbgrader: Mapping[str, Any] | None = None) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    return new_code_cell(text, metadata={"nbgrader": dict(nbgrader)} if nbgrader else {})  # type: ignore[no-untyped-call, no-any-return]


def _plain(cell: NotebookNode) -> NotebookNode:
    return _markdown(cell.source) if cell.cell_type == "markdown" else _code(cell.source)


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _opening(family: Family, solved: bool) -> list[NotebookNode]:
    labs = labs_of(family)
    other = (
        f"This is the solved copy; [the learner's](../labs/{family.stem}.ipynb) has the stubs."
        if solved
        else f"This is the learner's copy. If you are stuck beyond the hints, [the solved one](../solutions/{family.stem}.ipynb) "
        "shows every check passed."
    )
    rows = "\n".join(f"| {n} | {lab.title} | {lab.dots} | {lab.minutes} |" for n, lab in enumerate(labs, 1))
    return [
        _markdown(
            f"# Labs: {family.title}\n\n**{sum(lab.minutes for lab in labs)} minutes.** {family.introduction}\n\n"
            f"| | lab | difficulty | minutes |\n|---|---|---|---|\n{rows}\n\n"
            "Every model here is a script, so each count is exact and nothing costs anything. A lab shows a symptom, "
            "lets you find it, and waits for your code. Its check never raises: it says what it saw. "
            f"You can do the labs in any order; some later labs give away earlier ones. {other}"
        ),
        _code(
            'import os\nimport sys\n\nos.environ.setdefault("PROVIDER", "replay")\nif "google.colab" in sys.modules:\n'
            f"    {notebooks.install_line()}\n\n"
            + "\n".join(f"from cookbook.labs import {lab.slug}" for lab in labs)
        ),
    ]


def _header(lab: Lab, number: int) -> str:
    return (
        f"## {number}. {lab.title}\n\n`{lab.slug}` · {lab.dots} · {lab.minutes} minutes\n\n"
        f"**Reported:** {lab.symptom}\n\n**You will be able to** {lab.you_will}."
    )


def _broken(lab: Lab, target: str, solved: bool) -> list[NotebookNode]:
    found: Any = lab.broken()
    if target:
        module, _, name = target.rpartition(".")
        found = getattr(import_module(module), name)
    source = _FAULTS.sub("", textwrap.dedent(inspect.getsource(found))).rstrip()
    return [_markdown(f"```python\n{source}\n```")]


def _exercise(lab: Lab, target: str, solved: bool) -> list[NotebookNode]:
    module = lab.code()
    name = stub.learner_function(module).__name__
    graded = {"schema_version": 3, "task": False}
    writes = {**graded, "grade_id": lab.slug, "grade": False, "solution": True, "locked": False}
    checks = {**graded, "grade_id": f"{lab.slug}-check", "grade": True, "solution": False, "locked": True}
    # What nbgrader calls a hidden test is what makes its grading, and our solved copy, fail when the check does.
    required = "\n### BEGIN HIDDEN TESTS\nverdict.require()\n### END HIDDEN TESTS" if solved else ""
    cells = [
        _markdown(f"### Mend it\n\n{lab.task}"),
        _code(stub.solution_cell(module) if solved else stub.stub_cell(module), writes),
        _markdown("Now let the check look at it, as often as you like. It says what it saw."),
        _code(f"verdict = {lab.slug}.check({name}){required}\nverdict", {**checks, "points": lab.difficulty}),
        _markdown(
            f"{_folded('Hint: where to look', lab.hints[0])}\n\n{_folded('Hint: what to do', lab.hints[1])}"
        ),
    ]
    if not solved:
        solution = _folded("Solution", f"```python\n{stub.folded_solution(module)}\n```")
        cells.append(_markdown(solution, "folded_solution"))
    return cells


def _closing(lab: Lab, target: str, solved: bool) -> list[NotebookNode]:
    return [
        _markdown(
            f"### In the wild\n\n{lab.in_the_wild}\n\n### One more question\n\n{lab.transfer}\n\n"
            f"(Write your answer down, then compare it with [ours](../labs/ANSWERS.md#{lab.slug}).)"
        )
    ]


_PARTS = {"broken": _broken, "exercise": _exercise, "closing": _closing}
