"""What the trained critic is worth: calibrated and judged on held-out pairs, timed, and written down with its weights."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cookbook import paths
from cookbook.eval import statistics
from cookbook.providers.recording import machine
from cookbook.reflect.critic.judge import NAME, Critic
from cookbook.reflect.critic.network import OUTCOMES as HEADS
from cookbook.reflect.critic.network import Task
from cookbook.reflect.quantised import WEIGHTS
from cookbook.training.critic import SIZES, START, Run, Schedule, examples, from_minilm, train
from cookbook.training.pair import OUTCOMES, Pair
from cookbook.training.pairs import counts, make_pairs, split

TASKS: tuple[Task, ...] = ("relevance", "support")


def held_out_logits(
    critic: Critic, pairs: Sequence[Pair], task: Task
) -> tuple[list[Pair], NDArray[np.float32]]:
    """The pairs of a task that fit into one window, and the raw logits of each, shape (pairs, outcomes)."""
    whole = [p for p in pairs if p.task == task and len(critic.windows(p.text, p.passage)) == 1]
    return whole, np.concatenate(critic.logits(task, [(p.text, p.passage) for p in whole]))


def fit_temperature(logits: NDArray[np.float32], allowed: Sequence[Sequence[int]]) -> float:
    """The number that logits must be divided by for the likeliest labels; 1 where they are calibrated already."""
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    mask = np.array([[column in each for column in range(logits.shape[1])] for each in allowed])

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        right = logsumexp(np.where(mask, scaled, -np.inf), axis=1)
        return float(np.mean(logsumexp(scaled, axis=1) - right))

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x))


def columns(pair: Pair) -> list[int]:
    """The columns of the pair's head that its label allows."""
    return [HEADS[pair.task].index(outcome) for outcome in OUTCOMES[pair.label]]


def accuracy(pairs: Sequence[Pair], logits: NDArray[np.float32]) -> dict[str, str]:
    """The share of right outcomes, with its interval: of all pairs, of those from our corpora, and of each label."""
    right = [int(row.argmax()) in columns(pair) for pair, row in zip(pairs, logits, strict=True)]
    of: dict[str, list[bool]] = {"all": right}
    for pair, ok in zip(pairs, right, strict=True):
        of.setdefault(
            "from the encyclopaedia" if pair.source.startswith("world/") else "from our corpora", []
        ).append(ok)
        of.setdefault(pair.label, []).append(ok)
    return {name: statistics.rate(sum(found), len(found)).percent for name, found in sorted(of.items())}


def passages_per_second(critic: Critic, pairs: Sequence[Pair], most: int = 256) -> float:
    """How many relevance pairs of our own a second are judged here, in one batch call after a first one to warm up."""
    asked = [(p.text, p.passage) for p in pairs if p.task == "relevance"][:most]
    critic.scores(asked[:32])
    started = time.perf_counter()
    critic.scores(asked)
    return len(asked) / (time.perf_counter() - started)


def make_critic(
    schedule: Schedule | None = None, folder: Path = WEIGHTS, told: Callable[[Run], None] = lambda run: None
) -> dict[str, Any]:
    """The full run: pairs, training, calibration, then judged as it is stored. Writes weights, vocabulary and card."""
    schedule = schedule or Schedule()
    training, held = split(make_pairs(schedule.seed, size=schedule.size))
    network, tokenizer = from_minilm(schedule.seed)
    found = examples(training, tokenizer)
    run = train(network, found, schedule, paths.cache_dir() / "training" / f"{NAME}.pt", told=told)
    return store_critic(network, tokenizer, schedule, run, training, held, folder)


def store_critic(
    network: Any,
    tokenizer: Any,
    schedule: Schedule,
    run: Run,
    training: Sequence[Pair],
    held: Sequence[Pair],
    folder: Path,
) -> dict[str, Any]:
    """Write the weights in 8 bits, and the vocabulary; calibrate and judge what was written; write and give the card."""
    from cookbook.reflect.quantised import read_weights, write_weights

    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / f"{NAME}.safetensors"
    write_weights(network, stored)
    digest = read_weights(network, stored)
    pieces = tokenizer.get_vocab()
    (folder / f"{NAME}.vocab.txt").write_text(
        "\n".join(sorted(pieces, key=pieces.__getitem__)) + "\n", "utf-8"
    )
    critic = Critic(network, tokenizer, {"relevance": 1.0, "support": 1.0})
    judged = {task: held_out_logits(critic, held, task) for task in TASKS}
    config = network["encoder"].config
    card = {
        "command": "cookbook train critic" + (" --bfloat16" if schedule.bfloat16 else ""),
        "date": date.today().isoformat(),
        "start": START,
        "schedule": asdict(schedule),
        "sizes": {name: getattr(config, name) for name in SIZES},
        "sha256": digest,
        "pairs": {"training": len(training), "held_out": len(held), "made": counts([*training, *held])},
        "temperatures": {
            task: round(fit_temperature(logits, [columns(pair) for pair in pairs]), 3)
            for task, (pairs, logits) in judged.items()
        },
        "held_out": {task: accuracy(*judged[task]) for task in TASKS},
        "speed": {
            "passages_per_second": round(passages_per_second(critic, held), 1),
            "machine": f"{machine()}, {_threads()} threads used",
        },
        "seconds": round(run.seconds),
        "curve": run.losses,
    }
    (folder / f"{NAME}.json").write_text(json.dumps(card, indent=1) + "\n", "utf-8")
    return card


def _threads() -> int:
    import torch

    return torch.get_num_threads()
