"""nbgrader hands out a family of labs and grades it: the solution gets every point, the stub gets none."""

import os
import sys
from pathlib import Path

import pytest

from cookbook import notebooks
from cookbook.labs.families import family_named
from cookbook.labs.kit import build

FAMILY = family_named("40_verdicts")
LEARNER, SOLVED = build.copies_of(FAMILY)


def graded_part(path):
    """The notebook with its setup cell and the cells that nbgrader knows; the story is executed elsewhere."""
    notebook = notebooks.read(path)
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells = [setup, *(cell for cell in notebook.cells if "nbgrader" in cell.metadata)]
    return notebook


@pytest.fixture
def course(tmp_path, monkeypatch):
    """An nbgrader course with one assignment, handed in by two people."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    # nbgrader runs alembic by its name, which lies beside this Python whether or not its folder is on the path.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.db_url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    for folder, path in (("source", SOLVED), ("submitted/solver", SOLVED), ("submitted/sleeper", LEARNER)):
        (tmp_path / folder / "labs").mkdir(parents=True)
        notebooks.write(graded_part(path), tmp_path / folder / "labs" / path.name)
    return NbGraderAPI(config=config)


@pytest.mark.filterwarnings("ignore:Object of type <Submitted")  # nbgrader's own, with the newest SQLAlchemy
def test_it_makes_our_learners_copy_and_grades_both(course, tmp_path):
    said = course.generate_assignment("labs")
    assert said["success"], said["log"]
    released = notebooks.read(tmp_path / "release" / "labs" / LEARNER.name)
    assert [cell.source.rstrip() for cell in released.cells] == [
        cell.source for cell in graded_part(LEARNER).cells
    ]

    graded = [
        cell.metadata.nbgrader for cell in graded_part(SOLVED).cells[1:] if cell.metadata.nbgrader.grade
    ]
    points = sum(cell.points for cell in graded)
    assert points >= len(graded) > 0
    for person, score in (("solver", points), ("sleeper", 0)):
        said = course.autograde("labs", person)
        assert said["success"], said["log"]
        found = course.get_submission("labs", person)
        assert (found["score"], found["max_score"]) == (score, points)
