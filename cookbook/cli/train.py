"""``cookbook train``: make the small models again that come with the cookbook."""

from __future__ import annotations

from typing import Annotated

import typer

from cookbook.cli.output import JsonFlag, aside, command, counting, print_json

app = typer.Typer(no_args_is_help=True, help="Train the small models that come with the cookbook.")


@app.command()
@command
def critic(
    size: Annotated[float, typer.Option(min=0.01, max=1.0, help="The share of the pairs to train on.")] = 1.0,
    seed: Annotated[int, typer.Option(help="What pairs, batches and heads are drawn from.")] = 0,
    bfloat16: Annotated[
        bool, typer.Option("--bfloat16", help="Half the time on processors that compute in it (AMX).")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Train the critic of relevance and support, calibrate it, and write cookbook/weights/critic.*.

    Broken off and run again, it goes on from its last checkpoint in the cache.
    """
    from cookbook.training.critic import Run, Schedule
    from cookbook.training.critic_scores import make_critic

    def told(run: Run) -> None:
        if run.step % 50 == 0:
            aside(
                f"step {run.step} of {run.steps}, loss {run.losses[-1]['loss']:.2f}, {run.seconds / 60:.0f} minutes"
            )

    card = make_critic(Schedule(size=size, seed=seed, bfloat16=bfloat16), told=told)
    if as_json:
        print_json(card)
        return
    for task, shares in card["held_out"].items():
        print(f"{task} on held-out pairs: {shares['all']} right")
    print(
        f"{card['pairs']['training']:,} pairs in {card['seconds'] / 60:.0f} minutes; written with its card to cookbook/weights"
    )


@app.command()
@command
def tiny(
    bfloat16: Annotated[
        bool, typer.Option("--bfloat16", help="Faster on processors that compute in it (AMX).")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Train the tiny Self-RAG of token_selfrag, and write cookbook/weights/tiny_self_rag.*.

    Broken off and run again, it goes on from its last checkpoint in the cache.
    """
    from cookbook.training.tiny import Schedule, make_tiny
    from cookbook.training.tiny_scores import GROUPS

    schedule = Schedule(bfloat16=bfloat16)
    with counting(schedule.steps) as done:
        card = make_tiny(schedule, done=done)
    if as_json:
        print_json(card)
        return
    for group in GROUPS:
        value, low, high = card["scores"][group]["balanced accuracy"]
        chance = card["scores"][group]["chance"]
        print(
            f"{group:9} balanced accuracy {value:.2f} [{low:.2f}, {high:.2f}] on held-out rows, by chance {chance:.2f}"
        )
    print(
        f"{schedule.sheets:,} sheets; {card['weights']:,} weights written with their card to cookbook/weights"
    )
