"""``cookbook labs``: what there is to mend, what is mended, and a check of the learner's own file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cookbook.cli.output import JsonFlag, aside, command, print_json, working
from cookbook.show import show_table

app = typer.Typer(invoke_without_command=True, help="Labs: list, check, build.")


@app.callback(invoke_without_command=True)
def labs(context: typer.Context, as_json: JsonFlag = False) -> None:
    """List the labs, or check one."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command
def _list(as_json: bool) -> None:
    from cookbook.labs import all_labs
    from cookbook.labs.kit.progress import done

    finished = done()
    rows = [
        {
            "slug": lab.slug,
            "title": lab.title,
            "family": lab.family.stem,
            "difficulty": lab.difficulty,
            "minutes": lab.minutes,
            "done": lab.slug in finished,
        }
        for lab in all_labs()
    ]
    if as_json:
        print_json(rows)
        return
    show_table([{**row, "done": "done" if row["done"] else ""} for row in rows])
    aside(
        f"{sum(bool(row['done']) for row in rows)} of {len(rows)} done; cookbook labs check SLUG looks at yours"
    )


@app.command()
@command
def check(
    slug: Annotated[str, typer.Argument(help="See `cookbook labs`.")],
    file: Annotated[
        Path | None,
        typer.Option(
            help="Your .py or .ipynb that defines the stub's function. [default: the learner's notebook]"
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check your function. Exit 0 when it passes, and the lab counts as done; exit 1 when it does not yet."""
    from cookbook.labs import get
    from cookbook.labs.kit.build import copies_of
    from cookbook.labs.kit.progress import mark_done
    from cookbook.labs.kit.submission import load

    lab = get(slug)
    with working(f"checking {slug}"):
        verdict = lab.check(load(lab, file or copies_of(lab.family)[0]))
    if as_json:
        print_json(
            {
                "lab": slug,
                "passed": verdict.passed,
                "diagnosis": verdict.diagnosis,
                "message": verdict.message,
            }
        )
    else:
        print(verdict)
    if not verdict.passed:
        raise typer.Exit(1)
    mark_done(slug)


@app.command()
@command
def build(
    names: Annotated[
        list[str] | None, typer.Argument(help="Families such as 40_verdicts; all if left out.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make both notebooks of a family from its source, run them, and write the pages about all labs."""
    from cookbook.labs.families import FAMILIES, family_named
    from cookbook.labs.kit import build as building
    from cookbook.labs.kit import pages
    from cookbook.paths import NOTEBOOKS

    chosen = (
        [family_named(name) for name in names]
        if names
        else [family for family in FAMILIES if building.source_of(family).exists()]
    )
    written = []
    for path in [*(path for family in chosen for path in building.make(family)), *pages.write()]:
        written.append(path.relative_to(NOTEBOOKS).as_posix())
        aside(f"built {written[-1]}")
    if as_json:
        print_json(written)
