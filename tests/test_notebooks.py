"""House rules of the committed notebooks, each a function that complains, and bad notebooks to prove it."""

import ast
import re
import statistics
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from cookbook.notebooks import badge, install_line, listed, normalise, read, repository
from cookbook.paths import NOTEBOOKS, ROOT

Rule = Callable[[NotebookNode, Path], Iterator[str]]
RULES: dict[str, Rule] = {}

MEDIAN_LINES, MOST_LINES = 12, 40
SETUP = 'os.environ.setdefault("PROVIDER", "replay")'
COLAB = 'if "google.colab" in sys.modules:'
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:home|Users|root|work|tmp|var/folders)/|[A-Z]:\\Users")
LINK = re.compile(r"\]\(<?([^)\s>]+)")
NOTEBOOK_PATH = re.compile(r"notebooks/[\w./-]+\.ipynb")


def rule(function: Rule) -> Rule:
    RULES[function.__name__] = function
    return function


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def outputs(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    return ((n, output) for n, cell in enumerate(code(notebook), 1) for output in cell.outputs)


def parsed(cell: NotebookNode) -> ast.Module:
    """The cell without IPython's own lines, which are no Python."""
    return ast.parse(re.sub(r"^([ \t]*)[%!].*", r"\1pass", cell.source, flags=re.MULTILINE))


# ---------------------------------------------------------------- what was run


@rule
def no_errors_are_stored(notebook, path):
    for n, output in outputs(notebook):
        if output.output_type == "error":
            yield f"code cell {n} stores {output.ename}; mend it and render again"


@rule
def no_error_is_allowed(notebook, path):
    if notebook.metadata.get("execution", {}).get("allow_errors"):
        yield "metadata.execution.allow_errors hides failures; remove it"
    for n, cell in enumerate(code(notebook), 1):
        if "raises-exception" in cell.metadata.get("tags", []):
            yield f"code cell {n} is tagged raises-exception; catch the error in the cell and print it"


@rule
def cells_ran_once_in_order(notebook, path):
    counts = [cell.execution_count for cell in code(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"cells ran as {counts}; render the notebook"


@rule
def figures_have_their_picture(notebook, path):
    for n, output in outputs(notebook):
        data = output.get("data", {})
        if "<Figure" in data.get("text/plain", "") and "image/png" not in data:
            yield f"code cell {n} names a figure and shows none"


@rule
def nothing_is_written_to_stderr(notebook, path):
    for n, output in outputs(notebook):
        if output.get("name") == "stderr":
            yield f"code cell {n} warns {output.text.strip()[:80]!r}; mend the cause"


@rule
def no_widgets_are_stored(notebook, path):
    if "widgets" in notebook.metadata:
        yield "metadata.widgets is stored; render the notebook"
    for n, output in outputs(notebook):
        if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
            yield f"code cell {n} stores a widget that nobody can see; print text instead"


@rule
def no_machine_is_named(notebook, path):
    for n, cell in enumerate(notebook.cells, 1):
        said = [cell.source]
        for output in cell.get("outputs", []):
            shown = output.get("data", {}).items()
            said += [output.get("text", ""), *(text for mime, text in shown if mime.startswith("text/"))]
        if found := MACHINE_PATH.search("\n".join(said)):
            yield f"cell {n} names a path of one machine ({found[0]})"


@rule
def stored_as_rendered(notebook, path):
    if notebook != normalise(deepcopy(notebook)):
        yield "not in the normal form; make it with: cookbook notebooks render"


# ---------------------------------------------------------------- how it reads


@rule
def code_cells_are_small(notebook, path):
    sizes = [len(cell.source.splitlines()) for cell in code(notebook)]
    if sizes and statistics.median(sizes) > MEDIAN_LINES:
        yield f"the median code cell has {statistics.median(sizes)} lines, {MEDIAN_LINES} at most"
    for n, size in enumerate(sizes, 1):
        if size > MOST_LINES:
            yield f"code cell {n} has {size} lines, {MOST_LINES} at most"


@rule
def words_come_before_code(notebook, path):
    after_setup = False
    for before, cell in zip([None, *notebook.cells], notebook.cells, strict=False):
        if cell.cell_type == "code":
            if after_setup and before.cell_type != "markdown":
                yield f"no words before the code cell that begins {cell.source[:40]!r}"
            after_setup = True


@rule
def begins_with_title_minutes_and_badge(notebook, path):
    first = notebook.cells[0]
    if first.cell_type != "markdown" or not first.source.startswith("# "):
        yield "the first cell is not a title"
    if not re.search(r"\d+ min", "".join(c.source for c in notebook.cells[:2] if c.cell_type == "markdown")):
        yield "the first two cells do not say how many minutes it takes"
    if badge(path) not in first.source.split("\n") or first.source.count("colab-badge") != 1:
        yield "the badge does not open this notebook; make it with: cookbook notebooks render"


@rule
def setup_names_the_provider(notebook, path):
    if not code(notebook) or SETUP not in code(notebook)[0].source:
        yield f"the first code cell does not say {SETUP}"


@rule
def setup_installs_in_colab(notebook, path):
    for line in (COLAB, install_line()):
        if not code(notebook) or line not in code(notebook)[0].source:
            yield f"the first code cell does not say {line}"


@rule
def imports_are_plain(notebook, path):
    for n, cell in enumerate(code(notebook), 1):
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                yield f"code cell {n} imports * from {node.module}"
        if "sys.path" in cell.source:
            yield f"code cell {n} edits sys.path; install the package instead"


def broken_links(text: str, folder: Path) -> Iterator[str]:
    """Links into this repository, relative or by its public address, that lead nowhere."""
    ours = re.compile(
        rf"https://(?:github\.com|colab\.research\.google\.com/github)/{repository()}/(?:blob|tree)/main/"
    )
    for target in LINK.findall(text):
        where, there = ours.subn("", target.partition("#")[0])
        base = ROOT if there else folder
        if where and not re.match(r"[a-z]+:", where) and not (base / where).resolve().exists():
            yield f"link to {target}, which is not there"


@rule
def links_lead_somewhere(notebook, path):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            without_badge = cell.source.replace(badge(path), "")
            yield from broken_links(without_badge, path.parent)


# ---------------------------------------------------------------- the committed files


@pytest.mark.parametrize("name", [notebook.name for notebook in listed()])
def test_notebook_keeps_the_rules(name):
    path = NOTEBOOKS / name
    notebook = read(path)
    complaints = [f"{label}: {said}" for label, check in RULES.items() for said in check(notebook, path)]
    assert complaints == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_the_front_pages_lead_somewhere(name):
    assert list(broken_links((ROOT / name).read_text(encoding="utf-8"), ROOT)) == []


def test_notebooks_named_in_the_package_exist():
    named = {
        (module.relative_to(ROOT).as_posix(), found)
        for module in (ROOT / "cookbook").rglob("*.py")
        for found in NOTEBOOK_PATH.findall(module.read_text(encoding="utf-8"))
    }
    assert [(module, found) for module, found in sorted(named) if not (ROOT / found).exists()] == []


# ---------------------------------------------------------------- the rules themselves


HERE = NOTEBOOKS / "01_example.ipynb"


def good() -> NotebookNode:
    """A notebook that every rule accepts."""
    cells = [
        new_markdown_cell(f"# Example\n\n{badge(HERE)}\n\nTakes 5 minutes."),
        new_code_cell(f"import os\nimport sys\n\n{SETUP}\n{COLAB}\n    {install_line()}", execution_count=1),
        new_markdown_cell(
            "Two and two, see [the licence](../LICENSE) and [a site](https://example.org/x.md)."
        ),
        new_code_cell("print(2 + 2)", execution_count=2, outputs=[new_output("stream", text="4\n")]),
    ]
    return normalise(nbformat.from_dict(new_notebook(cells=cells)))


def last(notebook: NotebookNode) -> NotebookNode:
    return notebook.cells[-1]


def widget() -> NotebookNode:
    return new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}})


