"""Trains the tiny Self-RAG: plain next-token prediction on sheets with reflection tokens, nothing else.

``cookbook train tiny`` runs the full schedule: from MiniLM's layers, on 9,000 sheets. With ``--bfloat16`` that took twenty
minutes on two busy CPU cores which compute in it; without, it takes longer.
A run that was broken off goes on from its last checkpoint. The same seed gives the same sheets in the same order;
the weights differ in their last digits from machine to machine.
Taught in notebooks/16_train_a_tiny_self_rag.ipynb.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.reflect.quantised import WEIGHTS
from cookbook.reflect.tokens.tiny import (
    NAME,
    TinySelfRAG,
    new_network,
    new_tokenizer,
)
from cookbook.training.encoding import Batch, encode
from cookbook.training.sequences import Sheet, training_sheets

if TYPE_CHECKING:
    pass

START = "all-minilm-l6-v2"
PIECES = 10_000
"""Size of the vocabulary: the word pieces of our texts, and the most frequent ones of English beside them."""
SAVE_EVERY = 5  # steps


@dataclass(frozen=True)
class Schedule:
    """``sheets`` are read once, ``batch`` at a time. The learning rate rises over the first steps to ``rate``, then falls
    in a straight line to nothing. ``bfloat16`` computes in half precision, faster on processors that can (AMX)."""

    sheets: int = 9_000
    batch: int = 10
    rate: float = 2e-4
    seed: int = 0
    bfloat16: bool = False

    @property
    def steps(self) -> int:
        return self.sheets // self.batch

    def rate_at(self, step: int) -> float:
        warm = max(1, self.steps // 15)
        return self.rate * min((step + 1) / warm, 1 - step / self.steps)


# ---------------------------------------------------------------- training


def batches(model: TinySelfRAG, sheets: Iterator[Sheet], schedule: Schedule) -> Iterator[Batch]:
    """Batches of sheets of like length, so that little of a batch is padding; in a random, seeded order."""
    rng = Random(schedule.seed)
    while pool := [encode(model, sheet) for sheet in islice(sheets, 8 * schedule.batch)]:
        pool.sort(key=lambda sheet: len(sheet.ids))
        cut = [pool[at : at + schedule.batch] for at in range(0, len(pool), schedule.batch)]
        rng.shuffle(cut)
        yield from map(Batch.of, cut)


def train(
    model: TinySelfRAG,
    schedule: Schedule,
    *,
    checkpoint: Path | None = None,
    done: Callable[[str], None] = lambda word: None,
) -> list[float]:
    """Train the model in place; the loss of each step. ``done`` is told the loss after each.

    With ``checkpoint`` the state is kept in that file now and then, and a run with the same schedule goes on from it.
    """
    import torch

    torch.manual_seed(schedule.seed)
    network = model.network.train()
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.01)
    curve: list[float] = []
    if checkpoint and checkpoint.exists():
        curve = _resume(checkpoint, network, optimizer, schedule)
    todo = batches(model, training_sheets(schedule.sheets, schedule.seed), schedule)
    for step, batch in enumerate(islice(todo, schedule.steps)):
        if step < len(curve):
            continue
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate_at(step)
        with torch.autocast("cpu", torch.bfloat16, enabled=schedule.bfloat16):
            logits, targets, weights = batch.read(network)
        losses = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none")
        loss = (losses * weights).sum() / weights.sum().clamp_min(1.0)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        curve.append(round(loss.item(), 4))
        done(f"loss {loss.item():.2f}")
        if checkpoint and len(curve) % SAVE_EVERY == 0:
            _save(checkpoint, network, optimizer, schedule, curve)
    network.eval()
    return curve


def _save(path: Path, network: Any, optimizer: Any, schedule: Schedule, curve: Sequence[float]) -> None:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**state, "schedule": asdict(schedule), "curve": list(curve)}, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def _resume(path: Path, network: Any, optimizer: Any, schedule: Schedule) -> list[float]:
    import torch

    state = torch.load(path, weights_only=True)
    if state["schedule"] != asdict(schedule):
        raise ConfigError(f"{path} is a checkpoint of another schedule; delete it to start again")
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    curve: list[float] = state["curve"]
    return curve


# ---------------------------------------------------------------- from MiniLM to committed weights


def from_minilm(schedule: Schedule) -> TinySelfRAG:
    """MiniLM's layers and the word pieces we need, with new rows for the reflection tokens and a new output layer.

    WeightsError when MiniLM is not here: ``cookbook models fetch all-minilm-l6-v2``.
    """
    import torch
    from tokenizers import Tokenizer
    from transformers import BertModel

    from cookbook.providers.models import weights_path

    torch.manual_seed(schedule.seed)
    folder = weights_path(START)
    encoder: Any = BertModel.from_pretrained(str(folder), add_pooling_layer=False)
    whole: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    whole.no_truncation()
    kept = _pieces(whole, training_sheets(schedule.sheets, schedule.seed))
    tokenizer = new_tokenizer([whole.id_to_token(i) for i in kept])
    fields = (
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
    )
    network = new_network(
        tokenizer.get_vocab_size(), {name: getattr(encoder.config, name) for name in fields}
    )
    weights = encoder.state_dict()
    old = weights.pop("embeddings.word_embeddings.weight")
    network.bert.load_state_dict(weights, strict=False)
    with torch.no_grad():
        rows = network.bert.embeddings.word_embeddings.weight
        rows[: len(kept)] = old[kept]
        rows[len(kept) :] = old[kept].mean(0) + rows[len(kept) :]
        head = network.cls.predictions.transform
        head.dense.weight.copy_(torch.eye(len(head.dense.weight)))
        head.LayerNorm.weight.fill_(0.5)
    return TinySelfRAG(network, tokenizer)


def _pieces(tokenizer: Any, sheets: Iterator[Sheet]) -> list[int]:
    """The ids to keep, in their old order: single characters, what the sheets use, and the first of the others, which
    are the most frequent."""
    used = {tokenizer.token_to_id(piece) for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")}
    used |= {
        i
        for piece, i in tokenizer.get_vocab().items()
        if len(piece.removeprefix("##")) == 1 and piece.isascii()
    }
    for sheet in sheets:
        for text in (sheet.prompt, *(branch.words for branch in sheet.branches)):
            used.update(tokenizer.encode(text, add_special_tokens=False).ids)
    words = (
        i
        for i in range(tokenizer.get_vocab_size())
        if i not in used and not tokenizer.id_to_token(i).startswith("[")
    )
    return sorted([*used, *islice(words, max(0, PIECES - len(used)))])


def make_tiny(
    schedule: Schedule | None = None, folder: Path = WEIGHTS, done: Callable[[str], None] = lambda word: None
) -> dict[str, Any]:
    """The full run: train, store in 8 bits, judge what was stored. Writes weights, vocabulary and card; gives the card."""
    from cookbook.reflect.quantised import read_weights, write_weights
    from cookbook.training.tiny_scores import scores

    schedule = schedule or Schedule()
    model = from_minilm(schedule)
    curve = train(model, schedule, checkpoint=paths.cache_dir() / "training" / f"{NAME}.pt", done=done)
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / f"{NAME}.safetensors"
    write_weights(model.network, stored)
    vocabulary = model.tokenizer.get_vocab(with_added_tokens=False)
    (folder / f"{NAME}.vocab.txt").write_text(
        "\n".join(sorted(vocabulary, key=vocabulary.__getitem__)) + "\n", "utf-8"
    )
    digest = read_weights(model.network, stored)  # scores are those of what is committed
    config = model.network.config
    card = {
        "command": "cookbook train tiny" + (" --bfloat16" if schedule.bfloat16 else ""),
        "date": date.today().isoformat(),
        "start": START,
        "schedule": asdict(schedule),
        "weights": sum(weight.numel() for weight in model.network.parameters()),
        "sha256": digest,
        "sizes": {
            name: getattr(config, name)
            for name in (
                "hidden_size",
                "num_hidden_layers",
                "num_attention_heads",
                "intermediate_size",
                "max_position_embeddings",
            )
        },
        "scores": scores(model),
        "curve": curve,
    }
    (folder / f"{NAME}.json").write_text(json.dumps(card, indent=1) + "\n", "utf-8")
    return card
