"""A transformers model that was trained with reflection tokens, read with exact probabilities.

The published weights are ``selfrag/selfrag_llama2_7b`` (and ``_13b``): 14 GB in half precision, so a GPU with
16 GB or more. On a CPU they work too, at minutes per passage.

    model = HFTokenModel.load("selfrag/selfrag_llama2_7b", device="cuda")
    short_form(model, question, retriever.retrieve(question, 10))
    TokenSelfRAG(parts_for("larkspur", needs_model=False, k=10), model=model).answer(question)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from cookbook.errors import ConfigError
from cookbook.reflect.tokens.model import Continuation, Token
from cookbook.reflect.tokens.vocabulary import REFLECTION_TOKENS, RETRIEVAL

if TYPE_CHECKING:
    import torch


class HFTokenModel:
    """Greedy decoding by ``generate``. ``top`` of each token holds all reflection tokens and no other.

    Stops at the end of the sequence or after ``[Retrieval]``. ConfigError for a tokenizer that does not have
    each reflection token as one token of its own.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model, tokenizer
        ids = {token: tokenizer.convert_tokens_to_ids(token) for token in REFLECTION_TOKENS}
        if missing := [token for token, i in ids.items() if i in (None, tokenizer.unk_token_id)]:
            raise ConfigError(
                f"this tokenizer has no token {missing[0]}; use weights trained with reflection tokens"
            )
        self._names = {i: token for token, i in ids.items()}
        self._ends = {tokenizer.eos_token_id, ids[RETRIEVAL]}

    @classmethod
    def load(cls, name: str, *, device: str = "cpu") -> Self:
        """Weights and tokenizer from the Hugging Face hub or a folder, in the precision they are stored in."""
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError:
            raise ConfigError(
                "a transformers model needs the local extra; run: pip install 'reflective-rag-cookbook[local]'"
            ) from None
        model: Any = AutoModelForCausalLM.from_pretrained(name, dtype="auto")
        return cls(model.to(device).eval(), AutoTokenizer.from_pretrained(name))

    def describe(self) -> str:
        return f"{self._model.config.name_or_path or 'a model in memory'} (transformers)"

    def complete(self, prompt: str, *, max_tokens: int) -> Continuation:
        import torch

        inputs = self._tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        inputs = inputs.to(self._model.device)
        with torch.inference_mode():
            output = self._model.generate(
                **inputs,
                max_new_tokens=max_tokens,
                do_sample=False,
                eos_token_id=sorted(self._ends),
                pad_token_id=self._tokenizer.eos_token_id,
                return_dict_in_generate=True,
                output_logits=True,
            )
        length = inputs["input_ids"].shape[1]
        ids = output.sequences[0, length:].tolist()
        return Continuation(
            tuple(
                self._token(text, emitted, logits[0].float().log_softmax(-1))
                for text, emitted, logits in zip(self._texts(ids), ids, output.logits, strict=True)
            ),
            prompt_tokens=length,
        )

    def _token(self, text: str, emitted: int, logs: torch.Tensor) -> Token:
        return Token(text, logs[emitted].item(), {name: logs[i].item() for i, name in self._names.items()})

    def _texts(self, ids: list[int]) -> list[str]:
        """What each token adds to the text; a character in several tokens comes with the last of them."""
        texts, done = [], ""
        for n, emitted in enumerate(ids, 1):
            if emitted == self._tokenizer.eos_token_id:
                texts.append("")
                continue
            whole = self._tokenizer.decode(ids[:n], clean_up_tokenization_spaces=False)
            partial = whole.endswith("\ufffd")
            # Some tokenizers put a space around added tokens; the token itself has none.
            texts.append(self._names.get(emitted, "" if partial else whole[len(done) :]))
            done = done if partial else whole
        return texts
