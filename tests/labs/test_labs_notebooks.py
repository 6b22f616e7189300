"""The committed notebooks of the labs follow from their sources, and each lab has all its parts."""

import re

import pytest

from cookbook import notebooks
from cookbook.errors import ConfigError
from cookbook.labs import all_labs, labs_of
from cookbook.labs.families import FAMILIES, family_named
from cookbook.labs.kit import build, pages
from cookbook.paths import NOTEBOOKS

WRITTEN = [family for family in FAMILIES if labs_of(family)]
PLANS = (45, 90, 180)
each_family = pytest.mark.parametrize("family", WRITTEN, ids=lambda family: family.stem)


def sections(notebook):
    """Slug and cells of each lab of a notebook."""
    found: dict[str, list] = {}
    slug = ""
    for cell in notebook.cells:
        if header := re.match(r"## \d+\. .+\n\n`(\w+)` · ", cell.source):
            slug = header[1]
        if slug:
            found.setdefault(slug, []).append(cell)
    return found


def printed(cell):
    shown = (output.get("text") or output.data["text/plain"] for output in cell.get("outputs", []) if output)
    return "".join(shown)


@each_family
def test_both_copies_follow_from_the_source(family):
    assert build.drift(family) == []


@each_family
def test_every_lab_is_there_in_order_with_all_its_parts(family):
    found = sections(build.build(family, solved=False))
    assert list(found) == [lab.slug for lab in labs_of(family)]
    for slug, cells in found.items():
        words = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        for heading in (
            "### The symptom",
            "### Predict before you look",
            "### The trace",
            "### Mend it",
            "### In the wild",
            "### One more question",
        ):
            assert words.count(heading) == 1, f"{slug}: {heading}"
        assert "bill(" in code, f"{slug} shows no bill of its symptom"
        assert re.search(r"^assert .*\d", code, re.MULTILINE), f"{slug} asserts no figure"
        assert words.count("<summary>Hint") == 2
        assert "draw_graph(" not in code or "mark=" in code, f"{slug} marks no guilty edge"


@each_family
def test_what_the_copies_print(family):
    learner, solved = (sections(notebooks.read(path)) for path in build.copies_of(family))
    for slug in learner:
        [said] = [text for cell in learner[slug] if (text := printed(cell)).startswith(("NOT YET", "PASSED"))]
        assert said.startswith(f"NOT YET {slug}: not_written\n")
        [said] = [text for cell in solved[slug] if (text := printed(cell)).startswith(("NOT YET", "PASSED"))]
        assert said.startswith(f"PASSED {slug}\n")


def test_the_pages_are_current():
    for path, text in pages.pages().items():
        assert path.read_text(encoding="utf-8") == text, "write it with: cookbook labs build"


def test_lesson_plans_name_labs_and_fit():
    text = (NOTEBOOKS / "labs" / "TEACHERS.md").read_text(encoding="utf-8")
    known = {lab.slug: lab.minutes for lab in all_labs()}
    planned = {slug for family in FAMILIES for slug in family.slugs}
    plans = dict(re.findall(r"^## (\d+) minutes\b.*?\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    assert list(plans) == [str(minutes) for minutes in PLANS]
    for minutes, plan in plans.items():
        for line in re.findall(r"^\d+\. .*", plan, re.MULTILINE):
            slugs = re.findall(r"`(\w+)`", line)
            assert slugs, line
            assert set(slugs) <= planned
            assert sum(known.get(slug, 0) for slug in slugs) <= int(minutes), line


# ---------------------------------------------------------------- the builder


@pytest.fixture
def source(monkeypatch, tmp_path):
    """A folder for sources, and a function that writes the one of the first family."""
    monkeypatch.setattr(build, "SOURCES", tmp_path)

    def write(text):
        (tmp_path / "40_verdicts.py").write_text(text, encoding="utf-8")
        return family_named("40_verdicts")

    return write


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# %% exercise\n", "'# %% exercise'"),
        ("# %% lab: substring_verdicts\n\n# %% exercize\n", "'# %% exercize'"),
        ("# %% lab: substring_verdicts\n\n# %% closing\nx = 1\n", "'# %% closing'"),
        ("# %% lab: no_such_lab\n", "no_such_lab"),
    ],
)
def test_a_source_that_cannot_be_used(source, text, said):
    with pytest.raises(ConfigError, match=said):
        build.build(source(text), solved=False)


def test_drift_names_the_cell(source, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(build, "LEARNER", tmp_path / "labs")
    monkeypatch.setattr(build, "SOLVED", tmp_path / "solutions")
    # The copies keep the badge of their real places; drift compares them with what is built here.
    monkeypatch.setattr(notebooks, "badge", lambda path: "[![Open in Colab](x)](colab)")
    family = source("# %% lab: substring_verdicts\n\n# %% [markdown]\n# The story.\n")
    assert build.drift(family) == [
        f"{folder}/40_verdicts.ipynb is missing; make it with: cookbook labs build 40_verdicts"
        for folder in ("labs", "solutions")
    ]
    monkeypatch.setattr(notebooks, "execute", lambda notebook, path, **environment: None)
    assert len(list(build.make(family))) == 2
    assert build.drift(family) == []
    source("# %% lab: substring_verdicts\n\n# %% [markdown]\n# Another story.\n")
    assert build.drift(family) == [
        f"{folder}/40_verdicts.ipynb, cell 4, is not what its source says; run: cookbook labs build 40_verdicts"
        for folder in ("labs", "solutions")
    ]


def test_comments_that_name_the_fault_are_not_shown(source):
    family = source(
        "# %% lab: substring_verdicts\n\n# %% broken: cookbook.published.handbook.after_support\n"
    )
    shown = build.build(family, solved=False).cells[3].source
    assert 'state["regenerations"] += 1\n' in shown
    assert "FAULT" not in shown
