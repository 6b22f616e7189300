"""Running a system over rows: what is missing, what breaks, what ends the run, and what is kept on the disk."""

from __future__ import annotations

import dataclasses
import json
import threading
from types import SimpleNamespace

import pytest
from eval_stubs import Stub, answer, hit, row, setup

from cookbook.corpora import CorpusCard
from cookbook.embedders import HashEmbedder
from cookbook.errors import ConfigError, ReplayMiss
from cookbook.eval import journal as journals
from cookbook.eval import run as running
from cookbook.eval.clock import Clock
from cookbook.eval.journal import Journal, digest
from cookbook.eval.run import attempt, make, open_setup, run
from cookbook.providers.meter import open_meters
from cookbook.schema import Decision, Reason, Relevance, Status, Step, Verdict

ROWS = [row("a"), row("b"), row("x", "refuse")]


def raising(error: Exception):
    def reply(question: str):
        raise error

    return Stub(reply)


def test_what_is_not_recorded_has_no_answer():
    assert attempt(raising(ReplayMiss("nothing")), "q?") is None


def test_a_system_that_breaks_has_failed_and_what_it_spent_counts():
    def reply(question: str):
        for meter in open_meters():
            meter.add_call(prompt_tokens=30, completion_tokens=5, seconds=2.0, cost=None)
        raise ZeroDivisionError("division by zero")

    found = attempt(Stub(reply), "q?", "lame")
    assert (found.status, found.reason) == (Status.FAILED, Reason.SYSTEM_FAILED)
    assert (found.trace.system, found.trace.calls, found.trace.tokens, found.trace.seconds) == (
        "lame",
        1,
        35,
        2.0,
    )
    assert found.trace.cost is None
    assert found.trace.steps[0].note == "ZeroDivisionError: division by zero"


def test_an_error_of_whoever_runs_it_ends_the_run():
    with pytest.raises(ConfigError, match="PROVIDER"):
        attempt(raising(ConfigError("set PROVIDER")), "q?")


def test_a_run_keeps_the_order_of_the_rows_and_tells_each():
    told = []
    pairs = run(setup(*ROWS), "always_refuse", done=lambda: told.append(1)).pairs
    assert [each.id for each, _ in pairs] == ["a", "b", "x"]
    assert {given.status for _, given in pairs} == {Status.REFUSED}
    assert len(told) == 3


@pytest.mark.parametrize(("calls", "broken_off"), [(0, 0), (1, 0), (2, 1), (7, 1)])
def test_a_recording_that_breaks_off_after_others_had_ended_is_told(monkeypatch, calls, broken_off):
    """Row a ends after two calls. A miss before that says nothing about a row, a miss after it does."""

    def reply(question: str):
        for meter in open_meters():
            for _ in range(calls if question == "b?" else 2):
                meter.add_call(prompt_tokens=1, completion_tokens=1, seconds=0.0, cost=0.0)
        if question == "b?":
            raise ReplayMiss("not recorded")
        return answer(question, steps=[Step("n", calls=2)])

    monkeypatch.setattr(running, "make", lambda name, parts: Stub(reply))
    assert run(setup(*ROWS), "vanilla").broken_off == broken_off


# ---------------------------------------------------------------- live models


@pytest.fixture
def live(monkeypatch, tmp_path):
    """A setup on a hosted model that is never called; its answers are those of ``replies``."""
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    model = SimpleNamespace(provider="openai", chat_model="openai/m", describe=lambda: "model openai/m")
    replies: dict[str, object] = {each.question: answer(each.question) for each in ROWS}
    asked: list[str] = []

    def reply(question: str):
        asked.append(question)
        found = replies[question]
        if isinstance(found, BaseException):
            raise found
        return found

    monkeypatch.setattr(running, "make", lambda name, parts: Stub(reply))
    return SimpleNamespace(setup=setup(*ROWS, model=model), replies=replies, asked=asked)


