"""A question set is only as good as its gold: every quote, code and refusal is checked against the corpus."""

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from cookbook import paths
from cookbook.chunkers import markdown_sections, sentence_window
from cookbook.corpora import corpus_names, load_corpus, load_eval_questions
from cookbook.errors import ConfigError
from cookbook.eval import EvalRow, GoldQuote, eval_set_names, load_eval_file, load_eval_set
from cookbook.eval.sets import LONGEST, Kind, in_turn, words
from cookbook.schema import Chunk

COUNTS = {  # of each kind: (rows to fit on, rows to report)
    "larkspur": {
        "answerable": (13, 21),
        "two_section": (5, 7),
        "exact_code": (3, 5),
        "negation": (3, 5),
        "false_premise": (3, 5),
        "unanswerable_near": (6, 10),
        "off_topic": (4, 6),
    },
    "rust_notes": {
        "answerable": (11, 17),
        "two_section": (3, 5),
        "exact_code": (2, 4),
        "negation": (2, 4),
        "false_premise": (3, 4),
        "unanswerable_near": (4, 7),
        "off_topic": (2, 4),
    },
    "attention_digest": {
        "answerable": (4, 6),
        "two_section": (1, 2),
        "exact_code": (1, 1),
        "negation": (1, 2),
        "false_premise": (1, 1),
        "unanswerable_near": (2, 2),
        "off_topic": (1, 1),
    },
    "rust-book": {
        "answerable": (2, 4),
        "negation": (0, 1),
        "false_premise": (0, 1),
        "unanswerable_near": (1, 1),
        "off_topic": (1, 1),
    },
}
CODES = {"larkspur": r"LK-\d{3}", "rust_notes": r"E\d{4}", "attention_digest": r"beta2|O\([^)]*\)"}
ROWS = load_eval_questions()
BOOK_IS_HERE = (paths.data_dir() / "rust-book").is_dir()


def each(rows: list[EvalRow]) -> dict[str, Any]:
    """Parametrise over rows; those over the Rust book are skipped where its text is not at hand."""
    return {"argnames": "row", "argvalues": [param(row, row.corpus, row.id) for row in rows]}


def param(value: Any, corpus: str, id_: str) -> Any:
    absent = corpus == "rust-book" and not BOOK_IS_HERE
    return pytest.param(value, id=id_, marks=[pytest.mark.skip("COOKBOOK_DATA holds no rust-book/")] * absent)


EACH_SET: dict[str, Any] = {
    "argnames": "name",
    "argvalues": [param(name, name, name) for name in eval_set_names()],
}


@cache
def sections(corpus: str) -> list[Chunk]:
    return markdown_sections(load_corpus(corpus))


def gold_sections(row: EvalRow) -> dict[str, Chunk]:
    found = [chunk for gold in row.gold for chunk in sections(row.corpus) if gold.stands_in(chunk)]
    return {chunk.chunk_id: chunk for chunk in found}


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
        ("[]", "an object"),
        (line(question=None), "question: Field required"),
        (line(gold=None), "gold: Field required"),
        (line(question="  "), "question: it has no word and no number"),
        (line(id=""), "id: it has no word and no number"),
        (line(id="small-1", question="Who?"), "id: line 1 has the same"),
        (line(id="small-2", question="how  MANY?"), "question: line 1 has the same"),
        (line(facts=[[]]), "facts.0: Tuple should have at least 1 item"),
        (line(facts=[["2"], ["two", " "]]), "facts.1.1: it has no word and no number"),
        (line(facts=[["--"]]), "facts.0.0: it has no word and no number"),  # found in any text
        (line(gold=[{"file": "a.md", "quote": " "}]), "gold.0.quote: it has no word and no number"),
        (line(absent=["(sold"]), "absent.0: it is no regular expression: missing )"),
        (line(kind="off_topic"), 'the behaviour of kind "off_topic" is "refuse" or "direct"'),
        (line(kind="unanswerable_near"), 'the behaviour of kind "unanswerable_near" is "refuse" or "direct"'),
        (line(behaviour="refuse", gold=[]), 'the behaviour of kind "answerable" is "answer"'),
        (line(kind="negation", behaviour="direct", gold=[]), 'the behaviour of kind "negation" is "answer"'),
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
    small.write_text(f"{line()}\n{bad}\n{line(id='small-3', question='Where?')}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_eval_set("small")
    assert str(caught.value).startswith("mend small.jsonl, line 2, ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_blank_lines_and_a_byte_order_mark_are_passed_over_and_lines_counted_with_them(small: Path) -> None:
    rows = [line(), "", "  ", line(id="small-2", question="Who?"), "", ""]
    small.write_text("\n".join(rows), encoding="utf-8-sig")
    assert [row.id for row in load_eval_set("small")] == ["small-1", "small-2"]
    small.write_text("\n".join([*rows, line()]), encoding="utf-8-sig")
    with pytest.raises(ConfigError, match=r"small\.jsonl, line 7, id: line 1 has the same"):
        load_eval_set("small")


def test_a_set_without_rows_and_one_that_is_not_there_are_named(small: Path) -> None:
    small.write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^small\.jsonl has no rows"):
        load_eval_file(small)
    with pytest.raises(ConfigError, match=r"away\.jsonl does not exist"):
        load_eval_file(small.with_name("away.jsonl"))


def test_published_rows_have_question_answer_and_corpus() -> None:
    assert {row.corpus for row in ROWS} == set(eval_set_names()) == set(corpus_names()) == set(COUNTS)
    assert all(row.question and row.answer for row in ROWS)
    assert load_eval_questions("larkspur") == load_eval_set("larkspur")


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
        ((("14 days",),), "It is not 14 days but 30.", False),
        ((("14 days",),), "It isn't 14 days.", False),
        ((("14 days",),), "Not 7 days: 14 days.", True),
        ((("14 days",),), "It is not true that you have 14.5 or 14 days. Ask support.", False),
        ((("14 days",),), "It is wrong to say that it is free; you have 14 days.", True),
        ((("panics",),), "`RefCell<T>` panics.", True),  # its T is no "n't"
        ((("14 days",),), "You have two weeks.", True),  # "two" is read as a number
        ((("14 days",),), "You have 14.0 days.", True),
        ((("14 days",),), "You have 15 days.", False),
        ((("5",),), "It is 6.", False),
        ((("20000",),), "20\u00a0000 rows", True),
        ((("500",),), "10\u00a0500 rows", False),
        ((("500",),), "\uff11\uff10\uff0c\uff15\uff10\uff10 rows", False),  # wide digits and a wide comma
        ((("14 days",),), "14 days " + "and more " * 39, True),
        ((("14 days",),), "14 days " + "and more " * 40, False),  # a passage states everything
        ((), "anything", False),
    ],
)
def test_states_wants_every_fact_as_whole_words(facts: Any, text: str, stated: bool) -> None:
    row = EvalRow("x", "q?", "a", "off_topic", "direct", (), (), "fit", facts=facts)
    assert row.states(text) is stated


