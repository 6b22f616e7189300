"""Sheets as numbers: their word pieces, who sees whom, what is to be predicted and what that counts.

Taught in notebooks/16_train_a_tiny_self_rag.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cookbook.reflect.tokens.tiny import WINDOW, TinySelfRAG, visible
from cookbook.training.sequences import Sheet

if TYPE_CHECKING:
    import torch

WORD_WEIGHT = 0.1
"""What a word counts in the loss beside a reflection token: there are some thirty words to each of these."""
FIRST_WEIGHT = 5.0
"""What the first token counts: there is one to each prompt, and eight or so behind the continuations."""


@dataclass(frozen=True)
class Encoded:
    """A sheet in word pieces. ``targets`` is the piece to predict behind each place, ``weights`` what that counts;
    ``owners`` as in ``visible``."""

    ids: list[int]
    owners: list[int]
    positions: list[int]
    targets: list[int]
    weights: list[float]


def encode(model: TinySelfRAG, sheet: Sheet) -> Encoded:
    """A sheet for training; what is longer than the window is cut."""
    ids = model.prompt_ids(sheet.prompt)
    n = len(ids)
    first = model.ids[sheet.first]
    found = Encoded(ids, [0] * n, list(range(n)), [0] * (n - 1) + [first], [0.0] * (n - 1) + [FIRST_WEIGHT])
    for owner, branch in enumerate(sheet.branches, 1):
        words = model.tokenizer.encode(branch.words, add_special_tokens=False).ids
        judged = [model.ids[token] for token in (branch.support, branch.usefulness) if token]
        row = [first, *words, *judged]
        known = len(row) - 1  # behind the last token nothing is predicted
        found.ids.extend(row[:-1])
        found.owners.extend([owner] * known)
        found.positions.extend(range(n, n + known))
        found.targets.extend(row[1:])
        found.weights.extend([WORD_WEIGHT if branch.learned else 0.0] * len(words) + [1.0] * len(judged))
    fits = [at for at, position in enumerate(found.positions) if position < WINDOW]
    return Encoded(*([column[at] for at in fits] for column in vars(found).values()))


@dataclass(frozen=True)
class Batch:
    """Several sheets as tensors of (sheets, longest sheet); padding has owner -1 and weight 0."""

    ids: torch.Tensor
    owners: torch.Tensor
    positions: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor

    @classmethod
    def of(cls, sheets: Sequence[Encoded]) -> Batch:
        import torch

        longest = max(len(sheet.ids) for sheet in sheets)

        def column(name: str, padding: float) -> torch.Tensor:
            rows = [getattr(sheet, name) for sheet in sheets]
            return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])

        return cls(
            column("ids", 0),
            column("owners", -1),
            column("positions", 0),
            column("targets", 0),
            column("weights", 0.0),
        )

    def read(self, network: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits where something is to be predicted, what it is, and what it counts."""
        hidden = network.bert(
            self.ids, position_ids=self.positions, attention_mask=visible(self.owners)
        ).last_hidden_state
        asked = self.weights > 0
        return network.cls(hidden[asked]), self.targets[asked], self.weights[asked]
