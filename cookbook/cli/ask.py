"""``cookbook ask``: one question through one system, with its trace."""

from __future__ import annotations

from typing import Annotated

import typer

from cookbook.cli.choice import DEFAULT_SYSTEM, Ran, choose
from cookbook.cli.output import JsonFlag, command, print_json, working
from cookbook.errors import ConfigError
from cookbook.show import show


@command
def ask(
    question: Annotated[str, typer.Argument(help="The question, between quotes.")],
    corpus: Annotated[str, typer.Option(help="The texts to search.")] = "larkspur",
    system: Annotated[
        str | None,
        typer.Option(help=f"See `cookbook systems`. [default: {DEFAULT_SYSTEM}; extractive without a model]"),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Passages to retrieve.")] = 5,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question, and show what was read, judged and spent."""
    if not question.strip():
        raise ConfigError("the question is empty; write one between quotes")
    choice = choose(system)
    with working(f"opening {corpus}"):
        from cookbook.assemble import parts_for
        from cookbook.systems import build

        parts = parts_for(corpus, client=choice.client, needs_model=False, embedder=choice.embedder, k=k)
        ran = Ran.of(choice, corpus, parts)
    print(str(ran))
    with working("thinking"):
        answer = build(choice.system, parts).answer(question)
    if as_json:
        print_json({"ran": ran.to_dict(), **answer.to_dict()})
    else:
        print()
        show(answer)