def test_without_facts_the_reference_answer_or_a_variant_is_to_be_stated() -> None:
    gold = (GoldQuote("a.md", "You have 14 days."),)
    row = EvalRow("x", "q?", "14 days", "answerable", "answer", gold, ("a fortnight",), "fit")
    assert row.states("It takes 14 days.")
    assert row.states("It takes a fortnight.")
    assert not row.states("It takes a month.")


@pytest.mark.parametrize(
    ("answer", "changes", "said"),
    [
        ("At most two weeks after the day", {}, False),
        ("At most two weeks after it", {}, True),
        ("At most two weeks after the day", {"variants": ("two weeks",)}, True),
        ("At most two weeks after the day", {"facts": (("a fortnight after the day of the order",),)}, True),
        ("", {}, False),
        ("--", {}, False),
    ],
)
def test_a_sentence_is_no_fact(answer: str, changes: Any, said: bool) -> None:
    row = EvalRow("x", "q?", answer, "answerable", "answer", (GoldQuote("a.md", "2"),), (), "fit")
    row = replace(row, **changes)
    assert row.can_be_stated is said
    assert not row.states("anything else")


def test_an_answer_may_be_twice_as_long_as_the_longest_reference_answer_of_our_sets() -> None:
    rows = [row for name in ("larkspur", "rust_notes", "attention_digest") for row in load_eval_set(name)]
    longest = max(len(words(row.answer)) for row in rows)
    assert (longest, longest * 2 < LONGEST) == (36, True)


def test_a_longer_reference_answer_lets_an_answer_be_longer() -> None:
    gold = (GoldQuote("a.md", "It is 5."),)
    row = EvalRow("x", "q?", "word " * 30, "answerable", "answer", gold, (), "fit", facts=(("5",),))
    assert row.states("5 " + "word " * 119)
    assert not row.states("5 " + "word " * 120)


# ---------------------------------------------------------------- every set


@pytest.mark.parametrize("name", COUNTS)
def test_every_kind_has_its_rows_in_both_splits(name: str) -> None:
    counted = Counter((row.kind, row.split) for row in load_eval_set(name))
    assert counted == Counter(
        {
            (kind, split): n
            for kind, both in COUNTS[name].items()
            for split, n in zip(("fit", "report"), both, strict=True)
            if n
        }
    )


@pytest.mark.parametrize("name", COUNTS)
def test_ids_and_questions_are_unique(name: str) -> None:
    rows = load_eval_set(name)
    assert len({row.id for row in rows}) == len(rows)
    assert len({row.question.casefold() for row in rows}) == len(rows)


def test_behaviours_follow_the_kind() -> None:
    fixed = set(get_args(Kind)) - {"unanswerable_near", "off_topic"}
    assert {(row.kind, row.behaviour) for row in ROWS} == {(kind, "answer") for kind in fixed} | {
        ("unanswerable_near", "refuse"),
        ("off_topic", "refuse"),
        ("off_topic", "direct"),
    }


