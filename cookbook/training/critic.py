"""Training the critic: MiniLM reads question or claim and passage together, and two heads learn to judge.

``cookbook train critic`` runs the full schedule: one pass over 21,700 pairs. Word embeddings stay as they are: 20,000
words of English would not improve them, and half of the weights need no gradient. A run that was broken off goes on
from its last checkpoint, with the same batches in the same order.
Taught in notebooks/17_train_a_critic.ipynb.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from cookbook.errors import ConfigError
from cookbook.reflect.critic.network import (
    MOST_TOKENS,
    Task,
    build_network,
    build_tokenizer,
    pooled,
    torch_module,
)
from cookbook.reflect.critic.network import OUTCOMES as HEADS
from cookbook.training.pair import OUTCOMES, Pair

START = "all-minilm-l6-v2"
SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
EVERY = 10
"""Steps whose mean loss is one point of the curve."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast. ``tokens`` is what a batch holds, padding included; ``size`` scales the pairs;
    ``bfloat16`` halves the time on processors that compute in it (AMX), and makes others slower."""

    epochs: int = 1
    tokens: int = 2048
    rate: float = 1.2e-4
    head_rate: float = 1e-3
    warm_up: float = 0.06
    seed: int = 0
    size: float = 1.0
    bfloat16: bool = False
    checkpoint_every: int = 50

    def slope(self, step: int, steps: int) -> float:
        """The share of the rate at a step: up to 1 while warming up, then down to 0 in a straight line."""
        warm = max(1, round(self.warm_up * steps))
        return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))


@dataclass
class Run:
    """Where a training run stands. ``losses`` has the mean loss of every ``EVERY`` steps."""

    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    losses: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Example:
    """An encoded pair, and which columns of its head are right."""

    task: Task
    encoding: Any
    allowed: tuple[int, ...]


def examples(pairs: Sequence[Pair], tokenizer: Any) -> list[Example]:
    """The pairs as the network reads them, passages cut at the limit."""
    tokenizer.enable_truncation(MOST_TOKENS, strategy="only_second")
    encodings = tokenizer.encode_batch([(pair.text, pair.passage) for pair in pairs])
    tokenizer.no_truncation()
    return [
        Example(
            pair.task, encoding, tuple(HEADS[pair.task].index(outcome) for outcome in OUTCOMES[pair.label])
        )
        for pair, encoding in zip(pairs, encodings, strict=True)
    ]


def batches(found: Sequence[Example], tokens: int, rng: Random) -> list[list[Example]]:
    """Every example once, those of about one length together, both tasks mixed; the batches are shuffled."""
    ranked = sorted(found, key=lambda example: len(example.encoding.ids) + rng.random() * 8)
    made: list[list[Example]] = [[]]
    for example in ranked:
        longest = max(len(other.encoding.ids) for other in [*made[-1], example])
        if made[-1] and longest * (len(made[-1]) + 1) > tokens:
            made.append([])
        made[-1].append(example)
    rng.shuffle(made)
    return made


def from_minilm(seed: int = 0) -> tuple[Any, Any]:
    """MiniLM's encoder with fresh heads drawn from the seed, its word embeddings frozen, and its tokenizer.

    WeightsError when MiniLM is not here: ``cookbook models fetch all-minilm-l6-v2``.
    """
    torch = torch_module()
    from safetensors.torch import load_file
    from transformers import BertConfig

    from cookbook.providers.models import weights_path

    folder = weights_path(START)
    config = BertConfig.from_pretrained(folder)
    torch.manual_seed(seed)
    network = build_network({name: getattr(config, name) for name in SIZES})
    network["encoder"].load_state_dict(load_file(folder / "model.safetensors"), strict=False)
    network["encoder"].embeddings.word_embeddings.weight.requires_grad_(False)
    return network, build_tokenizer((folder / "vocab.txt").read_text("utf-8").splitlines())


def loss_of(network: Any, batch: Sequence[Example]) -> Any:
    """The mean over a batch of -log of the probability that the allowed outcomes have together."""
    torch = torch_module()
    vectors = pooled(network, [example.encoding for example in batch])
    losses = []
    for task, outcomes in HEADS.items():
        rows = [n for n, example in enumerate(batch) if example.task == task]
        allowed = torch.tensor(
            [[column in batch[n].allowed for column in range(len(outcomes))] for n in rows]
        )
        if rows:
            logged = torch.log_softmax(network[task](vectors[rows]).float(), dim=1)
            losses.append(-logged.masked_fill(~allowed, -torch.inf).logsumexp(1))
    return torch.cat(losses).mean()


def train(
    network: Any,
    found: Sequence[Example],
    schedule: Schedule,
    checkpoint: Path,
    *,
    stop_after: int | None = None,
    told: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Train the network in place; from ``checkpoint`` if it is there, which then has to be of the same run.

    ``stop_after`` ends the call after so many more steps, as a stopped process would.
    """
    torch = torch_module()
    plan = [
        b
        for epoch in range(schedule.epochs)
        for b in batches(found, schedule.tokens, Random(f"{schedule.seed} {epoch}"))
    ]
    torch.manual_seed(schedule.seed)
    heads = [p for task in HEADS for p in network[task].parameters()]
    body = [p for p in network["encoder"].parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW([{"params": body}, {"params": heads}], weight_decay=0.01)
    run = Run(steps=len(plan))
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        if state["schedule"] != asdict(schedule):
            raise ConfigError(f"{checkpoint} is a checkpoint of another schedule; delete it to start again")
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        run = Run(**state["run"])
    network.train()
    started, before, recent = time.monotonic(), run.seconds, []
    last = len(plan) if stop_after is None else min(len(plan), run.step + stop_after)
    for batch in plan[run.step : last]:
        for group, rate in zip(optimizer.param_groups, (schedule.rate, schedule.head_rate), strict=True):
            group["lr"] = rate * schedule.slope(run.step, len(plan))
        with torch.autocast("cpu", torch.bfloat16, enabled=schedule.bfloat16):
            loss = loss_of(network, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(body + heads, 1.0)
        optimizer.step()
        run.step += 1
        run.seconds = before + time.monotonic() - started
        recent.append(loss.item())
        if run.step % EVERY == 0 or run.step == len(plan):
            run.losses.append({"step": run.step, "loss": round(sum(recent) / len(recent), 4)})
            recent.clear()
            told(run)
        if run.step % schedule.checkpoint_every == 0 or run.step == last:
            _save(checkpoint, network, optimizer, schedule, run)
    network.eval()
    return run


def _save(path: Path, network: Any, optimizer: Any, schedule: Schedule, run: Run) -> None:
    torch = torch_module()
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "schedule": asdict(schedule),
        "run": asdict(run),
    }
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
