"""Every command as it is typed: what it prints where, its JSON, its exit code, and each way it goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_provider import completion
from typer.testing import CliRunner, Result

from cookbook import assemble, doctor, notebooks, paths, retrieval
from cookbook.cli import app, demo, main, record
from cookbook.doctor import Check
from cookbook.embedders import HashEmbedder
from cookbook.errors import ReplayMiss, WeightsError
from cookbook.eval.clock import clock_of
from cookbook.eval.sets import in_turn, load_eval_set
from cookbook.providers import models, recording, replay
from cookbook.providers.call import Reply
from cookbook.providers.recording import Agreement, Difference
from cookbook.providers.scripted import scripted_table
from cookbook.schema import Answer, Provenance, Reason, Status, Step, Trace
from cookbook.systems import REGISTRY

QUESTION = "Can I export my data after I cancel my plan?"
MINILM, QWEN = "all-minilm-l6-v2", "qwen2.5-coder-1.5b"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def refused(result: Result, *words: str, code: int = 2) -> str:
    """The one line that an error is, after checking that it is one, on stderr, with these words in it."""
    assert result.exit_code == code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    for word in words:
        assert word in line
    return line


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def word_counts(monkeypatch: pytest.MonkeyPatch):
    """Searches by shared words, so that no weights and no recordings are needed."""
    monkeypatch.setattr(retrieval, "get_embedder", lambda name: HashEmbedder())
    assemble._retriever.cache_clear()
    yield
    assemble._retriever.cache_clear()


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch, word_counts: None) -> str:
    """A scripted model that gives one answer to everything."""
    model = scripted_table({"": "You can export for 30 days [1]."})
    monkeypatch.setenv("PROVIDER", model)
    return model


# ---------------------------------------------------------------- ask


def test_ask_says_first_what_it_runs_on(writer: str):
    result = run("ask", QUESTION, "--system", "vanilla")
    first, blank, status, text = result.stdout.splitlines()[:4]
    assert first == (
        f"vanilla with model {writer}, embedder scripted (a stand-in that counts shared words), "
        f"{passages_of_larkspur()} passages of larkspur in Qdrant (memory): PROVIDER={writer}"
    )
    assert (blank, status, text) == ("", "ANSWERED from passages", "You can export for 30 days.")
    assert "1 call, 1 embedding" in result.stdout
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_system_with_a_model_of_its_own_says_which(writer: str):
    first, _, status = run("ask", QUESTION, "--system", "token_selfrag").stdout.splitlines()[:3]
    assert first.startswith("token_selfrag with its own tiny Self-RAG (committed weights), embedder scripted")
    assert first.endswith(": token_selfrag brings its own model, whatever PROVIDER is")
    assert status.startswith(("ANSWERED from passages", "REFUSED: "))


def passages_of_larkspur() -> int:
    return assemble.parts_for(needs_model=False).retriever.store.count()


def test_ask_in_json_keeps_stdout_pure(writer: str):
    result = run("ask", QUESTION, "--system", "vanilla", "--k", "2", "--json")
    found = json.loads(result.stdout)
    assert result.stderr.startswith(f"vanilla with model {writer}")
    assert len(result.stderr.splitlines()) == 1
    assert found["ran"]["corpus"] == "larkspur"
    assert found["ran"]["why"] == f"PROVIDER={writer}"
    assert (found["status"], found["calls"], len(found["contexts"])) == ("answered", 1, 2)
    assert [step["node"] for step in found["trace"]] == ["retrieve", "generate"]


def test_the_default_system_is_the_graph(monkeypatch, word_counts):
    monkeypatch.setenv("PROVIDER", "scripted/unavailable")
    found = json.loads(run("ask", QUESTION, "--json").stdout)
    assert found["system"] == "handbook_graph"
    assert (found["status"], found["reason"]) == ("failed", "grader_failed")


def test_ask_without_provider_takes_the_local_model_if_it_is_here(monkeypatch, word_counts):
    monkeypatch.setattr("cookbook.cli.choice.local_model_lacks", lambda: "")
    monkeypatch.setattr("cookbook.cli.choice._recorded_vectors", lambda: None)
    monkeypatch.setattr("cookbook.systems.build", lambda name, parts: Stub(name))
    first = run("ask", QUESTION).stdout.splitlines()[0]
    assert first.startswith(f"handbook_graph with model local/{QWEN} (weights ")
    assert first.endswith("PROVIDER is not set and the weights of this model are here")


def test_ask_without_a_model_quotes_instead(monkeypatch, no_weights, word_counts):
    found = models.status(QWEN)
    monkeypatch.setattr(
        models,
        "status",
        lambda name: replace(found, name=name, state="fetched" if name == MINILM else "missing"),
    )
    result = run("ask", QUESTION)
    first = result.stdout.splitlines()[0]
    assert first.startswith("extractive with no model, ")
    assert first.endswith(f"the weights of {QWEN} are not here (cookbook models fetch {QWEN})")
    assert result.exit_code == 0


def test_a_system_asked_for_by_name_is_never_swapped(no_weights):
    line = refused(run("ask", QUESTION, "--system", "vanilla"), "vanilla needs a model", "PROVIDER=replay")
    assert f"cookbook models fetch {QWEN}" in line


def test_ask_without_any_weights_replays_the_vectors_and_says_so(no_weights):
    result = run("ask", "How much does the starter plan cost per month?", "--json")
    assert "replay of recorded vectors" in result.stderr
    assert f"nor are those of {MINILM}, so only recorded questions can be asked" in result.stderr
    found = json.loads(result.stdout)
    assert (found["status"], found["reason"]) == ("refused", "no_relevant_passage")


def test_ask_without_any_weights_names_what_it_lacks(no_weights):
    result = run("ask", "Was this ever recorded?")
    assert result.exit_code == 2
    assert f"cookbook models fetch {MINILM}" in result.stderr
    assert len(result.stderr.splitlines()) == 1


# ---------------------------------------------------------------- ask, going wrong


@pytest.mark.parametrize("question", ["", "  \n "])
def test_an_empty_question(question: str):
    refused(run("ask", question), "the question is empty; write one between quotes")


def test_an_unknown_corpus(writer):
    refused(run("ask", QUESTION, "--corpus", "nowhere"), "'nowhere'", "larkspur")


def test_an_unknown_system(writer):
    refused(run("ask", QUESTION, "--system", "magic"), "'magic'", "handbook_graph")


def test_a_bad_provider(monkeypatch):
    monkeypatch.setenv("PROVIDER", "opnai")
    refused(run("ask", QUESTION), "'opnai'", "known: replay, local, openai")


def test_a_missing_key(monkeypatch, word_counts):
    monkeypatch.setenv("PROVIDER", "openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = run("ask", QUESTION, "--system", "vanilla", "--path", "nowhere")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: openai/gpt-5.4-mini needs a key: set OPENAI_API_KEY, or PROVIDER=replay which needs none\n"
    )


def test_weights_that_are_broken_are_not_passed_over(no_weights):
    folder = paths.cache_dir() / "models" / QWEN
    folder.mkdir(parents=True)
    (folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf").write_bytes(b"torn")
    refused(run("ask", QUESTION), "has 4 bytes", f"run: cookbook models fetch {QWEN}")


def test_a_corpus_file_that_cannot_be_read(writer, monkeypatch, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "corpus.toml").write_text('subject = "a"\nhand_off = "b"\n')
    (folder / "latin.md").write_bytes("# Pr\xe9cis\n".encode("latin-1"))
    monkeypatch.setattr(paths, "CORPORA", tmp_path)
    refused(run("ask", QUESTION, "--system", "vanilla", "--corpus", "broken"), "latin.md", "UTF-8")


def test_a_miss_in_the_recordings(monkeypatch, word_counts, tmp_path):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    monkeypatch.setenv("PROVIDER", "replay")
    result = run("ask", QUESTION, "--system", "vanilla")
    assert result.exit_code == 2
    assert "no recording of local/" in result.stderr
    assert f"PROVIDER=local/{QWEN}" in result.stderr


def test_nonsense_options_are_usage_errors():
    for arguments in (["ask", QUESTION, "--k", "0"], ["ask"], ["nothing"], ["ask", QUESTION, "--nothing"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "Error: " in result.stderr
        assert "Traceback" not in result.stderr


def broken(error: BaseException):
    def body(*_: object, **__: object) -> None:
        raise error

    return body


def test_an_unexpected_error_is_a_line_that_says_how_to_see_more(monkeypatch, writer):
    monkeypatch.setattr("cookbook.systems.build", broken(RuntimeError("what\nwas that")))
    result = run("ask", QUESTION)
    assert result.exit_code == 1
    assert result.stderr == (
        "error: RuntimeError: what was that; run again with COOKBOOK_DEBUG=1 for the traceback\n"
    )
    monkeypatch.setenv("COOKBOOK_DEBUG", "1")
    assert isinstance(run("ask", QUESTION).exception, RuntimeError)


def test_ctrl_c_is_quiet(monkeypatch, writer):
    monkeypatch.setattr("cookbook.systems.build", broken(KeyboardInterrupt()))
    result = run("ask", QUESTION)
    assert (result.exit_code, result.stderr) == (130, "stopped\n")


# ---------------------------------------------------------------- models, systems


def test_models_list(no_weights):
    result = run("models", "list")
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()[2:-2]] == [
        [MINILM, "92", "missing"],
        [QWEN, "1,117", "missing"],
        ["smollm2-135m", "98", "missing"],
    ]
    found = json.loads(run("models", "list", "--json").stdout)
    assert found[1]["bytes"] == 1117320768
    assert {model["state"] for model in found} == {"missing"}


def test_models_list_says_what_is_broken(no_weights):
    folder = paths.cache_dir() / "models" / MINILM
    folder.mkdir(parents=True)
    assert (
        f"config.json has 0 bytes, not the published 612; run: cookbook models fetch {MINILM}"
        in run("models", "list").stdout
    )


def test_models_fetch(monkeypatch, tmp_path):
    asked: list[tuple[object, ...]] = []

    def fetch(name, *, from_dir=None):
        asked.append((name, from_dir))
        print("a progress bar")
        return tmp_path / name

    monkeypatch.setattr(models, "fetch", fetch)
    result = run("models", "fetch", MINILM, "--from", str(tmp_path))
    assert result.stdout.splitlines()[1:] == [f"{MINILM} is complete and verified: {tmp_path / MINILM}"]
    assert json.loads(run("models", "fetch", MINILM, "--json").stdout) == {
        "name": MINILM,
        "path": str(tmp_path / MINILM),
    }
    assert asked == [(MINILM, tmp_path), (MINILM, None)]


def test_models_fetch_from_a_folder_without_them(no_weights, tmp_path):
    result = run("models", "fetch", MINILM, "--from", str(tmp_path), "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    error = result.stderr.splitlines()[-1]
    assert error.startswith(f"error: could not get {MINILM}")
    assert error.endswith(f"run: cookbook models fetch {MINILM} --from DIR")


def test_models_of_unknown_name():
    for action in ("fetch", "verify"):
        refused(run("models", action, "gpt-7"), "'gpt-7'", MINILM)


def test_models_verify(monkeypatch, no_weights):
    assert "no weights are fetched" in run("models", "verify").stdout
    assert json.loads(run("models", "verify", "--json").stdout) == []
    statuses = [models.Status(name, 1, "fetched", Path("here")) for name in (MINILM, QWEN)]
    monkeypatch.setattr(models, "statuses", lambda: statuses)

    def verify(name: str) -> Path:
        if name == QWEN:
            raise WeightsError("another SHA-256")
        return Path("here")

    monkeypatch.setattr(models, "verify", verify)
    result = run("models", "verify")
    assert result.stdout == f"OK    {MINILM}: here\nFAIL  {QWEN}: another SHA-256\n"
    assert result.exit_code == 1
    assert run("models", "verify", MINILM).exit_code == 0
    assert [found["ok"] for found in json.loads(run("models", "verify", "--json").stdout)] == [True, False]


def test_systems():
    first, *lines = run("systems").stdout.splitlines()
    assert first.split() == ["calls", "at", "most,", "with", "k", "=", "5"]
    assert [line.split()[0] for line in lines] == list(REGISTRY)
    found = json.loads(run("systems", "--json").stdout)
    assert [system["name"] for system in found if not system["needs_model"]] == [
        "extractive",
        "token_selfrag",
    ]
    graph = next(system for system in found if system["name"] == "handbook_graph")
    assert (graph["most_calls"], graph["supersteps"]) == (31, 23)
    (larger,) = (
        s for s in json.loads(run("systems", "--json", "--k", "8").stdout) if s["name"] == graph["name"]
    )
    assert larger["most_calls"] == 40


# ---------------------------------------------------------------- doctor


def test_doctor_prints_a_line_for_each_check(monkeypatch):
    checks = [Check("python", True, "3.12"), Check("key", False, "not set", "set it")]
    monkeypatch.setattr(doctor, "examine", lambda full: checks)
    result = run("doctor")
    assert result.stdout == "OK    python: 3.12\nFAIL  key: not set\n      -> set it\n1 of 2 checks failed\n"
    assert result.exit_code == 1
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)[1] == {"name": "key", "ok": False, "detail": "not set", "fix": "set it"}
    monkeypatch.setattr(doctor, "examine", lambda full: checks[:1])
    assert (run("doctor").exit_code, run("doctor", "--json").exit_code) == (0, 0)


# ---------------------------------------------------------------- notebooks


@pytest.fixture
def two_notebooks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two notebooks without code, in a folder of their own."""
    import nbformat.v4 as v4

    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    (tmp_path / "labs").mkdir()
    for name, title in (("00_start.ipynb", "Start"), ("labs/stuck.ipynb", "Stuck")):
        cell = v4.new_markdown_cell(f"# {title}\n\n15 min")
        notebooks.write(v4.new_notebook(cells=[cell]), tmp_path / name)
    return tmp_path


