"""Runs systems over the questions of a set: one answer a row whatever goes wrong, and none asked twice.

A row that a recording does not hold has no answer (None). A row on which a system breaks has one with status
failed: it stays in the table, because a system that breaks on the hard half must not look better for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten

from cookbook.corpora import CorpusCard
from cookbook.errors import ConfigError, ReplayMiss, StoreError, WeightsError, WrongScoreKind
from cookbook.eval.behaviour import Pair
from cookbook.eval.clock import Clock, clock_of
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.journal import Journal, digest
from cookbook.eval.metrics import require_both
from cookbook.eval.sets import EvalRow, eval_set_names, load_eval_file, load_eval_set
from cookbook.providers import LLMClient
from cookbook.providers.meter import Meter, metered
from cookbook.providers.names import OURS
from cookbook.reflect.refuse import refusal
from cookbook.schema import Answer, Chunk, Document, Reason, Step, Trace
from cookbook.systems import REGISTRY, build, entry
from cookbook.systems.base import MAX_QUESTION, Parts, System

OPERATOR = (ConfigError, WeightsError, StoreError, WrongScoreKind)
"""Errors of whoever runs the comparison. They would meet every row, so they end it."""
SPLITS = ("report", "fit", "all")
SQUAD = "squad"
PARALLEL = 8
"""Rows at a time on a hosted model. A local one answers one call after the other anyway."""


@dataclass(frozen=True)
class Setup:
    """Questions, and the parts that every system is built from. ``texts`` is the SHA-256 of the documents."""

    name: str
    split: str
    rows: tuple[EvalRow, ...]
    parts: Parts
    texts: str

    @property
    def model(self) -> str:
        """The line that says which model answered."""
        return self.parts.model.describe() if self.parts.model else "no model"

    @property
    def machine(self) -> str:
        """Where the seconds were measured: a recording carries those of the machine that made it."""
        return self.parts.model.timed_on() if self.parts.model else ""

    @cached_property
    def clock(self) -> Clock | None:
        """What replayed calls are timed by; None for a live model, and for one that nobody has timed."""
        model = self.parts.model
        return clock_of(model.model) if model and model.provider == "replay" else None

    @property
    def workers(self) -> int:
        model = self.parts.model
        return PARALLEL if model and model.provider not in OURS else 1


def open_setup(
    name: str,
    *,
    split: str = "report",
    client: LLMClient | None = None,
    k: int = 5,
    documents: Sequence[Path] = (),
    allow_unreviewed: bool = False,
    systems: Sequence[str] = (),
) -> Setup:
    """The rows of one split of an eval set, over its corpus. Without a client, the recorded model answers.

    With ``documents``, files and folders of one's own, ``name`` is the JSONL file with the questions on them;
    drafts that nobody reviewed are refused unless allowed, and so are ``systems`` that would ask a recording.
    "squad" is the outside set of that name; its vectors are computed, so it wants the embedder's weights.
    ConfigError for an unknown set or split, for a row that would bend the scores, and for a selection that a
    dummy would win.
    """
    if split not in SPLITS:
        raise ConfigError(f"there is no split {split!r}; choose one of: {', '.join(SPLITS)}")
    client = client or LLMClient("replay")
    texts: Sequence[Chunk | Document]
    if documents:
        if gone := [str(path) for path in documents if not path.exists()]:
            raise ConfigError(f"{gone[0]} does not exist; name files or folders that do")
        _require_live(client, systems)
        texts, parts, found = _documents(Path(name), documents, client, k, allow_unreviewed)
    elif name == SQUAD:
        texts, parts, found = _squad(client, k)
    else:
        texts, parts, found = _own(name, client, k)
    _require_sound(name, found, texts)
    rows = tuple(row for row in found if split in ("all", row.split))
    if not rows:
        raise ConfigError(f"{name} has 0 rows in split {split}; try --split all (split='all')")
    require_both(rows)
    return Setup(Path(name).stem, split, rows, parts, digest(*(each.text for each in texts)))


def _require_live(client: LLMClient, systems: Sequence[str]) -> None:
    """ConfigError where a system would look for replies on own documents among the recorded ones."""
    asking = [system for system in systems if system not in DUMMIES and entry(system).needs_model]
    if asking and client.provider == "replay":
        free = ",".join(system for system, found in REGISTRY.items() if not found.needs_model)
        raise ConfigError(
            f"nothing is recorded for your own documents, and {asking[0]} needs a model: set PROVIDER=local or "
            f"another live one, or name systems that need none: --systems {free}"
        )


def _require_sound(name: str, rows: Sequence[EvalRow], texts: Sequence[Chunk | Document]) -> None:
    """ConfigError for rows that no system could get right, and for what the documents say otherwise."""
    mute = [row.id for row in rows if not row.can_be_stated]
    if mute:
        raise ConfigError(
            f"{len(mute)} of {len(rows)} rows of {name} have a sentence as answer and no facts, {mute[0]} the first: "
            'nobody says it word for word; add what must be said, such as "facts": [["30 days", "a month"]]'
        )
    for row in rows:
        if fault := _fault(row, texts):
            raise ConfigError(f"mend row {row.id} of {name}: {fault}")


def _fault(row: EvalRow, texts: Sequence[Chunk | Document]) -> str:
    """What is wrong with a row, seen beside the documents; empty if nothing is."""
    if len(row.question) > MAX_QUESTION:
        return f"its question has {len(row.question):,} characters, and {MAX_QUESTION:,} is the most"
    for gold in row.gold:
        if not any(gold.stands_in(text) for text in texts):
            return f"{gold.file} has no passage with the gold quote {shorten(gold.quote, 80)!r}"
    for pattern in row.absent:
        for text in texts:
            if found := re.search(pattern, text.text, re.IGNORECASE):
                return f"{text.doc_id} has {shorten(found[0], 80)!r}, which is absent by {pattern!r}"
    return ""


def _documents(
    file: Path, paths: Sequence[Path], client: LLMClient, k: int, allow_unreviewed: bool
) -> tuple[list[Chunk], Parts, list[EvalRow]]:
    from cookbook.assemble import parts_over
    from cookbook.embedders import MiniLM, get_embedder
    from cookbook.ingest import ingest, passages_of

    rows = load_eval_file(file, allow_unreviewed=allow_unreviewed)
    # Of own documents no vector is recorded, so readers without a model want the real embedder too.
    embedder = get_embedder(MiniLM.NAME if client.provider == "replay" else None)
    report = ingest(paths, embedder)
    return passages_of(report), parts_over(report, embedder, client=client, k=k), rows


def _own(name: str, client: LLMClient, k: int) -> tuple[list[Document], Parts, list[EvalRow]]:
    from cookbook.assemble import parts_for
    from cookbook.corpora import load_corpus

    if name not in (known := eval_set_names()):
        raise ConfigError(
            f"there is no eval set {name!r}; choose one of: {', '.join([*known, SQUAD])}; cookbook compare also takes a "
            "JSONL file of your own with its documents: --set FILE --path FOLDER"
        )
    rows = load_eval_set(name)
    embedder = "replay" if client.provider == "replay" else None
    return load_corpus(name), parts_for(name, client=client, embedder=embedder, k=k), rows


def _squad(client: LLMClient, k: int) -> tuple[list[Document], Parts, list[EvalRow]]:
    from cookbook.embedders import MiniLM
    from cookbook.eval.outside import load_squad
    from cookbook.retrieval import Retriever, cut
    from cookbook.stores import QdrantBackend

    documents, rows = load_squad()
    embedder = MiniLM()
    store = QdrantBackend(f"outside-{SQUAD}", embedder.fingerprint.dim)
    store.index(cut(documents, "markdown_sections", embedder), embedder)
    card = CorpusCard("an encyclopedia article on the Normans", "", ("Who was Rollo?",))
    return documents, Parts(client, Retriever(store, embedder, label="SQuAD 2.0, one article"), card, k), rows


@dataclass(frozen=True)
class Ran:
    """What a system did with each row, in the order of the rows.

    ``broken_off`` counts rows without an answer that had more calls recorded than another row took to its end.
    What is left is then a selection: where a loop goes on, something is missing; where it gives up early, not.
    """

    pairs: list[Pair]
    broken_off: int = 0


def run(setup: Setup, system: str, *, done: Callable[[], None] = lambda: None) -> Ran:
    """The answer of one system to each row; ``done`` is called after each.

    Answers of a live model are kept on the disk, so that a run which was broken off goes on where it stopped.
    """
    built = make(system, setup.parts)
    needs_model = system not in DUMMIES and entry(system).needs_model
    journal = journal_of(setup, system)
    kept = journal.read() if journal else {}
    missed: list[int] = []

    def one(row: EvalRow) -> Pair:
        answer = kept.get(row.question)
        if answer is None and (answer := attempt(built, row.question, system, missed.append)) and journal:
            journal.add(answer)
        done()
        return row, setup.clock.retimed(answer) if answer and setup.clock and needs_model else answer

    with ThreadPoolExecutor(setup.workers) as pool:
        pairs = list(pool.map(one, setup.rows))
    shortest = min((answer.trace.calls for _, answer in pairs if answer), default=0)
    return Ran(pairs, broken_off=sum(calls >= max(shortest, 1) for calls in missed))


def make(name: str, parts: Parts) -> System:
    """A system or a dummy by name; ConfigError for neither."""
    return DUMMIES[name](parts) if name in DUMMIES else build(name, parts)


def attempt(
    system: System, question: str, name: str = "", missed: Callable[[int], None] = lambda calls: None
) -> Answer | None:
    """The answer; None where a reply is not recorded; a failed answer where the system broke.

    ``missed`` is told how many calls were answered before the one that is not recorded.
    """
    with metered(Meter()) as meter:
        try:
            return system.answer(question)
        except ReplayMiss:
            missed(meter.calls)
            return None
        except OPERATOR:
            raise
        except Exception as error:
            # Whatever it is, it is this system's result on this row, and what it spent was spent.
            spent = {k: v for k, v in vars(meter).items() if k != "cost"}
            note = f"{type(error).__name__}: {error}"
            trace = Trace(question, name, steps=[Step("broke", note=note, **spent)], cost=meter.cost)
            return refusal(question, Reason.SYSTEM_FAILED, trace)


def journal_of(setup: Setup, system: str) -> Journal | None:
    """Where the answers of a live run are kept; None for recordings and stand-ins, which repeat themselves."""
    model = setup.parts.model
    if model is None or model.provider in ("replay", "scripted"):
        return None
    search = setup.parts.retriever.describe()
    card = repr(setup.parts.card)
    return Journal.named(setup.name, system, model.describe(), card, setup.texts, search, str(setup.parts.k))
