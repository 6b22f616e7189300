"""Makes and checks the outputs that notebooks show, so that none was typed or left over by hand.

``render`` executes a notebook and stores it in one normal form: run once in order, without the
traces of a machine or a moment. ``check`` compares what a fresh execution printed with what is
committed. Needs the ``notebooks`` extra: pip install -e ".[notebooks]".
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cookbook.errors import ConfigError, NotebookFailed
from cookbook.paths import NOTEBOOKS, ROOT, read_text

if TYPE_CHECKING:
    from nbformat import NotebookNode

_WIDGET = "application/vnd.jupyter.widget-view+json"
_MINUTES = re.compile(r"(\d+)\s*min")
_BADGE = re.compile(r"^\[!\[[^\]]*\]\([^)]*colab[^)]*\)\]\([^)]*\)$", re.MULTILINE)
_INSTALL = re.compile(r"!pip install .*git\+https://.*")
CELL_SECONDS = 600
"""The longest that one cell may run."""
#: A progress bar: a line redrawn over itself, or a percentage before a bar.
_PROGRESS = re.compile(r"\r|\d+%\|")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_CELL_FILE = re.compile(r"\S*ipykernel_\d+[/\\]\d+\.py")


@dataclass(frozen=True)
class Notebook:
    """A notebook as the table of contents shows it. ``minutes`` is what its first cell declares."""

    path: Path
    title: str
    minutes: int | None

    @property
    def name(self) -> str:
        """The path below ``notebooks/``, such as ``labs/stuck_router.ipynb``."""
        return self.path.relative_to(NOTEBOOKS).as_posix()


def listed() -> list[Notebook]:
    """Every notebook, sorted by path: the numbered ones first, then those in folders."""
    found = [p for p in NOTEBOOKS.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts]
    return [_listing(path) for path in sorted(found, key=lambda p: (len(p.parts), p))]


def _listing(path: Path) -> Notebook:
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    title = next((m[1] for text in texts if (m := re.search(r"^# +(.+)$", text, re.MULTILINE))), path.stem)
    minutes = next((int(m[1]) for text in texts[:2] if (m := _MINUTES.search(text))), None)
    return Notebook(path, title, minutes)


# ---------------------------------------------------------------- reading and writing


def read(path: Path) -> NotebookNode:
    """The notebook at ``path``; ConfigError if it is missing or no notebook."""
    import nbformat

    try:
        return cast("NotebookNode", nbformat.reads(read_text(path), as_version=4))  # type: ignore[no-untyped-call]
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError) as error:
        raise ConfigError(f"{path} is not a notebook; restore it or write it again") from error


def write(notebook: NotebookNode, path: Path) -> None:
    import nbformat

    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def repository() -> str:
    """``owner/name`` of the public repository, from its one place in pyproject.toml."""
    project = tomllib.loads(read_text(ROOT / "pyproject.toml"))
    return str(project["tool"]["cookbook"]["repository"])


def badge(path: Path) -> str:
    """The line that opens this notebook in Colab."""
    where = path.relative_to(ROOT).as_posix()
    image = "https://colab.research.google.com/assets/colab-badge.svg"
    return f"[![Open in Colab]({image})](https://colab.research.google.com/github/{repository()}/blob/main/{where})"


def set_badge(notebook: NotebookNode, line: str) -> None:
    """Put the badge line below the title, in place of the one that is there."""
    if not notebook.cells or notebook.cells[0].cell_type != "markdown":
        raise ConfigError("a notebook begins with a markdown cell that holds its title")
    first = notebook.cells[0]
    if _BADGE.search(first.source):
        first.source = _BADGE.sub(line, first.source)
    else:
        title, _, rest = first.source.partition("\n")
        first.source = f"{title}\n\n{line}\n\n{rest.lstrip()}".rstrip()


def install_line() -> str:
    """What the setup cell of a notebook runs in Colab: clone this repository and install it."""
    return f"!pip install -q git+https://github.com/{repository()}"


def set_install(notebook: NotebookNode) -> None:
    """Let the line that installs the cookbook name this repository, wherever a code cell has one."""
    for cell in _code(notebook):
        cell.source = _INSTALL.sub(install_line(), cell.source)


# ---------------------------------------------------------------- execution


def execute(notebook: NotebookNode, path: Path, **environment: str) -> None:
    """Run all cells in a fresh kernel, from the folder of ``path``, with these variables set.

    Outputs are stored in ``notebook``. Raises NotebookFailed at the first cell that raises.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],  # else every kernel warns that its socket is not encrypted
    )
    try:
        client.execute(env={**os.environ, **environment})
    except CellExecutionError as error:
        cell = next(
            n for n, c in enumerate(_code(notebook), 1) if any(o.output_type == "error" for o in c.outputs)
        )
        said = f"{error.ename}: {error.evalue}".splitlines()[0]
        raise NotebookFailed(f"{path.name}, code cell {cell}: {said}") from error
    except (CellTimeoutError, DeadKernelError) as error:
        cell = client.code_cells_executed  # nbclient counts a cell when it is sent
        raise NotebookFailed(f"{path.name}, code cell {cell}: {str(error).splitlines()[0]}") from error