def test_notebooks_list(two_notebooks):
    found = json.loads(run("notebooks", "list", "--json").stdout)
    assert found == [
        {"notebook": "00_start.ipynb", "title": "Start", "minutes": 15},
        {"notebook": "labs/stuck.ipynb", "title": "Stuck", "minutes": 15},
    ]
    assert "labs/stuck.ipynb" in run("notebooks", "list").stdout


def test_notebooks_render_takes_names_with_or_without_suffix(two_notebooks, monkeypatch):
    monkeypatch.setattr(notebooks, "render", lambda chosen: iter(list(chosen)))
    result = run("notebooks", "render", "labs/stuck", "--json")
    assert json.loads(result.stdout) == ["labs/stuck.ipynb"]
    assert result.stderr == "rendered labs/stuck.ipynb\n"
    assert json.loads(run("notebooks", "render", "--json").stdout) == ["00_start.ipynb", "labs/stuck.ipynb"]
    refused(run("notebooks", "render", "99_missing"), "99_missing.ipynb", "cookbook notebooks list")


def test_notebooks_check_runs_copies_or_takes_executed_ones(two_notebooks, monkeypatch, tmp_path):
    ran: list[Path] = []
    monkeypatch.setattr(notebooks, "execute", lambda notebook, path, **_: ran.append(path))
    result = run("notebooks", "check", "--json")
    assert json.loads(result.stdout) == {
        "notebooks": ["00_start.ipynb", "labs/stuck.ipynb"],
        "differences": [],
    }
    assert result.exit_code == 0
    assert ran == [two_notebooks / "00_start.ipynb", two_notebooks / "labs/stuck.ipynb"]

    monkeypatch.setattr(notebooks, "check", lambda chosen, executed: [f"differs from {executed}"])
    result = run("notebooks", "check", "00_start", "--executed", str(tmp_path))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"differs from {tmp_path}",
        "1 notebooks compared, 1 cells differ from what is committed",
    ]
    assert len(ran) == 2


