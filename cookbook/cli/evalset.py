"""``cookbook evalset``: an eval set of somebody's own documents, begun by a model and finished by a person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cookbook.cli.choice import any_model
from cookbook.cli.ingest import EmbedderOption, brought_up_to_date
from cookbook.cli.output import JsonFlag, aside, command, counting, print_json, working
from cookbook.errors import ConfigError

app = typer.Typer(no_args_is_help=True, help="Questions with known answers, for measuring.")


@app.command()
@command
def draft(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", metavar="PATH...")],
    n: Annotated[int, typer.Option("--n", min=1, help="Rows to draft.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed takes other passages.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rows there, and nowhere else.")
    ] = None,
    embedder: EmbedderOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Draft questions from your documents, one JSON object a line, for you to review.

    Each row has "reviewed": false. Read it, mend or delete it, set it to true; until then nothing is
    measured on it. Mend "facts" too, what any right answer must say: a sentence as answer needs them.
    Add questions that the documents do not answer: no model drafts those.
    """
    if out is not None and out.exists():
        raise ConfigError(f"{out} is there already, and may hold your reviews; name another file")
    if gone := [str(path) for path in paths if not path.exists()]:
        raise ConfigError(f"{gone[0]} does not exist; name files or folders that do")
    if out is not None and not out.parent.is_dir():
        raise ConfigError(f"cannot write {out}; name a file in a folder that exists")
    client = any_model("drafting")
    with working("starting"):
        from cookbook.embedders import get_embedder
        from cookbook.eval.draft import draft as draft_rows
        from cookbook.ingest import card_of, passages_of
        from cookbook.ingest.text import counted

        found = get_embedder(embedder)
    report = brought_up_to_date(paths, found)
    with counting(n) as done:
        drafts = draft_rows(passages_of(report), client, card_of(report), n=n, seed=seed, done=done)
    lines = drafts.lines()
    if out is not None:
        out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    aside(f"{counted(len(lines), 'row')} drafted by {client.chat_model}, {len(drafts.dropped)} dropped")
    if as_json:
        print_json(
            {"rows": [row.id for row in drafts.rows], "dropped": drafts.dropped, "file": str(out or "")}
        )
    elif out is None:
        for line in lines:
            print(line)
