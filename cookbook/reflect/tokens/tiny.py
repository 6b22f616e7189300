"""A model with reflection tokens that was trained here: 15 million weights, committed, loaded without a download.

It judges, and it cannot write. So what it may say is bounded: a sentence of the passage it is shown, or, without a passage, one
of three replies. Of these it says the one that it finds most useful. First token, support and usefulness are those of
its vocabulary that it finds most probable at their place. All probabilities are the model's own, over all its tokens.

It reads a prompt in both directions and what follows from left to right (a prefix language model). Several continuations
are read at once: each sees the prompt and itself, none sees another.
Made by ``cookbook train tiny`` (``cookbook/training/tiny.py``). Taught in notebooks/16_train_a_tiny_self_rag.ipynb.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cookbook.baselines import sentences_of
from cookbook.errors import ConfigError, ContextOverflow
from cookbook.reflect import quantised
from cookbook.reflect.quantised import WEIGHTS
from cookbook.reflect.tokens.model import Continuation, Token
from cookbook.reflect.tokens.score import expected
from cookbook.reflect.tokens.vocabulary import (
    END_PARAGRAPH,
    NO_RETRIEVAL,
    PARAGRAPH,
    REFLECTION_TOKENS,
    RELEVANCE,
    RETRIEVE,
    SUPPORT,
    USEFULNESS,
)

if TYPE_CHECKING:
    import torch

REPLIES = ("Hello! How can I help?", "You are welcome.", "I can only quote documents.")
"""What it may say without a passage. The last one is of no use to anybody, and was labelled so."""

NAME = "tiny_self_rag"
WINDOW = 512
"""Word pieces that a prompt and one continuation may have together."""


class TinySelfRAG:
    """A TokenModel. ``complete`` with ``max_tokens=1`` gives the first token alone, and costs one reading."""

    def __init__(self, network: Any, tokenizer: Any, described: str = "tiny Self-RAG, untrained") -> None:
        self.network, self.tokenizer, self._described = network.eval(), tokenizer, described
        self.ids = {token: tokenizer.token_to_id(token) for token in REFLECTION_TOKENS}

    def describe(self) -> str:
        return self._described

    def prompt_ids(self, prompt: str) -> list[int]:
        """The word pieces of a prompt, behind the [CLS] that BERT begins with."""
        return [
            self.tokenizer.token_to_id("[CLS]"),
            *self.tokenizer.encode(prompt, add_special_tokens=False).ids,
        ]

    def complete(self, prompt: str, *, max_tokens: int) -> Continuation:
        passage = prompt.endswith(END_PARAGRAPH)
        given = NO_RETRIEVAL if prompt.endswith(NO_RETRIEVAL) else ""
        ids = self.prompt_ids(prompt.removesuffix(given))
        reading = Reading(self, ids)
        first = None if given else self._token(reading.last[0], RELEVANCE if passage else RETRIEVE)
        if first and max_tokens == 1:
            return Continuation((first,), len(ids))
        said = _sentences(prompt) if passage else list(REPLIES)
        found = reading.judged(first.text if first else given, said, with_support=passage)
        start = (first,) if first else ()
        if not found:
            return Continuation(start, len(ids))
        best = max(found, key=lambda tokens: expected(tokens[-1], USEFULNESS) or 0.0)
        return Continuation((*start, *best)[:max_tokens], len(ids))

    def _token(self, logs: torch.Tensor, among: Collection[str]) -> Token:
        """The most probable token of a group; its alternatives are all reflection tokens."""
        top = {token: float(logs[i]) for token, i in self.ids.items()}
        text = max(among, key=top.__getitem__)
        return Token(text, top[text], top)


@dataclass
class Reading:
    """One prompt, read once, and what is read after it. ``last`` holds the log-probabilities at its last token."""

    model: TinySelfRAG
    prompt: list[int]
    owners: list[int] = field(default_factory=list)
    _cache: Any = None

    def __post_init__(self) -> None:
        from transformers import DynamicCache

        self._cache = DynamicCache()
        self.last = self._read(self.prompt, [0] * len(self.prompt), list(range(len(self.prompt))))[-1:]

    def judged(self, first: str, said: Sequence[str], *, with_support: bool) -> list[tuple[Token, ...]]:
        """For each text its words, the support token (if asked for) and the usefulness token."""
        if not said:
            return []
        model, start = self.model, len(self.prompt)
        pieces = [model.tokenizer.encode(text, add_special_tokens=False) for text in said]
        rows = [[model.ids[first], *piece.ids] for piece in pieces]
        owners = [n for n, row in enumerate(rows, 1) for _ in row]
        logs = self._read(
            [i for row in rows for i in row], owners, [start + at for row in rows for at in range(len(row))]
        )
        ends, found = [], []
        for n, (text, piece) in enumerate(zip(said, pieces, strict=True), 1):
            own = logs[[at for at, owner in enumerate(owners) if owner == n]]
            found.append(_words(text, piece, own))
            ends.append(own[-1])
        if with_support:
            support = [model._token(end, SUPPORT) for end in ends]
            ends = list(
                self._read(
                    [model.ids[t.text] for t in support],
                    range(1, len(said) + 1),
                    [start + len(row) for row in rows],
                )
            )
            found = [(*words, token) for words, token in zip(found, support, strict=True)]
        return [(*words, model._token(end, USEFULNESS)) for words, end in zip(found, ends, strict=True)]

    def _read(self, ids: Sequence[int], owners: Sequence[int], positions: Sequence[int]) -> torch.Tensor:
        """Log-probabilities of what comes after each of ``ids``, (len(ids), vocabulary)."""
        import torch

        if max(positions) >= WINDOW:
            raise ContextOverflow(
                f"question and passage are longer than the {WINDOW} word pieces that this model reads; shorten the question"
            )
        self.owners += owners
        with torch.inference_mode():
            out = self.model.network.bert(
                torch.tensor([ids]),
                position_ids=torch.tensor([positions]),
                attention_mask=visible(torch.tensor([self.owners]))[:, :, -len(ids) :],
                cache=self._cache,
                use_cache=True,
            )
            logits: torch.Tensor = self.model.network.cls(out.last_hidden_state[0])
            return logits.log_softmax(-1)


def visible(owners: torch.Tensor) -> torch.Tensor:
    """Who sees whom, (batch, 1, tokens, tokens): all see the prompt (owner 0), a continuation also what it said
    before. ``owners`` is (batch, tokens): 0 for the prompt, n for the n-th continuation, -1 for padding."""
    import torch

    n = owners.shape[1]
    before = torch.ones(n, n, dtype=torch.bool).tril()
    same = owners[:, :, None] == owners[:, None, :]
    return ((owners == 0)[:, None, :] | (same & before))[:, None]


def _words(text: str, piece: Any, logs: torch.Tensor) -> tuple[Token, ...]:
    """The text as tokens, cut where its word pieces end; of words no alternatives are kept."""
    starts = [0, *(end for _, end in piece.offsets[:-1])]
    ends = [*(end for _, end in piece.offsets[:-1]), len(text)]
    return tuple(
        Token(text[a:b], float(logs[at, i]))
        for at, (a, b, i) in enumerate(zip(starts, ends, piece.ids, strict=True))
    )


def _sentences(prompt: str) -> list[str]:
    """The sentences of the passage that a prompt ends with, its title left out."""
    passage = prompt.rpartition(PARAGRAPH)[2].removesuffix(END_PARAGRAPH).partition("\n")[2]
    return list(dict.fromkeys(sentences_of(passage)))


# ---------------------------------------------------------------- weights


def new_tokenizer(pieces: Sequence[str]) -> Any:
    """BERT's word pieces over a vocabulary, each reflection token one token of its own, behind the others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {piece: n for n, piece in enumerate(pieces)}
    found = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    found.normalizer = normalizers.BertNormalizer(lowercase=True)
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    found.add_special_tokens(list(REFLECTION_TOKENS))
    return found


