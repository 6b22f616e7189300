"""Recording: what is asked once is never asked again, replays the same, and can be checked live."""

import json
from dataclasses import replace
from functools import partial

import pytest
from fake_provider import KEY, completion
from pydantic import BaseModel, Field

from cookbook import paths
from cookbook.errors import BudgetExhausted, ConfigError, WeightsError
from cookbook.providers import LLMClient, local, models, recording
from cookbook.providers.call import Call, Reply
from cookbook.providers.meter import Budget, Meter, metered
from cookbook.providers.names import resolve

PROMPT = [{"role": "user", "content": "Is it?"}]
YES_NO = {"relevant": ["yes"], "irrelevant": ["no"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    monkeypatch.setenv("COOKBOOK_RECORD", "demo")
    return tmp_path


def entries(folder, stem="demo"):
    return [json.loads(line) for line in (folder / f"{stem}.jsonl").read_text().splitlines()]


def test_a_recorded_call_replays_as_it_was(folder, provider, monkeypatch):
    provider.replies = [completion("Ja."), completion("Yes", "length", {"Yes": -0.123456789, "No": -2.5})]
    live = LLMClient("openai/gpt-4o-mini")
    with metered(Meter()) as spent:
        text, choice = live.chat(PROMPT), live.decide(PROMPT, YES_NO)
    monkeypatch.delenv("COOKBOOK_RECORD")
    with metered(Meter()) as replayed:
        again = LLMClient("replay/openai/gpt-4o-mini")
        assert again.chat(PROMPT) == text
        assert again.decide(PROMPT, YES_NO) == choice
    assert len(provider.requests) == 2
    assert (spent.calls, spent.prompt_tokens) == (replayed.calls, replayed.prompt_tokens) == (2, 22)
    assert replayed.seconds == pytest.approx(spent.seconds, abs=0.002)
    assert spent.cost > 0
    assert replayed.cost == 0.0


def test_a_structured_call_replays_although_the_provider_was_sent_a_plainer_schema(
    folder, provider, monkeypatch
):
    class Note(BaseModel):
        text: str = Field(max_length=20)

    provider.replies = [completion('{"text": "short"}')]
    assert LLMClient("openai/gpt-4o-mini").ask(PROMPT, Note, max_tokens=30) == Note(text="short")
    monkeypatch.delenv("COOKBOOK_RECORD")
    assert LLMClient("replay/openai/gpt-4o-mini").ask(PROMPT, Note, max_tokens=30) == Note(text="short")


def test_an_entry_can_be_read_and_holds_no_key(folder, provider):
    LLMClient("openai/m").chat(PROMPT, max_tokens=9)
    (entry,) = entries(folder)
    assert entry["messages"] == PROMPT
    assert entry["reply"] == "hello"
    assert entry["params"] == {"max_tokens": 9, "temperature": 0.0, "seed": 0}
    assert entry["usage"] == {"prompt_tokens": 11, "completion_tokens": 3}
    assert entry["machine"].endswith("cores")
    assert KEY not in (folder / "demo.jsonl").read_text()


def test_what_is_recorded_anywhere_is_not_asked_again_but_counts_as_a_call(folder, provider, monkeypatch):
    LLMClient("openai/m").chat(PROMPT)
    monkeypatch.setenv("COOKBOOK_RECORD", "other")
    with metered(Meter(), Budget(calls=1)) as meter:
        LLMClient("openai/m").chat(PROMPT)
        with pytest.raises(BudgetExhausted):
            LLMClient("openai/m").chat(PROMPT)
    assert (meter.calls, meter.prompt_tokens) == (1, 11)
    assert len(provider.requests) == 1
    assert not (folder / "other.jsonl").exists()


def test_a_broken_run_goes_on_where_it_stopped(folder, provider):
    client = LLMClient("openai/m")
    client.chat("first")
    with (folder / "demo.jsonl").open("a") as stream:
        stream.write('{"key":"torn')
    client.chat("second")
    client.chat("first")
    assert [entry["messages"][0]["content"] for entry in entries(folder)] == ["first", "second"]
    assert len(provider.requests) == 2


def test_failures_are_not_recorded(folder, provider):
    provider.replies = [401]
    with pytest.raises(Exception, match="refused the key"):
        LLMClient("openai/m").chat(PROMPT)
    assert list(folder.glob("*.jsonl")) == []


@pytest.mark.parametrize("model", ["replay", "scripted/echo"])
def test_only_real_models_are_recorded(folder, model):
    with pytest.raises(ConfigError, match="COOKBOOK_RECORD=demo"):
        LLMClient(model).chat(PROMPT)


@pytest.mark.parametrize("stem", ["../demo", "a/b", ".hidden"])
def test_a_stem_stays_inside_the_folder(folder, stem, monkeypatch):
    monkeypatch.setenv("COOKBOOK_RECORD", stem)
    with pytest.raises(ConfigError, match="no file stem"):
        LLMClient("openai/m").chat(PROMPT)


def test_verify_asks_again_and_reports_what_changed(folder, provider):
    client = LLMClient("openai/m")
    provider.replies = [
        completion("same"),
        completion("old"),
        completion("Yes", "length", {"Yes": -0.1, "No": -3.0}),
    ]
    client.chat("first")
    client.chat("second")
    client.decide(PROMPT, YES_NO)

    provider.replies = [completion("same")]
    report = recording.verify(9, seed=1)
    assert (report.asked, report.agreed) == (3, 1)
    assert {(d.recorded, d.live) for d in report.differences} == {("old", "same"), ("yes", "same")}
    assert str(report) == "1 of 3 recorded replies came back the same"

    provider.replies = [completion(" yes", "length", {" yes": -0.2, "No": -1.0})]
    assert ("yes", "yes") not in {(d.recorded, d.live) for d in recording.verify(9).differences}
    provider.requests.clear()
    assert recording.verify(2, seed=5).asked == len(provider.requests) == 2
    assert len(entries(folder)) == 3


def test_only_weights_with_the_published_hash_are_named_and_they_are_hashed_once(folder, monkeypatch):
    hashed = []
    call = Call("local/smollm2-135m", tuple(PROMPT), 9)
    reply = Reply("Yes.", "stop", 11, 3, call.model)
    recorder = recording.Recorder("demo", resolve(call.model))

    def wrong(name):
        raise WeightsError(f"{name} has another SHA-256")

    recording._verify_once.cache_clear()
    monkeypatch.setattr(local, "build", lambda: "llama.cpp AVX2")
    monkeypatch.setattr(models, "verify", wrong)
    with pytest.raises(WeightsError, match="smollm2-135m has another"):
        recorder.save(call, reply)
    assert list(folder.glob("*.jsonl")) == []

    monkeypatch.setattr(models, "verify", hashed.append)
    recorder.save(call, reply)
    recorder.save(replace(call, seed=1), reply)
    recording._verify_once.cache_clear()
    assert hashed == ["smollm2-135m"]
    assert {entry["weights"][:8] for entry in entries(folder)} == {"b179c952"}
    assert {entry["engine"] for entry in entries(folder)} == {"llama.cpp AVX2"}


def test_what_another_build_of_the_engine_recorded_is_asked_only_where_there_is_nothing_else(
    folder, monkeypatch
):
    monkeypatch.setattr(models, "verify", lambda name: None)
    said = partial(
        Reply, finish_reason="stop", prompt_tokens=11, completion_tokens=3, model="local/smollm2-135m"
    )
    monkeypatch.setattr(recording.gateway, "send", lambda target, call, *, timeout: said("Yes."))
    recorder = recording.Recorder("demo", resolve("local/smollm2-135m"))
    for seed, (build, text) in enumerate((("AVX2", "Yes."), ("AMX", "No."), ("AMX", "No."))):
        monkeypatch.setattr(local, "build", lambda build=build: build)
        recorder.save(Call("local/smollm2-135m", tuple(PROMPT), 9, seed=seed), said(text))

    monkeypatch.setattr(local, "build", lambda: "AVX2")
    assert str(recording.verify(9)) == "1 of 1 recorded replies came back the same"
    monkeypatch.setattr(local, "build", lambda: "NEON")
    assert str(recording.verify(9)) == (
        "1 of 3 recorded replies came back the same; recorded by another build, AMX and AVX2"
    )
