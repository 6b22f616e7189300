"""A question set is only as good as its gold: every quote, code and refusal is checked against the corpus."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from cookbook import paths
from cookbook.chunkers import markdown_sections, sentence_window
from cookbook.corpora import corpus_names, load_corpus, load_eval_questions
from cookbook.errors import ConfigError
from cookbook.eval import EvalRow, GoldQuote, eval_set_names, load_eval_set
from cookbook.eval.sets import Kind
from cookbook.schema import Chunk

OURS = [name for name in eval_set_names() if name in corpus_names()]
COUNTS = {  # kind: (rows to fit on, rows to report)
    "answerable": (13, 21),
    "two_section": (5, 7),
    "exact_code": (3, 5),
    "negation": (3, 5),
    "false_premise": (3, 5),
    "unanswerable_near": (6, 10),
    "off_topic": (4, 6),
}
LARKSPUR = load_eval_set("larkspur")
ANSWERED = [row for row in LARKSPUR if row.behaviour == "answer"]
SECTIONS = markdown_sections(load_corpus("larkspur"))


def ids(rows: list[EvalRow]) -> dict[str, Any]:
    return {"argvalues": rows, "ids": [row.id for row in rows]}


def gold_sections(row: EvalRow) -> set[str]:
    return {c.chunk_id for gold in row.gold for c in SECTIONS if gold.stands_in(c)}


# ---------------------------------------------------------------- the loader


def line(**changes: Any) -> str:
    row = {
        "id": "small-1",
        "question": "How many?",
        "answer": "2 of them.",
        "kind": "answerable",
        "behaviour": "answer",
        "gold": [{"file": "a.md", "quote": "There are 2 of them."}],
        "variants": ["2"],
        "split": "fit",
    }
    return json.dumps({key: value for key, value in (row | changes).items() if value is not None})


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An eval set called "small" with one good row."""
    monkeypatch.setattr(paths, "EVAL_SETS", tmp_path)
    path = tmp_path / "small.jsonl"
    path.write_text(line() + "\n", encoding="utf-8")
    return path


def test_a_row_carries_the_name_of_its_corpus(small: Path) -> None:
    expected = EvalRow(
        id="small-1",
        question="How many?",
        answer="2 of them.",
        kind="answerable",
        behaviour="answer",
        gold=(GoldQuote("a.md", "There are 2 of them."),),
        variants=("2",),
        split="fit",
        corpus="small",
    )
    assert load_eval_set("small") == [expected]


def test_a_line_separator_inside_a_question_is_no_end_of_line(small: Path) -> None:
    small.write_text(
        json.dumps(json.loads(line(question="one\u2028two")), ensure_ascii=False), encoding="utf-8"
    )
    assert [row.question for row in load_eval_set("small")] == ["one\u2028two"]