def test_a_broken_off_run_goes_on_where_it_stopped(live):
    live.replies["x?"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(live.setup, "vanilla")
    live.replies["x?"] = answer("x?")
    first, live.asked[:] = list(live.asked), []
    pairs = run(live.setup, "vanilla").pairs
    assert sorted(first) == ["a?", "b?", "x?"]
    assert live.asked == ["x?"]
    assert all(given is not None for _, given in pairs)


def test_a_failed_row_is_asked_again(live):
    live.replies["a?"] = RuntimeError("down")
    assert run(live.setup, "vanilla").pairs[0][1].status is Status.FAILED
    live.replies["a?"], live.asked[:] = answer("a?"), []
    assert run(live.setup, "vanilla").pairs[0][1].status is Status.ANSWERED
    assert live.asked == ["a?"]


def test_another_setting_is_another_journal(live, monkeypatch):
    def path(**changes):
        return running.journal_of(dataclasses.replace(live.setup, **changes), "vanilla").path

    parts = dataclasses.replace(live.setup.parts, k=3)
    card = dataclasses.replace(live.setup.parts, card=CorpusCard("a handbook", "Ask again.", ()))
    model = SimpleNamespace(
        **vars(live.setup.parts.model) | {"describe": lambda: "model openai/m (weights 2)"}
    )
    weights = dataclasses.replace(live.setup.parts, model=model)
    changes = (
        {},
        {"texts": "1" * 64},
        {"parts": parts},
        {"name": "other"},
        {"parts": card},
        {"parts": weights},
    )
    paths = {path(**change) for change in changes}
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    paths.add(path())
    monkeypatch.setattr(journals, "_package", lambda: "changed")
    assert len(paths | {path()}) == 8


def test_other_weights_are_another_package(monkeypatch, tmp_path):
    for folder in ("eval", "weights"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(journals, "__file__", str(tmp_path / "eval" / "journal.py"))
    found = set()
    for name in ("eval/journal.py", "weights/critic.safetensors", "weights/critic.json", "eval/prompts.py"):
        (tmp_path / name).write_bytes(b"\xff")
        found.add(journals._package.__wrapped__())
    assert len(found) == 4


def test_hosted_rows_run_in_parallel(live):
    barrier = threading.Barrier(3, timeout=5)  # breaks unless all three rows are in flight at once
    live.replies.update({each.question: answer(each.question) for each in ROWS})

    def reply(question: str):
        barrier.wait()
        return live.replies[question]

    running.make = lambda name, parts: Stub(reply)  # put back by the fixture's monkeypatch
    assert [given.question for _, given in run(live.setup, "vanilla").pairs] == ["a?", "b?", "x?"]


@pytest.mark.parametrize("provider", ["replay", "scripted"])
def test_recordings_and_stand_ins_need_no_journal(provider):
    assert running.journal_of(setup(*ROWS, model=SimpleNamespace(provider=provider)), "vanilla") is None


@pytest.mark.parametrize(
    ("provider", "system", "seconds"),
    [("replay", "vanilla", 2.5), ("scripted", "vanilla", 40.0), ("replay", "token_selfrag", 40.0)],
)
def test_replayed_calls_are_timed_by_the_clock_of_their_model_and_nothing_else_is(
    provider, system, seconds, monkeypatch
):
    clock = Clock("local/small", "a desk", "llama", "2026-11-30", 9, 0.5, 0.01, 0.1, 0.0)
    monkeypatch.setattr(running, "clock_of", {"local/small": clock}.get)
    given = answer(
        "a?", steps=[Step("generate", calls=1, prompt_tokens=100, completion_tokens=10, seconds=40.0)]
    )
    monkeypatch.setattr(running, "make", lambda name, parts: Stub(lambda question: given))
    model = SimpleNamespace(provider=provider, model="local/small")
    ((_, timed),) = run(setup(row("a"), model=model), system).pairs
    assert timed.trace.seconds == seconds


# ---------------------------------------------------------------- the journal


def test_an_answer_comes_back_whole(tmp_path):
    verdict = Verdict(Decision.RELEVANCE, Relevance.RELEVANT, probability=0.8, subject="a.md#0")
    given = answer(
        "a?", contexts=[hit("a", "It is 5.")], citations=["a.md#0"], cost=None,
        steps=[Step("grade", calls=2, seconds=1.5, verdicts=[verdict])],
    )  # fmt: skip
    Journal(tmp_path / "j.jsonl").add(given)
    assert Journal(tmp_path / "j.jsonl").read() == {"a?": given}


def test_a_torn_line_is_cut_off(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal.add(answer("a?"))
    with journal.path.open("ab") as stream:
        stream.write(b'{"question": "b?", "te')
    assert list(journal.read()) == ["a?"]
    journal.add(answer("b?"))
    assert list(journal.read()) == ["a?", "b?"]


def test_a_spoilt_line_says_which_file_to_remove(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal.path.write_bytes(b"spoilt\n")
    journal.add(answer("a?"))
    with pytest.raises(ConfigError, match=r"j\.jsonl is damaged; remove the file"):
        journal.read()


def test_digests_tell_lists_of_texts_apart():
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")


# ---------------------------------------------------------------- opening


def test_a_set_is_opened_by_split():
    sizes = {split: len(open_setup("larkspur", split=split).rows) for split in ("report", "fit", "all")}
    assert sizes == {"report": 59, "fit": 37, "all": 96}


def test_what_cannot_be_opened():
    with pytest.raises(ConfigError, match="'test'"):
        open_setup("larkspur", split="test")
    with pytest.raises(ConfigError, match=r"nowhere'; choose one of: .*rust_notes, squad; .* --path FOLDER"):
        open_setup("nowhere")
    with pytest.raises(ConfigError, match="magic"):
        make("magic", setup().parts)


ROOF = "# Roof\n\nThe roof is repaired by Hale and Daughter, within 30 days of a report to the office.\n"
ANSWERED = {
    "id": "roof", "question": "Who repairs the roof?", "answer": "Hale and Daughter", "kind": "answerable",
    "behaviour": "answer", "gold": [{"file": "a.md", "quote": "Hale and Daughter"}], "variants": [], "split": "report",
}  # fmt: skip
REFUSED = ANSWERED | {
    "id": "paint", "question": "Who paints?", "answer": "", "kind": "unanswerable_near",
    "behaviour": "refuse", "gold": [], "absent": ["paint"],
}  # fmt: skip


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Opens rows over a folder with one document; ``own.embedders`` are the names of those that were asked for."""
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(ROOF, encoding="utf-8")
    embedders: list[str | None] = []

    def embedder(name=None):
        embedders.append(name)
        return HashEmbedder()

    monkeypatch.setattr("cookbook.embedders.get_embedder", embedder)
    file = tmp_path / "q.jsonl"

    def opened(*rows, **given):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return open_setup(str(file), documents=[tmp_path / "notes"], **given)

    return SimpleNamespace(open=opened, embedders=embedders)


def test_own_documents_are_read_with_the_real_embedder(own):
    found = own.open(ANSWERED, REFUSED, systems=["extractive", "token_selfrag", "always_refuse"])
    assert [each.id for each in found.rows] == ["roof", "paint"]
    assert own.embedders == ["all-minilm-l6-v2"]


def test_a_system_that_would_ask_a_recording_of_own_documents_is_named_before_they_are_read(own):
    with pytest.raises(ConfigError) as caught:
        own.open(ANSWERED, REFUSED, systems=["extractive", "lean"])
    assert str(caught.value) == (
        "nothing is recorded for your own documents, and lean needs a model: set PROVIDER=local or another live one, "
        "or name systems that need none: --systems extractive,token_selfrag"
    )
    with pytest.raises(ConfigError, match="magic"):
        own.open(ANSWERED, REFUSED, systems=["magic"])
    assert own.embedders == []


LONG = "The roof is repaired by the firm of Hale"


@pytest.mark.parametrize(
    ("answered", "refused", "says"),
    [
        ({"gold": [{"file": "a.md", "quote": "Hale and Son"}]}, {},
         "mend row roof of .*: a.md has no passage with the gold quote 'Hale and Son'"),
        ({"gold": [{"file": "b.md", "quote": "Hale and Daughter"}]}, {}, "row roof of .*: b.md has no passage"),
        ({}, {"absent": ["hale|paint"]}, r"row paint of .*: a.md has 'Hale', which is absent by 'hale\|paint'"),
        ({"question": "Who? " * 500}, {}, "row roof of .*: its question has 2,500 characters, and 2,000 is the most"),
        ({"answer": LONG, "variants": [LONG]}, {}, "1 of 2 rows of .* no facts, roof the first: .*30 days"),
        ({"split": "fit"}, {"split": "fit"}, "has 0 rows in split report; try --split all"),
    ],
)  # fmt: skip
def test_a_row_that_would_bend_the_scores_is_named(own, answered, refused, says):
    with pytest.raises(ConfigError, match=says) as caught:
        own.open(ANSWERED | answered, REFUSED | refused)
    assert "\n" not in str(caught.value)


def test_rows_of_our_own_sets_are_held_to_their_corpus_too(monkeypatch):
    rows = [dataclasses.replace(each, absent=("workspace",)) for each in running.load_eval_set("larkspur")]
    monkeypatch.setattr(running, "load_eval_set", lambda name: rows)
    with pytest.raises(
        ConfigError, match=r"mend row larkspur-001 of larkspur: .*, which is absent by 'workspace'"
    ):
        open_setup("larkspur")
