"""``cookbook compare``: systems side by side on the same questions, with intervals, tables and pictures."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from cookbook import paths
from cookbook.cli.output import JsonFlag, aside, command, counting, print_json, working
from cookbook.errors import ConfigError
from cookbook.show import PLAIN_WIDTH, show_table

if TYPE_CHECKING:
    from cookbook.eval.compare import Comparison
    from cookbook.eval.judged import Judging
    from cookbook.eval.report import Table


@command
def compare(
    eval_set: Annotated[
        str,
        typer.Option(
            "--set", help="The eval set, named after its corpus, or squad; a JSONL file with --path."
        ),
    ] = "larkspur",
    documents: Annotated[
        list[Path] | None,
        typer.Option("--path", help="Your own file or folder that the questions are about."),
    ] = None,
    unreviewed: Annotated[bool, typer.Option("--unreviewed", help="Take drafted rows as they are.")] = False,
    systems: Annotated[
        str,
        typer.Option(
            help="Names from `cookbook systems`, with commas. all: those that ask one and the same model, or none."
        ),
    ] = "all",
    split: Annotated[
        str,
        typer.Option(
            help="report, fit (what thresholds were chosen on) or all. [default: report; with --path all]"
        ),
    ] = "",
    against: Annotated[
        str, typer.Option(help="Differences are from this one. [default: vanilla if it runs, else the first]")
    ] = "",
    floor: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Rank nothing where fewer than this share of the rows ended."),
    ] = 0.5,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge", help="Also let the trained critic judge what the answers claim; minutes more."
        ),
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with all tables and pictures.")
    ] = None,
    readme: Annotated[bool, typer.Option("--readme", help="Renew the table in the README.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Compare systems, and three dummies with them.

    PROVIDER names the model; without it the recorded one answers, and what is not recorded is left out.
    Ends with 1 where too few rows came to an end to rank the systems.
    """
    from cookbook.eval import page
    from cookbook.eval.compare import ALL
    from cookbook.eval.compare import compare as compare_all
    from cookbook.eval.dummies import DUMMIES
    from cookbook.eval.run import open_setup
    from cookbook.providers import LLMClient

    named = [part.strip() for part in systems.split(",") if part.strip()]
    names = list(ALL) if named == ["all"] else named
    client = LLMClient(os.environ.get("PROVIDER") or "replay")
    if html and (html.is_dir() or not html.parent.is_dir()):
        raise ConfigError(f"cannot write {html}; name a file in a folder that exists")
    if readme:
        if named != ["all"] or split or against or client.provider != "replay":
            raise ConfigError(
                "the README shows all systems on the recordings: leave out PROVIDER, --systems, --split and --against"
            )
        page.with_block(
            paths.read_text(_readme()), eval_set, ""
        )  # no place for the table: said before the work
    with working(f"opening {eval_set}"):
        setup = open_setup(
            eval_set,
            split=split or ("all" if documents else "report"),
            client=client,
            documents=documents or (),
            allow_unreviewed=unreviewed,
            systems=names,
        )
    with counting(len(setup.rows) * (len(names) + len(DUMMIES))) as done:
        comparison = compare_all(setup, names, against=against, floor=floor, done=done)
    _print(comparison)
    judging = _judged(comparison) if judge else None
    if as_json:
        print_json(comparison.to_dict() | ({"judged": judging.to_dict()} if judging else {}))
    if html:
        html.write_text(page.page(comparison, judging), encoding="utf-8")
        aside(f"wrote {html}")
    if readme and comparison.ranked:
        text = page.with_block(paths.read_text(_readme()), eval_set, page.readme_block(comparison))
        _readme().write_text(text, encoding="utf-8")
        aside(f"renewed the table of {eval_set} in {_readme().name}")
    if not comparison.ranked:
        raise typer.Exit(1)


def _readme() -> Path:
    return paths.ROOT / "README.md"


def _judged(comparison: Comparison) -> Judging:
    from cookbook.eval.judged import judging
    from cookbook.eval.report import judged
    from cookbook.reflect.critic import load_critic

    with working("the critic reads the answers"):
        found = judging(comparison, load_critic())
    _show(judged(found))
    return found


def _print(comparison: Comparison) -> None:
    from cookbook.eval.report import heading, tables

    print(fill(heading(comparison), PLAIN_WIDTH))
    for table in tables(comparison):
        _show(table)


def _show(table: Table) -> None:
    print()
    show_table(table.rows, table.title)
    if table.note:
        print(fill(table.note, PLAIN_WIDTH))