def new_network(vocabulary: int, sizes: Mapping[str, int]) -> Any:
    """BERT with a language-model head, random weights. ``sizes`` are fields of BertConfig."""
    try:
        from transformers import BertConfig, BertLMHeadModel
    except ImportError:
        raise ConfigError(
            "this model needs the local extra; run: pip install 'reflective-rag-cookbook[local]'"
        ) from None
    fields: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **sizes}
    return BertLMHeadModel(BertConfig(vocab_size=vocabulary, is_decoder=True, **fields))


def read_card(folder: Path = WEIGHTS) -> dict[str, Any]:
    """How the weights were made and what they reached: command, seed, sizes, loss curve, scores."""
    return quantised.read_card(folder, NAME, "make train-tiny")


@cache
def load_tiny(folder: Path = WEIGHTS) -> TinySelfRAG:
    """The committed model, about a second. WeightsError when a file is missing or damaged."""
    card = read_card(folder)
    pieces = quantised.read_pieces(folder, NAME, "make train-tiny")
    tokenizer = new_tokenizer(pieces)
    network = new_network(tokenizer.get_vocab_size(), card["sizes"])
    digest = quantised.read_weights(network, folder / f"{NAME}.safetensors")
    return TinySelfRAG(network, tokenizer, f"tiny Self-RAG, trained here (weights {digest[:8]}…)")
