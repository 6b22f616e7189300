"""Recording real replies, so that everyone after can replay them, and checking that they still hold.

Active when ``COOKBOOK_RECORD=<stem>`` is set and the provider is live: replies go to
``recordings/<stem>.jsonl``. A call recorded anywhere is answered from there, never asked again.
"""

from __future__ import annotations

import os
import platform
import random
import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from cookbook.errors import ConfigError
from cookbook.providers import gateway, local, models
from cookbook.providers.call import Call, Reply, call_of, reply_of, to_entry
from cookbook.providers.names import Target, resolve
from cookbook.providers.replay import recordings


class Recorder:
    """Answers from the recordings what is there, and adds what is not."""

    def __init__(self, stem: str, target: Target) -> None:
        if not target.live:
            raise ConfigError(
                f"COOKBOOK_RECORD={stem} records real replies and {target.provider} makes none; "
                "unset it, or set PROVIDER to a live model such as local"
            )
        if not re.fullmatch(r"\w[\w.-]*", stem):
            raise ConfigError(f"COOKBOOK_RECORD={stem} is no file stem; use letters, digits, - and _")
        self.stem = stem
        self.target = target

    @classmethod
    def active(cls, target: Target) -> Recorder | None:
        """The recorder that ``COOKBOOK_RECORD`` asks for, if it does."""
        stem = os.environ.get("COOKBOOK_RECORD")
        return cls(stem, target) if stem else None

    def lookup(self, call: Call) -> Reply | None:
        """The reply recorded for this call, None when it was never asked."""
        entry = recordings().get(call.key)
        return reply_of(entry) if entry else None

    def save(self, call: Call, reply: Reply) -> None:
        """Write the reply to the disk, with the date, the machine, the engine and the hash of the weights.

        WeightsError when the weights on this machine do not have that hash.
        """
        entry = to_entry(call, reply)
        if digest := weights_of(self.target):
            _verify_once(self.target.model.removeprefix("local/"))
            entry |= {"weights": digest, "engine": local.build()}
        entry |= {"date": date.today().isoformat(), "machine": machine()}
        recordings().append(self.stem, entry)


def weights_of(target: Target) -> str:
    """Published SHA-256 of a local model's weights, empty for a hosted model."""
    provider, _, name = target.model.partition("/")
    if provider != "local":
        return ""
    return models.MODELS[name].sha256


@cache
def _verify_once(name: str) -> None:
    """Hash the weights, once per process: a recording names the weights that really spoke."""
    models.verify(name)


@cache
def machine() -> str:
    """This machine in a few words: processor and number of cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or platform.processor() or platform.machine()}, {os.cpu_count()} cores"


# ---------------------------------------------------------------- do the recordings still hold?


@dataclass(frozen=True)
class Difference:
    """A recorded reply that the live model did not give again."""

    key: str
    recorded: str
    live: str


@dataclass(frozen=True)
class Agreement:
    """How many recorded replies a live run gave again: the text, or the likeliest word of one token.

    ``elsewhere`` names the builds of the engine that recorded them, where they are not the one that ran here.
    ``replies`` are the live ones, in the order asked.
    """

    asked: int
    differences: tuple[Difference, ...]
    elsewhere: tuple[str, ...] = ()
    replies: tuple[Reply, ...] = ()

    @property
    def agreed(self) -> int:
        return self.asked - len(self.differences)

    def __str__(self) -> str:
        by = f"; recorded by another build, {' and '.join(self.elsewhere)}" if self.elsewhere else ""
        return f"{self.agreed} of {self.asked} recorded replies came back the same{by}"


def verify(n: int, seed: int = 0, *, timeout: float = 300.0) -> Agreement:
    """Ask ``n`` random recorded calls (temperature 0) again, live, and compare.

    Of those that a local model gave, only what this build of the engine recorded is asked, if it recorded any.
    """
    entries = [entry for entry in recordings() if entry["params"]["temperature"] == 0]
    own = [entry for entry in entries if "engine" not in entry or entry["engine"] == local.build()]
    chosen = random.Random(seed).sample(own or entries, min(n, len(own or entries)))
    differences, replies = [], []
    for entry in chosen:
        call = call_of(entry)
        live = gateway.send(resolve(call.model), call, timeout=timeout)
        replies.append(live)
        recorded, now = _verdict(reply_of(entry)), _verdict(live)
        if recorded != now:
            differences.append(Difference(call.key, recorded, now))
    engines = () if own else tuple(sorted({entry["engine"] for entry in chosen}))
    return Agreement(len(chosen), tuple(differences), engines, tuple(replies))


def _verdict(reply: Reply) -> str:
    """What has to agree: the text, or for one-token decisions the likeliest word, whatever its spelling."""
    if not reply.top_logprobs:
        return reply.text
    return max(reply.top_logprobs, key=reply.top_logprobs.__getitem__).strip().casefold()