BAD = [
    (
        "no_errors_are_stored",
        lambda nb: last(nb).outputs.append(new_output("error", ename="E", evalue="", traceback=[])),
    ),
    ("no_error_is_allowed", lambda nb: nb.metadata.update(execution={"allow_errors": True})),
    ("no_error_is_allowed", lambda nb: last(nb).metadata.update(tags=["raises-exception"])),
    ("cells_ran_once_in_order", lambda nb: last(nb).update(execution_count=1)),
    ("cells_ran_once_in_order", lambda nb: last(nb).update(execution_count=None)),
    (
        "nothing_is_written_to_stderr",
        lambda nb: last(nb).outputs.append(new_output("stream", name="stderr", text="hm")),
    ),
    (
        "figures_have_their_picture",
        lambda nb: last(nb).outputs.append(
            new_output("display_data", {"text/plain": "<Figure size 2x2 with 1 Axes>"})
        ),
    ),
    ("no_widgets_are_stored", lambda nb: nb.metadata.update(widgets={})),
    ("no_widgets_are_stored", lambda nb: last(nb).outputs.append(widget())),
    ("no_machine_is_named", lambda nb: last(nb).update(source="open('/home/ana/x')")),
    ("no_machine_is_named", lambda nb: last(nb).outputs[0].update(text="in /tmp/x1\n")),
    (
        "no_machine_is_named",
        lambda nb: last(nb).outputs.append(new_output("display_data", {"text/html": r"C:\Users\x"})),
    ),
    ("stored_as_rendered", lambda nb: nb.metadata.update(colab={})),
    ("stored_as_rendered", lambda nb: last(nb).metadata.update(ExecuteTime={"start_time": "now"})),
    ("code_cells_are_small", lambda nb: [cell.update(source="a\n" * 13) for cell in code(nb)]),
    ("code_cells_are_small", lambda nb: last(nb).update(source="a\n" * 41)),
    ("words_come_before_code", lambda nb: nb.cells.append(deepcopy(last(nb)))),
    ("begins_with_title_minutes_and_badge", lambda nb: nb.cells.pop(0)),
    (
        "begins_with_title_minutes_and_badge",
        lambda nb: nb.cells[0].update(source=f"# Example\n\n{badge(HERE)}"),
    ),
    ("begins_with_title_minutes_and_badge", lambda nb: nb.cells[0].update(source="# Example\n\n5 minutes")),
    ("setup_names_the_provider", lambda nb: nb.cells[1].update(source="import os")),
    ("setup_installs_in_colab", lambda nb: nb.cells[1].update(source=nb.cells[1].source.replace("git+", ""))),
    ("setup_installs_in_colab", lambda nb: nb.cells[1].update(source=f"import os\n\n{SETUP}")),
    ("imports_are_plain", lambda nb: last(nb).update(source="%time\nfrom os import *")),
    ("imports_are_plain", lambda nb: last(nb).update(source="import sys\nsys.path.append('..')")),
    ("links_lead_somewhere", lambda nb: nb.cells[2].update(source="[gone](02_gone.ipynb#here)")),
    (
        "links_lead_somewhere",
        lambda nb: nb.cells[2].update(source=f"[gone](https://github.com/{repository()}/blob/main/gone.md)"),
    ),
]


def complaining(notebook: NotebookNode) -> set[str]:
    return {name for name, check in RULES.items() if list(check(notebook, HERE))}


def test_every_rule_accepts_a_good_notebook():
    assert complaining(good()) == set()


@pytest.mark.parametrize(("name", "spoil"), BAD)
def test_every_rule_sees_what_it_is_for(name, spoil):
    notebook = good()
    spoil(notebook)
    assert name in complaining(notebook)


def test_no_rule_is_untested():
    assert {name for name, _ in BAD} == set(RULES)
