"""The critic's network: one small encoder that reads two texts together, and a head for each of two judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cookbook.errors import ConfigError

Task = Literal["relevance", "support"]
OUTCOMES: dict[Task, tuple[str, ...]] = {
    "relevance": ("irrelevant", "relevant"),
    "support": ("supported", "not_stated", "contradicted"),
}
"""The columns of each head."""
MOST_TOKENS = 256
"""Tokens of a pair, its three marks included. The encoder was trained on no longer texts."""


def torch_module() -> Any:
    """torch; ConfigError naming the extra where it is not installed."""
    try:
        import torch
    except ImportError:
        raise ConfigError(
            "the critic needs torch; run: pip install 'reflective-rag-cookbook[local]'"
        ) from None
    return torch


def build_network(sizes: Mapping[str, Any]) -> Any:
    """An untrained network: a BERT ``encoder`` of these sizes (fields of BertConfig) and a linear head for each task."""
    torch = torch_module()
    from transformers import BertConfig, BertModel

    config = BertConfig(**sizes)
    width = 2 * config.hidden_size  # the first token and the mean of all
    heads: dict[str, Any] = {
        task: torch.nn.Linear(width, len(outcomes)) for task, outcomes in OUTCOMES.items()
    }
    return torch.nn.ModuleDict({"encoder": BertModel(config, add_pooling_layer=False), **heads})


def build_tokenizer(pieces: Sequence[str]) -> Any:
    """BERT's tokenizer for pairs of texts, over a vocabulary of word pieces. It cuts and pads nothing."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {piece: n for n, piece in enumerate(pieces)}
    # The marks are not added as special tokens: a passage that writes "[SEP]" is not read as the border of two texts.
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"])
    )
    return tokenizer


def logits(network: Any, task: Task, encodings: Sequence[Any]) -> Any:
    """A tensor (pairs, outcomes) of one head for pairs that the tokenizer encoded; shorter ones are padded."""
    return network[task](pooled(network, encodings))


def pooled(network: Any, encodings: Sequence[Any]) -> Any:
    """What the encoder makes of each pair, shape (pairs, 2 * hidden): its first token beside the mean of all."""
    torch = torch_module()
    longest = max(len(encoding.ids) for encoding in encodings)

    def padded(field: str) -> Any:
        rows = [getattr(encoding, field) + [0] * (longest - len(encoding.ids)) for encoding in encodings]
        return torch.tensor(rows, dtype=torch.long)

    mask = padded("attention_mask")
    hidden = network["encoder"](
        padded("ids"), attention_mask=mask, token_type_ids=padded("type_ids")
    ).last_hidden_state
    shares = mask.unsqueeze(-1) / mask.sum(1, keepdim=True).unsqueeze(-1)
    return torch.cat([hidden[:, 0], (hidden * shares).sum(1)], dim=1)
