"""Field cases of providers and caches: what names a call, what a call costs, and what runs without a key."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from threading import Lock
from typing import Literal

import pytest
from fake_provider import KEY, completion
from pydantic import BaseModel, Field
from standins import build_loop

from cookbook import _cache, paths, prompts
from cookbook.errors import ReplyTruncated
from cookbook.providers import LLMClient, gateway, local, parse
from cookbook.providers.call import Call, Reply
from cookbook.providers.meter import Meter, metered
from cookbook.show import show, totals
from cookbook.systems import REGISTRY
from cookbook.systems.handbook_graph import HandbookGraph
from cookbook.tracing import request, step

PROMPT = ({"role": "user", "content": "Is it?"},)


class One(BaseModel):
    verdict: Literal["yes", "no"]


class Two(BaseModel):
    verdict: Literal["yes", "no"]
    reason: str = Field(max_length=40)


# ---------------------------------------------------------------- what names a call


def test_field_case_P01_everything_that_affects_the_output_is_in_the_key():
    plain = {"model": "openai/m", "messages": PROMPT, "max_tokens": 16}
    others = [
        {"max_tokens": 400},
        {"temperature": 1.0},
        {"schema": parse.schema_of(One)},
        {"schema": parse.schema_of(Two)},
        {"model": "openai/other"},
        {"logprobs": 2},
        {"seed": 1},
        {"messages": tuple(prompts.SUPPORT.messages(passages="p", question="q", answer="a"))},
    ]
    calls = [Call(**plain), *(Call(**(plain | other)) for other in others)]
    assert all(one.key != another.key for one, another in combinations(calls, 2))
    assert Call(**plain).key == calls[0].key
    fields = set(Call.__dataclass_fields__)
    assert fields == {*plain, *(name for other in others for name in other)}  # a new field is varied here too


def test_field_case_P01_a_wording_is_part_of_the_key_so_a_new_version_cannot_hit_an_old_reply():
    def key(prompt: prompts.Prompt) -> str:
        return Call("m", tuple(prompt.messages(question="q", answer="a")), 1).key

    changed = prompts.Prompt("usefulness", 2, prompts.USEFULNESS.system + " ", prompts.USEFULNESS.user)
    assert key(changed) != key(prompts.USEFULNESS)


def test_field_case_P01_chance_is_not_cached(provider, monkeypatch, tmp_path):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("COOKBOOK_CACHE_LLM", "1")
    for temperature, sent in ((0.0, 1), (1.0, 3)):
        for _ in range(2):
            LLMClient("openai/m", temperature=temperature).chat("Is it?")
        assert len(provider.requests) == sent
    assert _cache.stats()["entries"] == 1


# ---------------------------------------------------------------- what a call costs


def test_field_case_P04_totals_are_the_sum_of_all_calls_failed_and_cached_ones_told_apart(
    provider, monkeypatch, tmp_path
):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("COOKBOOK_CACHE_LLM", "1")
    provider.replies = [503, completion("hello")]
    with metered(Meter()) as whole, request("q", system="s") as trace:
        with step("first"):
            LLMClient("openai/gpt-4o-mini").chat("Is it?")  # fails once, is retried
        with step("again"):
            LLMClient("openai/gpt-4o-mini").chat("Is it?")  # from the cache
    assert [(s.calls, s.cached, s.prompt_tokens) for s in trace.steps] == [(2, 0, 11), (0, 1, 0)]
    assert (trace.calls, trace.tokens, trace.cost) == (whole.calls, 14, whole.cost)
    assert whole.cost == pytest.approx(11 * 0.15e-6 + 3 * 0.6e-6)  # an error is not charged
    assert "1 from the cache" in totals(trace)
    provider.replies = ["half", completion("hello")]
    with metered(Meter()) as broken_off:
        LLMClient("openai/gpt-4o-mini").chat("Is it true?")
    assert (broken_off.calls, broken_off.cost) == (2, None)  # what half an answer costs, nobody knows


@pytest.mark.parametrize(
    ("model", "cost", "words"), [("openai/in-house", None, "cost unknown"), ("scripted/always_yes", 0.0, "")]
)
def test_field_case_P04_an_unknown_price_is_not_free(provider, model, cost, words):
    with request("q", system="s") as trace, step("only"):
        LLMClient(model).complete(PROMPT, max_tokens=5)
    assert trace.cost == cost
    assert trace.tokens > 0
    assert words in totals(trace)
    assert ("unknown" in totals(trace)) is (cost is None)


# ---------------------------------------------------------------- without a key

HOSTED = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY")


def test_field_case_N09_importing_and_answering_reads_no_key(tmp_path):
    code = """
import os, sys

class Watched(dict):
    def __getitem__(self, name):
        assert "API_KEY" not in name, name
        return dict.__getitem__(self, name)
    def get(self, name, default=None):
        assert "API_KEY" not in name, name
        return dict.get(self, name, default)

os.environ = Watched(os.environ)
import cookbook.systems, cookbook.assemble, cookbook.eval.compare, cookbook.providers, cookbook.ingest
from cookbook.providers import LLMClient
for name in ("openai", "replay", "scripted/always_yes"):
    print(LLMClient(name).describe())