def render(paths: Iterable[Path]) -> Iterator[Path]:
    """Execute notebooks in place on the recordings and write them in normal form.

    Yields each path once it is written; a notebook that fails is left as it was.
    """
    for path in paths:
        notebook = read(path)
        set_badge(notebook, badge(path))
        set_install(notebook)
        execute(notebook, path, PROVIDER="replay")
        write(normalise(notebook), path)
        yield path


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


# ---------------------------------------------------------------- the normal form


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Strip in place whatever depends on machine, moment or editor; a normal notebook stays as it is."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    taken: set[str] = set()
    count = 0
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in ("tags", "nbgrader") if key in cell.metadata}
        cell.id = _cell_id(cell, taken)
        if cell.cell_type == "code":
            count += bool(cell.source.strip())
            cell.execution_count = count if cell.source.strip() else None
            cell.outputs = _outputs(cell.outputs, cell.execution_count)
    return notebook


def _cell_id(cell: NotebookNode, taken: set[str]) -> str:
    """An id made of what the cell says: writing the same notebook again changes nothing."""
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()
    identity = next(
        name for n in range(len(taken) + 1) if (name := f"{digest[:8]}-{n}" if n else digest[:8]) not in taken
    )
    taken.add(identity)
    return identity


def _outputs(outputs: Sequence[NotebookNode], count: int | None) -> list[NotebookNode]:
    """Streams joined, stderr last and without progress bars, widgets dropped, texts cleaned."""
    kept: list[NotebookNode] = []
    stderr = None
    for output in outputs:
        if output.output_type == "stream":
            last = stderr if output.name == "stderr" else kept[-1] if kept else None
            if last is not None and last.output_type == "stream":
                last.text += output.text
            elif output.name == "stderr":
                stderr = output
            else:
                kept.append(output)
        elif _WIDGET not in output.get("data", {}):
            kept.append(output)
    if stderr is not None:
        stderr.text = "\n".join(line for line in stderr.text.split("\n") if not _PROGRESS.search(line))
        kept += [stderr] if stderr.text.strip() else []
    for output in kept:
        if output.output_type == "execute_result":
            output.execution_count = count
        if "data" in output:
            output.metadata = {}
            output.data.update(
                {mime: _clean(text) for mime, text in output.data.items() if mime.startswith("text/")}
            )
        elif "text" in output:
            output.text = _clean(output.text)
    return kept


def _clean(text: str) -> str:
    """Replace what names this machine or this run: paths, cell files, object addresses."""
    text = _CELL_FILE.sub("<cell>", text)
    for path, name in ((ROOT, "<repository>"), (Path.home(), "~")):
        text = re.sub(re.escape(str(path)) + r"(?![\w.-])", name, text)
    return _ADDRESS.sub("0x0", text)


# ---------------------------------------------------------------- comparison


def check(paths: Iterable[Path], executed: Path) -> list[str]:
    """Compare committed text outputs with those of the copies executed under ``executed``.

    The copies lie below that folder as the originals lie below ``notebooks/``. Returns one readable
    diff for each code cell that differs, and none when all agree. Pictures are compared by their
    presence only: their bytes depend on fonts and versions.
    """
    differences: list[str] = []
    for path in paths:
        below = path.relative_to(NOTEBOOKS)
        pair = (_code(normalise(read(path))), _code(normalise(read(executed / below))))
        if len(pair[0]) != len(pair[1]):
            differences.append(
                f"{below.as_posix()}: {len(pair[0])} code cells committed, {len(pair[1])} executed"
            )
            continue
        for n, cells in enumerate(zip(*pair, strict=True), 1):
            committed, fresh = (_shown(cell) for cell in cells)
            if committed != fresh:
                where = f"{below.as_posix()}, code cell {n}"
                lines = difflib.unified_diff(
                    committed, fresh, f"{where}: committed", f"{where}: executed", lineterm=""
                )
                differences.append("\n".join(lines))
    return differences


def _shown(cell: NotebookNode) -> list[str]:
    """The lines a reader sees under a cell, with a mark for each picture; stderr is no result."""
    lines: list[str] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            lines += output.text.splitlines() if output.name == "stdout" else []
        elif output.output_type == "error":
            lines.append(f"{output.ename}: {output.evalue}")
        else:
            for mime, value in sorted(output.data.items()):
                lines += value.splitlines() if mime.startswith("text/") else [f"[{mime}]"]
    return lines