# ---------------------------------------------------------------- record


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments", [[], ["--notebook", "a", "--set", "b"]])
def test_record_wants_one_thing(arguments):
    refused(run("record", *arguments), "say what to record")


def test_record_a_set_wants_systems(recordings):
    refused(run("record", "--set", "larkspur"), "--systems vanilla,handbook_graph")
    refused(run("record", "--set", "nowhere", "--systems", "vanilla"), "'nowhere'", "larkspur")
    refused(run("record", "--set", "larkspur", "--systems", "magic"), "'magic'")


def test_record_does_not_record_a_replay(recordings, word_counts, monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay")
    result = run("record", "--set", "larkspur", "--systems", "vanilla", "--rows", "1")
    assert result.exit_code == 2
    assert "set PROVIDER to a live model such as local" in result.stderr


def test_record_a_set_keeps_every_reply_and_goes_on_where_it_stopped(
    recordings, word_counts, monkeypatch, provider
):
    monkeypatch.setenv("PROVIDER", "openai/m")
    arguments = ("record", "--set", "larkspur", "--systems", "vanilla", "--rows", "2", "--json")
    result = run(*arguments)
    assert json.loads(result.stdout) == {"file": "recordings/larkspur.jsonl", "new": 2, "entries": 2}
    assert len((recordings / "larkspur.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    assert json.loads(run(*arguments).stdout) == {"file": "recordings/larkspur.jsonl", "new": 0, "entries": 2}
    assert len(provider.requests) == 2
    assert "COOKBOOK_RECORD" not in os.environ


def test_record_takes_a_row_through_every_system_and_the_kinds_in_turn(
    recordings, word_counts, monkeypatch, provider
):
    monkeypatch.setenv("PROVIDER", "openai/m")
    run("record", "--set", "larkspur", "--systems", "closed_book,vanilla", "--rows", "3")
    asked = [request["messages"][-1]["content"] for request in provider.requests]
    wanted = [row.question for row in in_turn(load_eval_set("larkspur"))[:3] for _ in range(2)]
    assert all(question in prompt for question, prompt in zip(wanted, asked, strict=True))
    assert ["passage" in prompt for prompt in asked] == [False, True] * 3


def test_record_goes_on_after_a_request_that_broke_and_asks_it_again_the_next_time(
    recordings, word_counts, monkeypatch, provider
):
    monkeypatch.setenv("PROVIDER", "openai/m")
    provider.replies = [completion("First."), 401, completion("Third.")]
    arguments = ("record", "--set", "larkspur", "--systems", "vanilla", "--rows", "3")
    result = run(*arguments)
    broken = in_turn(load_eval_set("larkspur"))[1]
    assert result.exit_code == 0
    assert result.stderr.startswith(f"vanilla failed on {broken.id}: ")
    assert result.stdout == "2 new replies in recordings/larkspur.jsonl, 2 recorded in all\n"
    assert run(*arguments).stdout == "1 new replies in recordings/larkspur.jsonl, 3 recorded in all\n"
    assert broken.question in provider.requests[-1]["messages"][-1]["content"]


def test_record_is_killed_and_goes_on(recordings, word_counts, monkeypatch, provider):
    """What is on the disk after the second reply, its line torn in the middle, is what a killed run leaves."""
    monkeypatch.setenv("PROVIDER", "openai/m")
    arguments = ("record", "--set", "larkspur", "--systems", "vanilla", "--rows", "2")
    run(*arguments)
    file = recordings / "larkspur.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    replay._open.cache_clear()  # a new process reads the folder anew
    run(*arguments)
    assert len(provider.requests) == 3
    assert provider.requests[1] == provider.requests[2]
    assert len(file.read_bytes().splitlines()) == 2


def test_record_a_notebook_on_a_live_model_under_its_own_name(two_notebooks, recordings, monkeypatch):
    seen: list[tuple[str, str, str]] = []

    def execute(notebook, path, **_):
        seen.append((path.name, os.environ["COOKBOOK_RECORD"], os.environ["PROVIDER"]))

    monkeypatch.setattr(notebooks, "execute", execute)
    result = run("record", "--notebook", "labs/stuck.ipynb")
    assert seen == [("stuck.ipynb", "stuck", "local")]
    assert result.stdout == "0 new replies in recordings/stuck.jsonl, 0 recorded in all\n"


@pytest.mark.parametrize(("wrong", "code"), [(1, 0), (2, 1)])
def test_record_verify_fails_below_95_of_100(wrong: int, code: int, monkeypatch):
    differences = tuple(Difference(f"{n:064}", "yes", "no") for n in range(wrong))
    monkeypatch.setattr(recording, "verify", lambda n: Agreement(20, differences))
    result = run("record", "--verify", "20")
    assert result.exit_code == code
    lines = result.stdout.splitlines()
    assert lines[0] == f"{20 - wrong} of 20 recorded replies came back the same"
    assert lines[1] == "  000000000000: recorded 'yes', now 'no'"
    found = json.loads(run("record", "--verify", "20", "--json").stdout)
    assert (found["verified"], len(found["differences"])) == (20, wrong)
    assert found["recorded_by_another_build"] == []


def test_the_calls_asked_again_can_set_the_clock(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    replies = tuple(
        Reply("", "stop", 100 * n, n * n, "openai/m", 1.0 * n + 0.1 * n * n) for n in range(1, 13)
    )
    monkeypatch.setattr(recording, "verify", lambda n: Agreement(n, (), replies=replies))
    monkeypatch.setattr(recording, "machine", lambda: "a desk, 2 cores")
    said = run("record", "--verify", "12", "--clock").stdout.splitlines()[1]
    assert said == (
        "a desk, 2 cores, 10 ms a prompt token and 100 ms a reply token; off by 0% in the middle; "
        "kept in recordings/clock.json"
    )
    assert clock_of("openai/m", tmp_path).replies == 12
    refused(run("record", "--set", "larkspur", "--systems", "lean", "--clock"), "such as --verify 40")
    refused(run("record", "--clock"), "such as --verify 40")


def test_record_verify_without_recordings(monkeypatch):
    monkeypatch.setattr(recording, "verify", lambda n: Agreement(0, ()))
    refused(run("record", "--verify", "3"), "nothing is recorded yet")


def test_the_environment_is_put_back(monkeypatch):
    monkeypatch.setenv("PROVIDER", "groq")
    with record.environment(PROVIDER="local", COOKBOOK_RECORD="x"):
        assert (os.environ["PROVIDER"], os.environ["COOKBOOK_RECORD"]) == ("local", "x")
    assert os.environ["PROVIDER"] == "groq"
    assert "COOKBOOK_RECORD" not in os.environ


# ---------------------------------------------------------------- bench


def test_bench_keeps_every_request_and_goes_on_from_what_it_kept(
    tmp_path, word_counts, monkeypatch, provider
):
    monkeypatch.setenv("PROVIDER", "openai/m")
    out = tmp_path / "kept.json"
    arguments = ("bench", "--systems", "closed_book,vanilla", "--out", str(out), "--json", "--questions")
    first = json.loads(run(*arguments, "2").stdout)
    assert first == {**json.loads(out.read_text(encoding="utf-8")), "ratios": first["ratios"]}
    assert [(row["system"], row["questions"]) for row in first["ratios"]] == [
        ("closed_book", 2),
        ("vanilla", 2),
    ]
    again = json.loads(run(*arguments, "3").stdout)
    assert again["timings"][:4] == first["timings"]
    assert len(again["timings"]) == 6
    assert len(provider.requests) == 8  # a warm-up each time, two questions of two systems, then one more


def test_bench_goes_on_with_the_same_model_only(tmp_path, word_counts, monkeypatch, provider):
    arguments = (
        "bench",
        "--systems",
        "closed_book,vanilla",
        "--questions",
        "1",
        "--out",
        str(tmp_path / "kept.json"),
    )
    monkeypatch.setenv("PROVIDER", "openai/m")
    assert run(*arguments).exit_code == 0
    asked = len(provider.requests)
    refused(run(*arguments, "--k", "2"), "kept.json was timed with k 5;")
    monkeypatch.setenv("PROVIDER", "openai/n")
    refused(run(*arguments), "kept.json was timed with model 'openai/m';")
    assert len(provider.requests) == asked


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--systems", "vanilla,nope"), "no system called 'nope'"),
        (("--systems", ","), "such as --systems vanilla,lean"),
        (("--out", "/nonexistent/x.json"), "name a file in a folder that exists"),
    ],
)
def test_bench_checks_names_and_paths_before_it_wants_weights(no_weights, wrong, words):
    refused(run("bench", *wrong), words)


def test_bench_wants_a_live_model(monkeypatch):
    monkeypatch.setenv("PROVIDER", "replay")
    refused(run("bench"), "a benchmark needs a live model")


# ---------------------------------------------------------------- demo


class Stub:
    """A system that refuses one question, has no recording of another, and answers the rest."""

    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, question: str) -> Answer:
        if question == "What is 9 plus 10?":
            raise ReplayMiss("no recording")
        trace = Trace(question, self.name, steps=[Step("node", calls=2)], stop_reason="stub")
        if question == demo.REFUSED:
            reason = Reason.NO_RELEVANT_PASSAGE
            return Answer(question, "I looked.", Status.REFUSED, Provenance.NOTHING, trace, reason=reason)
        return Answer(question, "Because.", Status.ANSWERED, Provenance.MODEL_MEMORY, trace)


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch, word_counts: None, no_weights: None) -> None:
    monkeypatch.setattr("cookbook.systems.build", lambda name, parts: Stub(name))


