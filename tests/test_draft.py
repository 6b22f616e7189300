"""Drafted rows: kept when their quote stands in the passage, marked as unread, refused until somebody read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cookbook.cli import app
from cookbook.corpora import CorpusCard
from cookbook.embedders import HashEmbedder
from cookbook.errors import ConfigError, ProviderUnavailable
from cookbook.eval import load_eval_file
from cookbook.eval.draft import draft
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.schema import Chunk

CARD = CorpusCard("the documents in garden", "", ())
FILLER = "The garden lies by the river. " * 12
WATER = f"The rain tank holds 4,000 litres.\nA full tank lasts\nnine days without rain. {FILLER}"
HENS = f"Hens are not allowed, because the foxes come for them. {FILLER}"


def chunk(text: str, name: str = "a.md", n: int = 0) -> Chunk:
    return Chunk(f"{name}#{n}", name, text, 0, len(text))


def reply(quote: str, question: str = "How long does a full tank last?", answer: str = "Nine days.") -> str:
    return json.dumps({"quote": quote, "question": question, "answer": answer})


def model(**replies: str) -> LLMClient:
    """A model that replies by a word of the passage."""
    return LLMClient(scripted_table(replies))


def test_a_row_carries_the_words_that_state_it_verbatim():
    client = model(tank=reply("A full tank lasts nine days without rain."))
    drafts = draft([chunk(WATER)], client, CARD, n=5)
    [row] = drafts.rows
    assert (row.question, row.answer, row.reviewed) == (
        "How long does a full tank last?",
        "Nine days.",
        False,
    )
    assert (row.kind, row.behaviour, row.tags) == ("answerable", "answer", ("from a.md#0",))
    [gold] = row.gold
    assert gold.quote == "A full tank lasts\nnine days without rain."  # with the line end of the passage
    assert gold.stands_in(chunk(WATER))
    assert drafts.dropped == {}


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ("Nine days.", (("Nine days",),)),
        ("A full tank lasts the gardens nine days, or 20 working days in winter.", (("nine days",), ("20 working days",))),
        ("After 30 days it lasts for another £45 (or 45 pounds), they say.", (("£45",),)),  # one amount, and one asked
        ("The tank behind the shed holds 4,000 litres of rain.", ()),  # what it counts may be said otherwise
        ("The foxes come for them in the night, always.", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_facts_are_proposed_where_they_need_no_guess(answer, facts):
    said = reply("A full tank lasts nine days without rain.", "How long after 30 days?", answer)
    drafts = draft([chunk(WATER)], model(tank=said), CARD, n=1)
    assert drafts.rows[0].facts == facts
    assert json.loads(drafts.lines()[0])["facts"] == [list(fact) for fact in facts]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (reply("A full tank lasts eleven days."), "these words do not stand in the passage: A full tank lasts eleven"),
        (reply("The rain tank"), "these words do not stand in the passage: The rain tank"),
        (reply("The rain tank holds 4,000 litres.", "Tell me of the tank."), "no question: Tell me of the tank."),
        ("no JSON at all", "scripted/"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_hold_is_dropped_with_its_reason(said, why):
    drafts = draft([chunk(WATER)], model(tank=said), CARD, n=5)
    assert drafts.rows == []
    assert drafts.dropped["a.md#0"].startswith(why)


def test_rows_are_spread_over_the_documents_and_no_question_comes_twice():
    chunks = [chunk(WATER, "a.md", n) for n in range(5)] + [chunk(HENS, "b.md"), chunk("too short", "c.md")]
    client = model(
        tank=reply("The rain tank holds 4,000 litres."),
        foxes=reply("Hens are not allowed, because the foxes come for them.", "Are hens allowed?", "No."),
    )
    drafts = draft(chunks, client, CARD, n=2)
    assert {row.gold[0].file for row in drafts.rows} == {"a.md", "b.md"}
    assert [row.id for row in drafts.rows] == ["draft-001", "draft-002"]
    assert {row.split for row in drafts.rows} == {"fit", "report"}
    told: list[str] = []
    more = draft(chunks, client, CARD, n=3, done=told.append)
    assert told == [row.question for row in more.rows]
    assert list(more.dropped.values()) == ["the question was asked before"] * 4
    assert (
        draft(chunks, client, CARD, n=2, seed=1).lines() == draft(chunks, client, CARD, n=2, seed=1).lines()
    )


def test_a_model_that_never_manages_is_asked_a_limited_number_of_times():
    chunks = [chunk(WATER, "a.md", n) for n in range(50)]
    assert len(draft(chunks, model(tank="nonsense"), CARD, n=2).dropped) == 6


def test_a_model_that_is_down_is_no_bad_draft():
    with pytest.raises(ProviderUnavailable):
        draft([chunk(WATER)], LLMClient("scripted/unavailable", max_retries=0), CARD, n=2)


# ---------------------------------------------------------------- reading them back


def drafted(path: Path, n: int = 2) -> Path:
    client = model(
        tank=reply("The rain tank holds 4,000 litres."),
        foxes=reply("Hens are not allowed, because the foxes come for them.", "Are hens allowed?", "No."),
    )
    lines = draft([chunk(WATER), chunk(HENS, "b.md")], client, CARD, n=n).lines()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_drafts_are_refused_until_somebody_has_read_them(tmp_path):
    path = drafted(tmp_path / "garden.jsonl")
    with pytest.raises(ConfigError) as caught:
        load_eval_file(path)
    assert str(caught.value) == (
        "2 of 2 rows of garden.jsonl are unreviewed drafts, draft-001 the first: read each, mend or delete it, and "
        'set "reviewed": true; or pass --unreviewed (allow_unreviewed=True) to look at them'
    )
    rows = load_eval_file(path, allow_unreviewed=True)
    assert [(row.reviewed, row.corpus) for row in rows] == [(False, "garden")] * 2
    path.write_text(path.read_text().replace('"reviewed": false', '"reviewed": true'))
    assert [row.reviewed for row in load_eval_file(path)] == [True, True]


def test_the_command_writes_rows_and_never_over_reviews(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PROVIDER", scripted_table({"tank": reply("The rain tank holds 4,000 litres.")}))
    (tmp_path / "garden").mkdir()
    (tmp_path / "garden" / "water.md").write_text(WATER, encoding="utf-8")
    command = ["evalset", "draft", str(tmp_path / "garden"), "--n", "3", "--embedder", "scripted"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    [line] = result.stdout.splitlines()
    assert json.loads(line)["reviewed"] is False
    assert result.stderr.startswith("1 row drafted by scripted/table_")
    out = tmp_path / "rows.jsonl"
    found = json.loads(CliRunner().invoke(app, [*command, "--out", str(out), "--json"]).stdout)
    assert found == {"rows": ["draft-001"], "dropped": {}, "file": str(out)}
    assert out.read_text(encoding="utf-8") == line + "\n"
    again = CliRunner().invoke(app, [*command, "--out", str(out)])
    assert again.exit_code == 2
    assert again.stderr == f"error: {out} is there already, and may hold your reviews; name another file\n"


def test_the_command_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    result = CliRunner().invoke(app, ["evalset", "draft", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "error: drafting needs a model and the weights of qwen2.5-coder-1.5b are not here"
    )


def test_systems_are_compared_on_reviewed_rows_of_own_documents(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PROVIDER", "scripted/echo")
    (tmp_path / "garden").mkdir()
    (tmp_path / "garden" / "a.md").write_text(WATER, encoding="utf-8")
    (tmp_path / "garden" / "b.md").write_text(HENS, encoding="utf-8")
    monkeypatch.setattr("cookbook.embedders.get_embedder", lambda name: HashEmbedder())
    path = drafted(tmp_path / "rows.jsonl")
    unanswerable = json.loads(path.read_text().splitlines()[0]) | {
        "id": "own-1", "question": "Who sings?", "gold": [], "kind": "off_topic", "behaviour": "refuse", "split": "report",
    }  # fmt: skip
    with path.open("a") as file:
        file.write(json.dumps(unanswerable | {"reviewed": True}) + "\n")
    command = ["compare", "--set", str(path), "--path", str(tmp_path / "garden"), "--systems", "extractive"]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 2
    assert "2 of 3 rows of rows.jsonl are unreviewed drafts" in refused.stderr
    done = CliRunner().invoke(app, [*command, "--unreviewed", "--split", "all", "--json"])
    assert done.exit_code == 0, done.output
    assert "extractive" in done.stdout
