"""A cross-encoder of a few thousand weights, built by the tests that load one, for there are none to fetch here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

WORDS = (
    "a man is eating bread in the kitchen nobody . , window lasts days sep [ ] yes no tag word other".split()
)
Pairs = Mapping[tuple[str, str], Sequence[float]]


def build(folder: Path, labels: Sequence[str], says: Pairs, *, max_tokens: int = 32) -> Path:
    """Save a random BERT whose last layer is solved so that it gives the logits of ``says`` for its pairs."""
    import numpy as np
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: n for n, word in enumerate([*special, *WORDS])}
    fast = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    fast.normalizer = normalizers.Lowercase()
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=fast, model_max_length=max_tokens, **names)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=max_tokens,
        initializer_range=0.5,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
    )
    model = BertForSequenceClassification(config).eval()
    with torch.no_grad():
        seen = [model.bert(**tokenizer(*pair, return_tensors="pt")).pooler_output[0].numpy() for pair in says]
        features = np.column_stack([np.array(seen), np.ones(len(seen))])
        solved = np.linalg.pinv(features) @ np.array(list(says.values()), float)
        model.classifier.weight.copy_(torch.tensor(solved[:-1].T))
        model.classifier.bias.copy_(torch.tensor(solved[-1]))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def rename_labels(folder: Path, labels: Sequence[str]) -> Path:
    """Write other names over the outputs, as a careless conversion does."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["id2label"] = {str(n): label for n, label in enumerate(labels)}
    config["label2id"] = {label: n for n, label in enumerate(labels)}
    path.write_text(json.dumps(config))
    return folder