@pytest.mark.parametrize("name", ["larkspur", "rust_notes"])
def test_both_splits_of_a_large_set_have_both_halves_of_off_topic(name: str) -> None:
    """A gate must be fitted and judged on questions it should refuse and on questions it should not."""
    off_topic = [row for row in load_eval_set(name) if row.kind == "off_topic"]
    assert len({(row.split, row.behaviour) for row in off_topic}) == 4


@pytest.mark.parametrize(("name", "counts"), [("larkspur", (5, 10)), ("rust_notes", (3, 6))])
def test_colloquial_questions_are_in_both_splits(name: str, counts: tuple[int, int]) -> None:
    splits = Counter(row.split for row in load_eval_set(name) if "colloquial" in row.tags)
    assert (splits["fit"], splits["report"]) == counts


@pytest.mark.parametrize(
    ("question", "kind", "behaviour"),
    [
        ("Can I export my data after I cancel my plan?", "two_section", "answer"),
        ("How much does the starter plan cost per month?", "unanswerable_near", "refuse"),
        ("What is 9 plus 10?", "off_topic", "direct"),
        ("What does LK-504 on /v1/sync mean, and how do I get past it?", "exact_code", "answer"),
        ("Which optimizer was used for training?", "answerable", "answer"),
        (
            "Which company did the author who proposed replacing recurrence with attention work for?",
            "unanswerable_near",
            "refuse",
        ),
    ],
)
def test_the_running_questions_are_in_the_sets(question: str, kind: str, behaviour: str) -> None:
    assert [(r.kind, r.behaviour) for r in ROWS if r.question == question] == [(kind, behaviour)]


@pytest.mark.parametrize("chunker", [markdown_sections, sentence_window])
@pytest.mark.parametrize(**EACH_SET)
def test_every_gold_quote_stands_whole_in_a_chunk(name: str, chunker: Any) -> None:
    chunks: list[Chunk] = chunker(load_corpus(name))
    golds = [(row.id, gold) for row in load_eval_set(name) for gold in row.gold]
    lost = [(id_, gold) for id_, gold in golds if not any(gold.stands_in(chunk) for chunk in chunks)]
    assert lost == []


@pytest.mark.parametrize(**EACH_SET)
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


@pytest.mark.parametrize("name", COUNTS)
def test_refusals_share_one_reference_answer(name: str) -> None:
    refused = [row for row in load_eval_set(name) if row.behaviour == "refuse"]
    assert len({row.answer for row in refused}) == 1
    assert not any(row.facts or row.variants for row in refused)


# ---------------------------------------------------------------- every row

ANSWERED = [row for row in ROWS if row.behaviour == "answer"]


@pytest.mark.parametrize(**each(ANSWERED))
def test_gold_lies_in_one_section_or_in_two(row: EvalRow) -> None:
    for gold in row.gold:
        assert len([c for c in sections(row.corpus) if gold.stands_in(c)]) == 1, gold
    assert len(gold_sections(row)) == (2 if row.kind == "two_section" else 1)


@pytest.mark.parametrize(**each([row for row in ANSWERED if row.kind == "two_section"]))
def test_the_gold_of_one_section_is_half_an_answer(row: EvalRow) -> None:
    halves = [
        " ".join(gold.quote for gold in row.gold if gold.stands_in(chunk))
        for chunk in gold_sections(row).values()
    ]
    # The opening question is lopsided on purpose: the way to export without the window of 30 days
    # misleads, the window without the way to export only leaves a reader searching.
    assert [row.states(half) for half in halves].count(True) == ("opening" in row.tags)


@pytest.mark.parametrize(**each(ANSWERED))
def test_every_number_of_the_answer_stands_in_its_gold(row: EvalRow) -> None:
    numbers = re.compile(r"\d[\d,.:]*\d|\d")
    said = set(numbers.findall(" ".join(gold.quote for gold in row.gold)))
    assert set(numbers.findall(row.answer)) <= said


@pytest.mark.parametrize(**each([row for row in ROWS if row.behaviour != "refuse"]))
def test_facts_accept_what_is_right_and_not_the_question(row: EvalRow) -> None:
    assert row.states(row.answer)
    assert [variant for variant in row.variants if not row.states(variant)] == []
    assert not row.states(row.question)
    if row.gold:
        assert row.states(" ".join(gold.quote for gold in row.gold))


@pytest.mark.parametrize(**each([row for row in ROWS if row.kind == "exact_code"]))
def test_exact_codes_stand_in_the_gold_sections(row: EvalRow) -> None:
    codes = re.findall(CODES[row.corpus], f"{row.question} {row.answer}")
    text = " ".join(chunk.text for chunk in gold_sections(row).values())
    assert codes
    assert [code for code in codes if code not in text] == []


# ---------------------------------------------------------------- the order


def test_the_kinds_come_in_turn_and_what_is_reported_comes_first():
    rows = load_eval_set("larkspur")
    order = in_turn(rows)
    assert sorted(row.id for row in order) == sorted(row.id for row in rows)
    assert {row.kind for row in order[:7]} == {row.kind for row in order[7:14]} == set(get_args(Kind))
    assert [row.split for row in order] == ["report"] * 59 + ["fit"] * 37
    assert [row.kind for row in order[54:59]] == ["answerable"] * 5