def test_demo_tells_its_story_in_order(stubs):
    result = run("demo", "--no-fetch")
    assert (result.exit_code, result.stderr) == (0, "")
    places = [
        result.stdout.index(text)
        for text in (
            "Index ─",
            "chunks; embedder scripted",
            "Three questions ─",
            "replay of local/qwen2.5-coder-1.5b, ",
            f"> {demo.ANSWERED}",
            f"> {demo.REFUSED}",
            "REFUSED: no_relevant_passage",
            f"> {demo.RESCUED}",
            "live ─",
            f"left out: the weights of {QWEN} are not here",
            "Three systems on the same 95 of 96 questions ─",
            "95 of 95",
        )
    ]
    assert places == sorted(places)


def test_demo_in_json(stubs):
    result = run("demo", "--no-fetch", "--json")
    found = json.loads(result.stdout)
    assert [answer["status"] for answer in found["answers"]] == ["answered", "refused", "answered"]
    assert found["live"] is None
    assert list(found["comparison"]) == ["vanilla", "handbook_graph", "extractive"]
    assert found["comparison"]["vanilla"] == {
        "answerable": {"answered": 70, "refused": 0, "failed": 0},
        "unanswerable": {"answered": 20, "refused": 1, "failed": 0},
        "direct": {"answered": 4, "refused": 0, "failed": 0},
        "right": 0,
        "rows": 95,
        "mean_calls": 2.0,
    }
    assert "Three questions" in result.stderr


