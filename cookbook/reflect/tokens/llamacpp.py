"""A model behind a llama.cpp server, read token by token: for weights as GGUF, on any machine.

Start ``llama-server -m selfrag_llama2_7b.Q4_K_M.gguf`` and connect to it, or use an engine of this process:

    LlamaCppTokenModel(httpx.Client(base_url="http://127.0.0.1:8080", timeout=600))
    LlamaCppTokenModel(Engine("name of fetched weights").http(timeout=600))
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cookbook.errors import ConfigError, ProviderUnavailable
from cookbook.reflect.tokens.model import Continuation, Token
from cookbook.reflect.tokens.vocabulary import REFLECTION_TOKENS

if TYPE_CHECKING:
    import httpx

ALTERNATIVES = 64
"""How many alternatives to ask for at each position; a reflection token beyond them counts as impossible."""


class LlamaCppTokenModel:
    """Greedy completions of a raw prompt, without chat template. ``tokens`` are those to know by their ids.

    The server writes special tokens as empty text, so they are recognised by id. ConfigError when one of
    ``tokens`` is not a single token of the model, ProviderUnavailable when the server does not answer.
    """

    def __init__(self, server: httpx.Client, tokens: Sequence[str] = REFLECTION_TOKENS) -> None:
        self._server = server
        self._names: dict[int, str] = {}
        for token in tokens:
            body = {"content": token, "add_special": False, "parse_special": True}
            ids = self._post("/tokenize", body)["tokens"]
            if len(ids) != 1:
                raise ConfigError(
                    f"this model has no token {token}; use weights trained with reflection tokens"
                )
            self._names[ids[0]] = token

    def describe(self) -> str:
        return f"llama.cpp server at {self._server.base_url}"

    def complete(self, prompt: str, *, max_tokens: int) -> Continuation:
        body = {"prompt": prompt, "max_tokens": max_tokens, "logprobs": ALTERNATIVES, "temperature": 0}
        reply = self._post("/v1/completions", {**body, "cache_prompt": False})
        entries = (reply["choices"][0]["logprobs"] or {"content": ()})["content"]
        utf8 = codecs.getincrementaldecoder("utf-8")("replace")  # a character may be cut into several tokens
        return Continuation(
            tuple(
                Token(
                    self._names.get(entry["id"]) or utf8.decode(bytes(entry["bytes"])),
                    entry["logprob"],
                    {self._text(other): other["logprob"] for other in entry["top_logprobs"]},
                )
                for entry in entries
            )
        )

    def _text(self, entry: Mapping[str, Any]) -> str:
        return self._names.get(entry["id"], str(entry["token"]))

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        import httpx

        try:
            response = self._server.post(path, json=dict(body))
            response.raise_for_status()
        except httpx.HTTPStatusError as error:
            said = error.response.text.splitlines()[0][:200]
            raise ProviderUnavailable(f"the llama.cpp server cannot answer: {said}") from None
        except httpx.HTTPError as error:
            raise ProviderUnavailable(
                f"no llama.cpp server at {self._server.base_url} ({type(error).__name__}); start it first"
            ) from None
        return response.json()
