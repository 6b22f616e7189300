"""Which system, model and embedder a command runs on, and the line that says so before it runs.

``PROVIDER`` decides when it is set. Without it, the local model answers if its weights are here,
else the extractive reader, which needs no model. Nothing is replaced without being said.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cookbook.errors import ConfigError

if TYPE_CHECKING:
    from cookbook.providers import LLMClient
    from cookbook.systems.base import Parts

DEFAULT_SYSTEM = "handbook_graph"
EMBEDDER = "all-minilm-l6-v2"


@dataclass(frozen=True)
class Choice:
    """A system, the client it runs on (None for a reader without a model), its embedder, and why.

    ``embedder`` None is the one that belongs to ``PROVIDER``.
    """

    system: str
    client: LLMClient | None
    why: str
    embedder: str | None = None


def choose(system: str | None, embedder: str | None = None) -> Choice:
    """The choice for a system, or for the default one. Raises ConfigError, MissingKey or WeightsError."""
    from cookbook.providers import LLMClient
    from cookbook.providers.names import RECORDED_MODEL
    from cookbook.systems import entry

    if system is not None and not (found := entry(system)).needs_model:
        why = (
            f"{system} {'brings its own model, whatever PROVIDER is' if found.own_model else 'uses no model'}"
        )
        replayed = None if embedder or os.environ.get("PROVIDER") else _recorded_vectors()
        if replayed:
            why += f"; the weights of {EMBEDDER} are not here, so only recorded questions can be asked"
        return Choice(system, None, why, embedder or replayed)
    if provider := os.environ.get("PROVIDER"):
        client = LLMClient()
        client.require_key()
        return Choice(system or DEFAULT_SYSTEM, client, f"PROVIDER={provider}", embedder)
    replayed = None if embedder else _recorded_vectors()
    if lack := local_model_lacks():
        if system is not None:
            raise ConfigError(
                f"{system} needs a model and {lack}; or set PROVIDER, for example PROVIDER=replay"
            )
        why = f"PROVIDER is not set and {lack}"
        if replayed:
            why += f"; nor are those of {EMBEDDER}, so only recorded questions can be asked"
        return Choice("extractive", None, why, embedder or replayed)
    why = "PROVIDER is not set and the weights of this model are here"
    if replayed:
        why += f"; those of {EMBEDDER} are not, so only recorded questions can be asked"
    return Choice(system or DEFAULT_SYSTEM, LLMClient(RECORDED_MODEL), why, embedder or replayed)


def any_model(what: str) -> LLMClient:
    """The model that PROVIDER names, else the local one. ConfigError says that ``what`` needs one."""
    from cookbook.providers import LLMClient
    from cookbook.providers.names import RECORDED_MODEL

    if os.environ.get("PROVIDER"):
        return LLMClient()
    if lack := local_model_lacks():
        raise ConfigError(f"{what} needs a model and {lack}; or set PROVIDER, for example PROVIDER=openai")
    return LLMClient(RECORDED_MODEL)


def _recorded_vectors() -> str | None:
    """The embedder "replay" where the real one has no weights here, else None for the usual one."""
    from cookbook.providers import models

    return "replay" if models.status(EMBEDDER).state == "missing" else None


def local_model_lacks() -> str:
    """What the local model needs and has not, with the command that brings it; empty when it can run.

    Raises WeightsError for weights that are broken: they were wanted, so nothing else is chosen.
    """
    from cookbook.providers import models
    from cookbook.providers.names import RECORDED_MODEL

    name = RECORDED_MODEL.removeprefix("local/")
    if models.status(name).state == "missing":
        return f"the weights of {name} are not here (cookbook models fetch {name})"
    models.weights_path(name)
    if find_spec("xllamacpp") is None:
        return "xllamacpp is not installed (pip install 'reflective-rag-cookbook[local]')"
    return ""


@dataclass(frozen=True)
class Ran:
    """What a request ran on, for the first line of output and for JSON."""

    system: str
    corpus: str
    model: str
    embedder: str
    store: str
    passages: int
    why: str

    @classmethod
    def of(cls, choice: Choice, corpus: str, parts: Parts) -> Ran:
        from cookbook.systems import entry

        retriever = parts.retriever
        return cls(
            system=choice.system,
            corpus=corpus,
            model=choice.client.describe() if choice.client else entry(choice.system).own_model or "no model",
            embedder=retriever.embedder.describe(),
            store=retriever.store.where,
            passages=retriever.store.count(),
            why=choice.why,
        )

    def __str__(self) -> str:
        return (
            f"{self.system} with {self.model}, {self.embedder}, {self.passages} passages of {self.corpus} "
            f"in Qdrant ({self.store}): {self.why}"
        )

    def to_dict(self) -> dict[str, str | int]:
        return asdict(self)
