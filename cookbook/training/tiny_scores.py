"""How well the tiny model judges, on rows and sections that it was not trained on: a confusion matrix for each token group.

The figure is balanced accuracy, the mean of the recalls: saying the commonest label to everything reaches no more than
guessing. Its interval draws whole sources (a question of the eval set, a section), because the rows of one source are
not independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from cookbook.eval.statistics import rate
from cookbook.reflect.tokens.score import expected
from cookbook.reflect.tokens.tiny import Reading, TinySelfRAG
from cookbook.reflect.tokens.vocabulary import (
    RELEVANCE,
    RETRIEVE,
    SUPPORT,
    USEFULNESS,
    instruction,
    with_passage,
)
from cookbook.training.encoding import Batch, encode
from cookbook.training.sequences import RELEVANT, Sheet, held_out_sheets, row_cases

GROUPS: dict[str, Mapping[str, float]] = {
    "Retrieve": RETRIEVE,
    "ISREL": RELEVANCE,
    "ISSUP": SUPPORT,
    "ISUSE": USEFULNESS,
}
DRAWS = 2_000


@dataclass(frozen=True)
class Judged:
    """One token: its group, the gold label, and the one that was most probable within the group."""

    group: str
    gold: str
    said: str
    source: str


def judge(model: TinySelfRAG, sheets: Sequence[Sheet]) -> list[Judged]:
    """Every reflection token of the sheets; what stands before it is given, as in training."""
    import torch

    names = {i: token for token, i in model.ids.items()}
    groups = {token: name for name, group in GROUPS.items() for token in group}
    found = []
    order = sorted(range(len(sheets)), key=lambda n: len(sheets[n].prompt))
    for start in range(0, len(order), 16):
        part = [sheets[n] for n in order[start : start + 16]]
        encoded = [encode(model, sheet) for sheet in part]
        with torch.inference_mode():
            logits, targets, _ = Batch.of(encoded).read(model.network)
        sources = [s.source for s, e in zip(part, encoded, strict=True) for weight in e.weights if weight > 0]
        for row, target, source in zip(logits, targets.tolist(), sources, strict=True):
            if gold := names.get(target):
                group = GROUPS[groups[gold]]
                said = max(group, key=lambda token: float(row[model.ids[token]]))
                found.append(Judged(groups[gold], gold, said, source))
    return found


def confusion(judged: Sequence[Judged], group: str) -> list[list[int]]:
    """Counts, a row for each gold label and a column for each that was said, in the order of the vocabulary."""
    labels = list(GROUPS[group])
    counts = [[0] * len(labels) for _ in labels]
    for one in judged:
        if one.group == group:
            counts[labels.index(one.gold)][labels.index(one.said)] += 1
    return counts


def balanced_accuracy(judged: Sequence[Judged], group: str) -> tuple[float, float, float]:
    """Balanced accuracy and its 95 % interval, by a bootstrap over sources."""
    import numpy as np

    labels = list(GROUPS[group])
    own = [one for one in judged if one.group == group]
    sources = {source: n for n, source in enumerate(dict.fromkeys(one.source for one in own))}
    right = np.zeros((len(sources), len(labels)))
    total = np.zeros_like(right)
    for one in own:
        at = sources[one.source], labels.index(one.gold)
        total[at] += 1
        right[at] += one.gold == one.said
    times = np.random.default_rng(0).multinomial(len(sources), [1 / len(sources)] * len(sources), size=DRAWS)
    with np.errstate(invalid="ignore"):
        drawn = np.nanmean((times @ right) / (times @ total), axis=1)
        value = float(np.nanmean(right.sum(0) / total.sum(0)))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return value, float(low), float(high)


def choices(model: TinySelfRAG) -> dict[str, Any]:
    """Of the gold passages of the "report" rows: how often it picks the answering sentence, by usefulness and by the
    probability of the words, beside a random pick."""
    by_use, by_words, by_chance = [], [], []
    for case in row_cases("report"):
        said = case.text.said
        prompt = with_passage(instruction(case.question), case.text.shown(said))
        found = Reading(model, model.prompt_ids(prompt)).judged(RELEVANT, said, with_support=True)
        use = [expected(tokens[-1], USEFULNESS) or 0.0 for tokens in found]
        words = [fmean(token.logprob for token in tokens[:-2]) for tokens in found]
        by_use.append(use.index(max(use)) == case.n)
        by_words.append(words.index(max(words)) == case.n)
        by_chance.append(1 / len(said))
    n = len(by_use)
    return {
        "n": n,
        "by usefulness": str(rate(sum(by_use), n)),
        "by probability of the words": str(rate(sum(by_words), n)),
        "at random": round(fmean(by_chance), 2),
    }


def scores(model: TinySelfRAG) -> dict[str, Any]:
    """What the card says: for each group n, balanced accuracy with its interval, chance, and the matrix."""
    judged = judge(model, held_out_sheets())
    found: dict[str, Any] = {}
    for group, labels in GROUPS.items():
        value, low, high = balanced_accuracy(judged, group)
        matrix = confusion(judged, group)
        found[group] = {
            "n": sum(map(sum, matrix)),
            "balanced accuracy": [round(x, 3) for x in (value, low, high)],
            "chance": round(1 / len(labels), 3),
            "confusion": matrix,
        }
    return found | {"choice of the sentence": choices(model)}
