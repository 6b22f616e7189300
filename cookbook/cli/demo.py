"""``cookbook demo``: the cookbook in a few minutes, as ``make demo`` shows it.

Weights, the index, three questions through the loop with their traces, one of them live if a model
is here, and how the loop compares with what it came from. Everything but the live question is
replayed from recordings, so it needs no key and says the same everywhere.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.rule import Rule

from cookbook.cli.choice import local_model_lacks
from cookbook.cli.output import JsonFlag, command, print_json, working
from cookbook.errors import WeightsError
from cookbook.reflect.relevance import KEEP_AT
from cookbook.show import screen, show, show_table

if TYPE_CHECKING:
    from cookbook.eval.behaviour import Behaviour
    from cookbook.schema import Answer
    from cookbook.systems.base import Parts, System

CORPUS = "larkspur"
WEIGHTS = ("all-minilm-l6-v2", "qwen2.5-coder-1.5b")
ANSWERED = "Can I export my data after I cancel my plan?"
REFUSED = "How much does the starter plan cost per month?"
RESCUED = "how mnay gusets fit in a projcet"
QUESTIONS = {
    ANSWERED: "two chapters of the handbook have a part in the answer",
    REFUSED: "the handbook names no price",
    RESCUED: "the handbook knows, but a misspelt question finds the wrong sections",
}
"""Asked in this order, each with what is true of it whatever the model says."""
COMPARED = ("vanilla", "handbook_graph", "extractive")


@command
def demo(
    fetch: Annotated[bool, typer.Option(help="Fetch the weights first (1.2 GB, once).")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Show the loop at work: an answer, a refusal and a rescue.

    Then the same question live if a model is here, and three systems compared.
    """
    report: dict[str, Any] = {}
    if fetch:
        report["weights"] = _fetch()
    parts = _index()
    report["index"] = {"corpus": CORPUS, "passages": parts.retriever.store.count()}
    report["model"] = parts.client.describe()
    report["answers"] = [answer.to_dict() for answer in _questions(parts)]
    report["live"] = _live()
    report["comparison"] = {name: asdict(found) for name, found in _compare(parts).items()}
    if as_json:
        print_json(report)


def _fetch() -> dict[str, str]:
    """The weights that a live question needs. Without them the demo goes on: it runs on recordings."""
    from cookbook.providers import models

    _title("Weights")
    states: dict[str, str] = {}
    for name in WEIGHTS:
        try:
            models.fetch(name)
            print(f"{name} is here and verified")
        except WeightsError as error:
            print(f"going on without {name}, on recordings: {error}")
        states[name] = models.status(name).state
    return states


def _index() -> Parts:
    """The parts of every replayed request: the index in memory, and the recorded model."""
    from cookbook.assemble import parts_for
    from cookbook.providers import LLMClient

    _title("Index")
    started = time.monotonic()
    with working(f"indexing {CORPUS}"):
        parts = parts_for(CORPUS, client=LLMClient("replay"), embedder="replay")
    seconds = time.monotonic() - started
    print(f"{parts.retriever.describe()}; ready in {seconds:.1f} s")
    return parts


def _questions(parts: Parts) -> list[Answer]:
    _title("Three questions")
    print(f"handbook_graph with {parts.client.describe()}; seconds are those of the recording.")
    print(f"A passage counts as relevant from P(yes) = {KEEP_AT}; shown is the probability of the verdict.")
    system = _build("handbook_graph", parts)
    answers = []
    for question, caption in QUESTIONS.items():
        print(f"\n> {question}\n({caption})")
        answers.append(system.answer(question))
        show(answers[-1])
    return answers


def _live() -> dict[str, Any] | None:
    """The first question on the local model, if it is here."""
    from cookbook.assemble import parts_for
    from cookbook.providers import LLMClient, models
    from cookbook.providers.names import RECORDED_MODEL

    _title("The same question, live")
    if lack := local_model_lacks():
        print(f"left out: {lack}")
        return None
    # The question's own vector is recorded; only a query that the model words differently needs the weights.
    embedder = WEIGHTS[0] if models.status(WEIGHTS[0]).state == "fetched" else "replay"
    started = time.monotonic()
    with working("loading the model and asking it"):
        parts = parts_for(CORPUS, client=LLMClient(RECORDED_MODEL), embedder=embedder)
        answer = _build("handbook_graph", parts).answer(ANSWERED)
    print(f"> {ANSWERED}\n")
    show(answer)
    print(f"{time.monotonic() - started:.1f} s on this machine, loading included")
    return answer.to_dict()


def _compare(parts: Parts) -> dict[str, Behaviour]:
    """Three systems on the rows for which each of them has its replies recorded."""
    from cookbook.eval.behaviour import behaviour, common, comparison
    from cookbook.eval.run import attempt
    from cookbook.eval.sets import load_eval_set

    rows = load_eval_set(CORPUS)
    answers = {}
    for name in COMPARED:
        with working(f"replaying {name}"):
            system = _build(name, parts)
            answers[name] = [(row, attempt(system, row.question, name)) for row in rows]
    shared = common(answers)
    results = {name: behaviour(pairs) for name, pairs in shared.items()}
    _title(f"Three systems on the same {results[COMPARED[0]].rows} of {len(rows)} questions")
    show_table(comparison(results))
    print(
        "\nThere are two ways to be wrong: to answer what has no answer, and to refuse what has one. A loop is as\n"
        "good as the model that judges in it, and this one is small. notebooks/00_start_here.ipynb explains the\n"
        "traces, notebooks/03_always_retrieve.ipynb this table, and `cookbook compare` puts intervals around it."
    )
    return results


def _build(name: str, parts: Parts) -> System:
    from cookbook.systems import build

    return build(name, parts)


def _title(text: str) -> None:
    print()
    screen().print(Rule(text, align="left", style="none"))