def test_an_unknown_set_is_refused_with_the_known_ones(small: Path) -> None:
    with pytest.raises(ConfigError, match=r"no eval set 'large'; choose one of: small$"):
        load_eval_set("large")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("{", "Invalid JSON"),
        ("", "Invalid JSON"),
        ("[]", "an object"),
        (line(question=None), "question: Field required"),
        (line(gold=None), "gold: Field required"),
        (line(question="  "), "the question is empty"),
        (line(kind="hard"), "kind: Input should be 'answerable'"),
        (line(behaviour="guess"), "behaviour: Input should be"),
        (line(split="test"), "split: Input should be"),
        (line(variants="2"), "variants: Input should be a valid array"),
        (line(gold=[{"file": "a.md"}]), "gold.0.quote: Field required"),
        (line(gold=[]), "gold quotes belong to behaviour"),
        (line(behaviour="refuse"), "gold quotes belong to behaviour"),
        (line(kind="two_section"), "a gold quote from each section"),
        (line(hint="x"), "hint: Unexpected"),
    ],
)
def test_a_slip_names_file_line_and_field(small: Path, bad: str, says: str) -> None:
    small.write_text(f"{line()}\n{bad}\n{line()}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_eval_set("small")
    assert str(caught.value).startswith("mend small.jsonl, line 2, ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_published_rows_have_question_answer_and_corpus() -> None:
    rows = load_eval_questions()
    assert {row.corpus for row in rows} == set(eval_set_names())
    assert all(row.question and row.answer for row in rows)
    assert load_eval_questions("larkspur") == LARKSPUR


# ---------------------------------------------------------------- what "states" means


@pytest.mark.parametrize(
    ("facts", "text", "stated"),
    [
        ((("30 days", "thirty days"), ("owner",)), "The OWNER has thirty days.", True),
        ((("30 days", "thirty days"), ("owner",)), "You have 30 days.", False),
        ((("30-day",),), "a 30 day window", True),
        ((("30 days",),), "130 days", False),
        ((("5 days",),), "1.5 days", False),
        ((("20,000",),), "20000 rows", True),
        ((("20,000",),), "20 rows", False),
        ((("no",),), "I do not know", False),
        ((("retry-after",),), "See `Retry-After`.", True),
        ((("LK-504",),), "error lk-504!", True),
        ((("LK-504",),), "LK-5041", False),
        ((), "anything", False),
    ],
)
def test_states_wants_every_fact_as_whole_words(facts: Any, text: str, stated: bool) -> None:
    row = EvalRow("x", "q?", "a", "off_topic", "direct", (), (), "fit", facts=facts)
    assert row.states(text) is stated


# ---------------------------------------------------------------- every set over a corpus of ours


@pytest.mark.parametrize("name", OURS)
def test_ids_and_questions_are_unique(name: str) -> None:
    rows = load_eval_set(name)
    assert len({row.id for row in rows}) == len(rows)
    assert len({row.question.casefold() for row in rows}) == len(rows)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("chunker", [markdown_sections, sentence_window])
def test_every_gold_quote_stands_whole_in_a_chunk(name: str, chunker: Any) -> None:
    chunks: list[Chunk] = chunker(load_corpus(name))
    golds = [(row.id, gold) for row in load_eval_set(name) for gold in row.gold]
    lost = [(id_, gold) for id_, gold in golds if not any(gold.stands_in(chunk) for chunk in chunks)]
    assert lost == []


@pytest.mark.parametrize("name", OURS)
def test_nothing_in_the_corpus_answers_what_should_be_refused(name: str) -> None:
    docs = load_corpus(name)
    refused = [row for row in load_eval_set(name) if row.behaviour == "refuse"]
    assert [row.id for row in refused if not row.absent] == []
    found = [
        (row.id, doc.doc_id, hit.group())
        for row in refused
        for pattern in row.absent
        for doc in docs
        for hit in re.finditer(pattern, doc.text, re.IGNORECASE)
    ]
    assert found == []


# ---------------------------------------------------------------- Larkspur


def test_every_kind_has_its_rows_in_both_splits() -> None:
    assert set(COUNTS) == set(get_args(Kind))
    counted = Counter((row.kind, row.split) for row in LARKSPUR)
    assert {kind: (counted[kind, "fit"], counted[kind, "report"]) for kind in COUNTS} == COUNTS
    assert sum(map(sum, COUNTS.values())) == len(LARKSPUR) == 96


def test_behaviours_follow_the_kind() -> None:
    seen = {(row.kind, row.behaviour) for row in LARKSPUR}
    answered = {(kind, "answer") for kind in COUNTS if kind not in ("unanswerable_near", "off_topic")}
    assert seen == answered | {
        ("unanswerable_near", "refuse"),
        ("off_topic", "refuse"),
        ("off_topic", "direct"),
    }
    # Both halves of off_topic are in both splits: a gate must be fitted and judged on each.
    assert len({(row.split, row.behaviour) for row in LARKSPUR if row.kind == "off_topic"}) == 4


@pytest.mark.parametrize(
    ("question", "kind", "behaviour"),
    [
        ("Can I export my data after I cancel my plan?", "two_section", "answer"),
        ("How much does the starter plan cost per month?", "unanswerable_near", "refuse"),
        ("What is 9 plus 10?", "off_topic", "direct"),
        ("What does LK-504 on /v1/sync mean, and how do I get past it?", "exact_code", "answer"),
    ],
)
def test_the_running_questions_are_in_the_set(question: str, kind: str, behaviour: str) -> None:
    assert [(r.kind, r.behaviour) for r in LARKSPUR if r.question == question] == [(kind, behaviour)]


def test_colloquial_questions_are_in_both_splits() -> None:
    splits = Counter(row.split for row in LARKSPUR if "colloquial" in row.tags)
    assert splits == {"fit": 5, "report": 10}


@pytest.mark.parametrize("row", **ids(ANSWERED))
def test_gold_lies_in_one_section_or_in_two(row: EvalRow) -> None:
    for gold in row.gold:
        assert len([c for c in SECTIONS if gold.stands_in(c)]) == 1, gold
    assert len(gold_sections(row)) == (2 if row.kind == "two_section" else 1)


@pytest.mark.parametrize("row", **ids([row for row in ANSWERED if row.kind == "two_section"]))
def test_the_gold_of_one_section_is_half_an_answer(row: EvalRow) -> None:
    halves = [
        " ".join(gold.quote for gold in row.gold if gold.stands_in(c))
        for c in SECTIONS
        if c.chunk_id in gold_sections(row)
    ]
    # The opening question is lopsided on purpose: the way to export without the window of 30 days
    # misleads, the window without the way to export only leaves a reader searching.
    assert [row.states(half) for half in halves].count(True) == ("opening" in row.tags)


@pytest.mark.parametrize("row", **ids(ANSWERED))
def test_every_number_of_the_answer_stands_in_its_gold(row: EvalRow) -> None:
    numbers = re.compile(r"\d[\d,.:]*\d|\d")
    said = set(numbers.findall(" ".join(gold.quote for gold in row.gold)))
    assert set(numbers.findall(row.answer)) <= said


@pytest.mark.parametrize("row", **ids([row for row in LARKSPUR if row.behaviour != "refuse"]))
def test_facts_accept_what_is_right_and_not_the_question(row: EvalRow) -> None:
    assert row.states(row.answer)
    assert [variant for variant in row.variants if not row.states(variant)] == []
    assert not row.states(row.question)
    if row.gold:
        assert row.states(" ".join(gold.quote for gold in row.gold))


def test_refusals_share_one_reference_answer() -> None:
    refused = [row for row in LARKSPUR if row.behaviour == "refuse"]
    assert {row.answer for row in refused} == {"The handbook does not say."}
    assert not any(row.facts or row.variants for row in refused)


def test_exact_codes_of_the_questions_stand_in_their_gold() -> None:
    rows = [row for row in LARKSPUR if row.kind == "exact_code"]
    for row in rows:
        for code in re.findall(r"LK-\d{3}", row.question):
            text = " ".join(c.text for c in SECTIONS if c.chunk_id in gold_sections(row))
            assert code in text, row.id
    assert all(re.search(r"LK-\d{3}", row.question) for row in rows)