def test_demo_goes_on_without_weights(stubs, monkeypatch):
    monkeypatch.setattr(models, "fetch", broken(WeightsError("could not get it (no network)")))
    result = run("demo")
    assert result.exit_code == 0
    for name in (MINILM, QWEN):
        assert f"going on without {name}, on recordings: could not get it (no network)" in result.stdout


def test_demo_asks_live_where_the_model_is(stubs, monkeypatch):
    monkeypatch.setattr("cookbook.cli.demo.local_model_lacks", lambda: "")
    found = json.loads(run("demo", "--no-fetch", "--json").stdout)
    assert found["live"]["question"] == demo.ANSWERED


# ---------------------------------------------------------------- the process


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cookbook.cli", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        timeout=60,
    )


def test_a_real_process_prints_pure_json():
    result = process("systems", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert [system["name"] for system in json.loads(result.stdout)] == list(REGISTRY)


def test_a_real_process_fails_in_one_line():
    result = process("ask", " ")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error: the question is empty; write one between quotes\n"


def test_a_screen_that_knows_ascii_only():
    result = process("models", "list", PYTHONIOENCODING="ascii", COOKBOOK_CACHE="/nowhere/\u00e9t\u00e9")
    assert (result.returncode, result.stderr) == (0, "")
    assert "in /nowhere/?t?/models" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals work in another way there")
def test_ctrl_c_in_a_real_process():
    code = (
        "import signal, time, cookbook.systems, cookbook.cli.systems as s, sys;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"  # a job in the background inherits it ignored
        "cookbook.systems.REGISTRY = type('Slow', (dict,), {'items': lambda _: (print('go', flush=True), time.sleep(30))})();"
        "sys.argv = ['cookbook', 'systems', '--json']; from cookbook.cli import main; main()"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    assert running.stderr.readline() == "go\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (130, "", "stopped\n")


def test_help_names_every_command(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["cookbook", "--help"])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 0
    listed = capsys.readouterr().out
    for name in ("ask", "demo", "doctor", "models", "notebooks", "record", "systems"):
        assert f"\n  {name} " in listed
