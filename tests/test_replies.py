"""The store of replies: fast to open, tolerant of a torn end, safe for two writers."""

import json
import multiprocessing
from pathlib import Path

import pytest

from cookbook.errors import ConfigError
from cookbook.providers.call import Call, Reply, call_of, reply_of, to_entry
from cookbook.providers.replies import ReplyStore

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}


def make(text: str, **changes) -> tuple[Call, dict]:
    call = Call("local/m", ({"role": "user", "content": text},), **{"max_tokens": 5, **changes})
    reply = Reply(
        text.upper(), "stop", 3, 2, "local/m", seconds=1.23456, cost=0.0, top_logprobs={"Ÿes": -0.1}
    )
    return call, to_entry(call, reply)


def test_an_entry_gives_back_the_call_and_the_reply():
    call, entry = make("Zürich\nÿ", schema=SCHEMA, logprobs=4, temperature=0.5, seed=7)
    again = json.loads(json.dumps(entry))
    assert call_of(again) == call
    assert call_of(again).key == entry["key"] == call.key
    assert reply_of(again) == Reply(
        "ZÜRICH\nŸ", "stop", 3, 2, "local/m", seconds=1.235, top_logprobs={"Ÿes": -0.1}
    )


def test_the_key_covers_everything_that_affects_the_output():
    changes = [
        {},
        {"max_tokens": 6},
        {"temperature": 1.0},
        {"seed": 1},
        {"logprobs": 3},
        {"schema": SCHEMA},
        {"schema": {"type": "object"}},
    ]
    calls = [make("a", **change)[0] for change in changes]
    calls += [make("b")[0], Call("local/other", calls[0].messages, 5)]
    calls += [Call("local/m", ({"role": "system", "content": "a"},), 5)]
    assert len({call.key for call in calls}) == len(calls)
    assert make("a")[0].key == make("a")[0].key


def test_what_is_appended_is_found_again_by_this_and_by_a_new_store(tmp_path):
    store = ReplyStore(tmp_path)
    entries = [make(text)[1] for text in ("a", "b", "c")]
    for entry in entries:
        store.append("one", entry)
    store.append("two", entries[0])  # known already: not written again
    assert not (tmp_path / "two.jsonl").exists()
    assert list(store) == list(ReplyStore(tmp_path)) == entries
    assert store.get(entries[1]["key"]) == entries[1]
    assert store.get("0" * 64) is None


def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path):
    first, second, third = (make(text)[1] for text in ("a", "b", "c"))
    store = ReplyStore(tmp_path)
    store.append("one", first)
    store.append("one", second)
    path = tmp_path / "one.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    torn = ReplyStore(tmp_path)
    assert list(torn) == [first]
    torn.append("one", third)
    assert list(ReplyStore(tmp_path)) == [first, third]


def test_entries_of_another_process_are_seen(tmp_path):
    mine, theirs = ReplyStore(tmp_path), ReplyStore(tmp_path)
    entry = make("a")[1]
    theirs.append("one", entry)
    assert mine.get(entry["key"]) == entry


def test_a_foreign_line_is_named(tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"question": "?"}\n')
    with pytest.raises(ConfigError, match=r"odd\.jsonl"):
        ReplyStore(tmp_path)


def _write(folder: Path, start: int) -> None:
    store = ReplyStore(folder)
    for n in range(start, start + 40):
        store.append("shared", make(f"prompt {n} " + "x" * 3000)[1])


def test_two_processes_write_one_file_without_a_scratch(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(tmp_path, start)) for start in (0, 20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    lines = (tmp_path / "shared.jsonl").read_text().splitlines()
    prompts = {json.loads(line)["messages"][0]["content"].split()[1] for line in lines}
    assert len(lines) == len(prompts) == 60
