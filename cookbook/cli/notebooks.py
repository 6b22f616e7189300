"""``cookbook notebooks``: the table of contents, rendering outputs, and checking that they are fresh."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cookbook.cli.output import JsonFlag, aside, command, print_json, working
from cookbook.errors import ConfigError
from cookbook.show import show_table

if TYPE_CHECKING:
    from cookbook.notebooks import Notebook

app = typer.Typer(no_args_is_help=True, help="Notebooks: list, render, check.")

Names = Annotated[list[str] | None, typer.Argument(help="Names as in the list; all if left out.")]


@app.command("list")
@command
def list_(as_json: JsonFlag = False) -> None:
    """Every notebook with its title and the minutes it takes."""
    from cookbook.notebooks import listed

    rows = [{"notebook": n.name, "title": n.title, "minutes": n.minutes} for n in listed()]
    if as_json:
        print_json(rows)
    else:
        show_table(rows)


@app.command()
@command
def render(names: Names = None, as_json: JsonFlag = False) -> None:
    """Run notebooks on the recordings and store their outputs in normal form."""
    from cookbook import notebooks, paths

    done = []
    for path in notebooks.render(notebook.path for notebook in select(names)):
        done.append(path.relative_to(paths.NOTEBOOKS).as_posix())
        aside(f"rendered {done[-1]}")
    if as_json:
        print_json(done)


@app.command()
@command
def check(
    names: Names = None,
    executed: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Compare with the copies that were run in this folder; else run them."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare what notebooks print with what is committed. Exit 1 if any differs."""
    from cookbook import notebooks

    chosen = select(names)
    with tempfile.TemporaryDirectory() as folder:
        if executed is None:
            executed = Path(folder)
            _execute(chosen, executed)
        differences = notebooks.check([notebook.path for notebook in chosen], executed)
    if as_json:
        print_json({"notebooks": [notebook.name for notebook in chosen], "differences": differences})
    else:
        for difference in differences:
            print(difference)
        print(f"{len(chosen)} notebooks compared, {len(differences)} cells differ from what is committed")
    if differences:
        raise typer.Exit(1)


def _execute(chosen: list[Notebook], folder: Path) -> None:
    """Run copies on the recordings, below ``folder`` as the originals lie below notebooks/."""
    from cookbook import notebooks

    for notebook in chosen:
        fresh = notebooks.read(notebook.path)
        with working(f"running {notebook.name}"):
            notebooks.execute(fresh, notebook.path, PROVIDER="replay")
        copy = folder / notebook.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        notebooks.write(fresh, copy)


def select(names: list[str] | None) -> list[Notebook]:
    """The notebooks of these names, with or without ``.ipynb``; all of them for none. ConfigError if unknown."""
    from cookbook.notebooks import listed

    known = {notebook.name: notebook for notebook in listed()}
    if not names:
        return list(known.values())
    wanted = [name if name.endswith(".ipynb") else f"{name}.ipynb" for name in names]
    for name in wanted:
        if name not in known:
            raise ConfigError(f"there is no notebook {name}; see: cookbook notebooks list")
    return [known[name] for name in wanted]
