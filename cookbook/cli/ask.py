"""``cookbook ask``: one question through one system, with its trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cookbook.cli.choice import DEFAULT_SYSTEM, Choice, Ran, choose
from cookbook.cli.ingest import EmbedderOption, brought_up_to_date
from cookbook.cli.output import JsonFlag, aside, command, print_json, working
from cookbook.errors import ConfigError
from cookbook.show import show

if TYPE_CHECKING:
    from cookbook.systems.base import Parts


@command
def ask(
    question: Annotated[str, typer.Argument(help="The question, between quotes.")],
    corpus: Annotated[str, typer.Option(help="The texts to search.")] = "larkspur",
    path: Annotated[
        list[Path] | None,
        typer.Option(help="Your own file or folder, instead of a corpus; may be given more than once."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(help=f"See `cookbook systems`. [default: {DEFAULT_SYSTEM}; extractive without a model]"),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Passages to retrieve.")] = 5,
    embedder: EmbedderOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question, and show what was read, judged and spent."""
    if not question.strip():
        raise ConfigError("the question is empty; write one between quotes")
    choice = choose(system, embedder)
    from cookbook.language import notice

    texts, parts = _opened(choice, path or [], corpus, k)
    ran = Ran.of(choice, texts, parts)
    print(str(ran))
    if said := notice(question, parts.retriever):
        aside(f"note: {said}")
    with working("thinking"):
        from cookbook.systems import build

        answer = build(choice.system, parts).answer(question)
    if as_json:
        print_json({"ran": ran.to_dict(), **answer.to_dict()})
    else:
        print()
        show(answer)


def _opened(choice: Choice, path: list[Path], corpus: str, k: int) -> tuple[str, Parts]:
    """What is searched, in a word, and the parts over it."""
    if not path:
        with working(f"opening {corpus}"):
            from cookbook.assemble import parts_for

            parts = parts_for(corpus, client=choice.client, needs_model=False, embedder=choice.embedder, k=k)
        return corpus, parts
    with working("starting"):
        from cookbook.assemble import parts_over
        from cookbook.embedders import get_embedder
        from cookbook.ingest import named

        embedder = get_embedder(choice.embedder)
    report = brought_up_to_date(path, embedder)
    aside(f"{named(report.paths)}: {report}")
    with working("opening the index"):
        parts = parts_over(report, embedder, client=choice.client, needs_model=False, k=k)
    return named(report.paths), parts