"""
    environment = {k: v for k, v in os.environ.items() if k not in HOSTED}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("model openai/")  # every output says who speaks
    assert done.stdout.splitlines()[1].startswith("replay of local/")


def test_field_case_N09_one_key_does_not_switch_the_provider(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    system, _ = build_loop(HandbookGraph)
    answer = system.answer("How long?")
    assert answer.trace.model == "scripted/direct"
    assert answer.to_dict()["model"] == answer.trace.model


# ---------------------------------------------------------------- the model in this process


class FakeServer:
    """Stands for llama.cpp: fails when two calls are inside at once, and keeps what it was asked."""

    def __init__(self) -> None:
        self.inside, self.requests = Lock(), []

    def handle_chat_completions(self, body, collect):
        assert self.inside.acquire(blocking=False), "two calls at once"
        try:
            self.requests.append(body)
            text = body["messages"][-1]["content"].upper()
            collect({"choices": [{"delta": {"content": text}, "finish_reason": None}]})
            usage = {"prompt_tokens": 3, "completion_tokens": 1}
            collect({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage})
        finally:
            self.inside.release()


@pytest.fixture
def engine(monkeypatch):
    made = local.Engine.__new__(local.Engine)
    made.name, made.window, made._busy, made._closing = "fake", 4096, Lock(), False
    made._server = FakeServer()
    made._grammar = lambda schema: schema
    return made


def test_field_case_M03_calls_from_many_threads_take_turns_and_keep_their_order(engine):
    calls = [Call("local/fake", ({"role": "user", "content": f"passage {n}"},), 8) for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda call: engine.complete(call, timeout=30), calls))
    assert [reply.text for reply in replies] == [f"PASSAGE {n}" for n in range(8)]
    assert len(engine._server.requests) == 8


@pytest.mark.parametrize("form", [One, Two])
def test_field_case_M02_the_grammar_has_no_free_white_space_and_bounds_every_string(engine, form):
    engine.complete(Call("local/fake", PROMPT, 256, schema=parse.schema_of(form)), timeout=30)
    (sent,) = engine._server.requests
    grammar = json.loads(sent["grammar"])
    assert grammar["x-guidance"]["whitespace_flexible"] is False
    for field in grammar["properties"].values():
        assert "enum" in field or field["maxLength"] <= parse.MAX_TEXT
    assert sent["max_tokens"] == 256


def test_field_case_M02_a_schema_that_sets_no_bound_gets_one():
    class Open(BaseModel):
        text: str
        items: list[str]

    form = parse.schema_of(Open)["properties"]
    assert form["text"]["maxLength"] == form["items"]["items"]["maxLength"] == parse.MAX_TEXT
    assert form["items"]["maxItems"] == parse.MAX_ITEMS


def test_field_case_M02_a_reply_that_ran_into_its_limit_is_never_a_grade(provider):
    provider.replies = [completion('{"verdict": "yes"}', "length")]
    with pytest.raises(ReplyTruncated):
        LLMClient("openai/m").ask(list(PROMPT), One, max_tokens=9)


def test_field_case_M05_the_same_call_is_sent_the_same_and_without_a_prompt_cache(engine):
    call = Call("local/fake", PROMPT, 8, logprobs=2)
    replies = {json.dumps(vars(engine.complete(call, timeout=30)) | {"seconds": 0}) for _ in range(3)}
    assert len(replies) == 1
    one, two, three = engine._server.requests
    assert one == two == three
    assert (one["cache_prompt"], one["seed"], one["temperature"]) == (False, 0, 0.0)
    assert "cached gave other log-probabilities" in " ".join(
        local.__doc__.split()
    )  # and the reason is written down


def test_field_case_M05_replies_are_compared_by_verdict_and_not_by_prose():
    from cookbook.providers.recording import _verdict

    def reply(text: str, **top: float) -> Reply:
        return Reply(text, "stop", 1, 1, "m", top_logprobs=top)

    assert _verdict(reply("Yes", Yes=-0.1, no=-2.0)) == _verdict(reply("yes", yes=-0.2, no=-1.9)) == "yes"


# ---------------------------------------------------------------- offline


def test_field_case_E10_everything_shipped_runs_without_a_network_or_a_name_server(tmp_path):
    """In a process of its own, where asking for any address that is not this machine is an error."""
    code = """
from cookbook.assemble import parts_for
from cookbook.providers import LLMClient
from cookbook.systems import build
parts = parts_for("larkspur", client=LLMClient("scripted/always_yes"), embedder="scripted")
print(build("vanilla", parts).answer("How long can I export my data?").status)
print(parts.retriever.describe())
"""
    guard = {
        "PYTHONPATH": str(paths.ROOT / "tests" / "netblock"),
        "HF_HUB_OFFLINE": "1",
        "COOKBOOK_CACHE": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **guard}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    status, where = done.stdout.splitlines()
    assert status == "answered"
    assert "a stand-in that counts shared words" in where  # the stand-in says that it is one


def test_field_case_E10_weights_of_the_default_path_are_loaded_from_the_disk_only():
    sources = [path.read_text(encoding="utf-8") for path in paths.ROOT.glob("cookbook/**/*.py")]
    loads = [
        line
        for text in sources
        for line in text.splitlines()
        if re.search(r"(?:Cross|Sentence)(?:Encoder|Transformer)\(str", line)
    ]
    assert len(loads) == 2
    assert all("local_files_only=True" in line for line in loads)
    assert gateway.litellm().disable_hf_tokenizer_download


def test_field_case_N09_every_system_names_its_model(capsys):
    assert len(REGISTRY) >= 5
    system, _ = build_loop(HandbookGraph)
    show(system.answer("How long?"))
    assert "ANSWERED from passages" in capsys.readouterr().out
