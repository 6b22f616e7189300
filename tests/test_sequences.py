"""Training sequences: every label follows from what a program did to the text, and nothing held out is trained on."""

from collections import Counter
from random import Random

import pytest

from cookbook.corpora import load_eval_questions
from cookbook.reflect.tokens.vocabulary import PARAGRAPH, RELEVANCE, SUPPORT, USEFULNESS
from cookbook.training.from_corpora import CORPORA, sections
from cookbook.training.sequences import (
    FULLY,
    IRRELEVANT,
    NOT,
    PARTLY,
    RELEVANT,
    U1,
    U2,
    U3,
    U4,
    U5,
    Case,
    Sheets,
    Text,
    hard_rows,
    held_out,
    held_out_sheets,
    row_cases,
    training_sheets,
)
from cookbook.training.small_talk import HELLO, NOTHING, REPLIES, WELCOME, small_talk

TEXT = Text(
    ("Plans", "Trials"),
    ("A trial lasts for 14 days.", "The owner can end it at any time.", "Guests cannot start one."),
    "made/up",
)
OTHER = Text(
    ("Plans", "Invoices"), ("An invoice is due after 30 days.", "The owner receives it."), "made/too"
)
CASE = Case("How long does a trial last?", TEXT, 0, (OTHER,), "made/up")


@pytest.fixture(scope="module")
def sheets():
    return list(training_sheets(200))


def drawn(way, case=CASE, rounds=120):
    sheets = Sheets(Random(0))
    return [getattr(sheets, way)(case) for _ in range(rounds)]


def shown(sheet):
    return sheet.prompt.rpartition(PARAGRAPH)[2]


def test_a_passage_with_the_answer_is_relevant_and_its_answer_is_all_that_is_learned():
    for sheet in drawn("answering"):
        assert sheet.first == RELEVANT
        answer = sheet.branches[0]
        assert (answer.support, answer.usefulness, answer.learned) == (FULLY, U5, True)
        assert answer.words in shown(sheet)
        assert not any(branch.learned for branch in sheet.branches[1:])


def test_a_statement_is_supported_exactly_if_the_passage_says_it():
    """Also where the passage holds the edited sentence: then it is the original that has no support."""
    found = Counter()
    for sheet in drawn("answering"):
        for branch in sheet.branches:
            if branch.kind in ("answer", "other", "changed", "other changed"):
                assert (branch.support == FULLY) == (branch.words in shown(sheet))
            if branch.kind == "changed":
                found["original" if branch.words in TEXT.said else "edited"] += 1
                assert branch.support == NOT
    assert min(found["original"], found["edited"]) > 20


def test_usefulness_says_how_much_of_the_question_is_answered():
    kinds = {branch.kind: branch for sheet in drawn("answering") for branch in sheet.branches}
    grades = {kind: branch.usefulness for kind, branch in kinds.items()}
    assert grades["answer"] == grades["changed"] == U5
    assert grades["both"] == grades["invented"] == grades["partly"] == U4
    assert grades["other"] == grades["other changed"] == U2
    assert kinds["invented"].support == kinds["partly"].support == PARTLY
    half = Case(CASE.question, TEXT, 0, (OTHER,), "row", half=True)
    assert {sheet.branches[0].usefulness for sheet in drawn("answering", half)} == {U3}


@pytest.mark.parametrize(("way", "title"), [("without", "Plans > Trials"), ("elsewhere", "Plans > Invoices")])
def test_a_passage_without_the_answer_is_irrelevant_whatever_it_is_about(way, title):
    found = drawn(way)
    # a cut that leaves nothing beside the answer, some fifth of them here, takes another passage
    assert sum(shown(sheet).startswith(title) for sheet in found) > 0.7 * len(found)
    for sheet in found:
        assert sheet.first == IRRELEVANT
        assert TEXT.said[0] not in shown(sheet)
        said = {branch.kind: branch for branch in sheet.branches}
        assert (said["missing"].support, said["missing"].usefulness) == (FULLY, U1)
        assert (said["said elsewhere"].support, said["said elsewhere"].usefulness) == (NOT, U5)
        assert not any(branch.learned for branch in sheet.branches)


def test_small_talk_has_the_reply_that_fits():
    rng = Random(0)
    found = Counter(reply for _, reply in (small_talk(rng) for _ in range(600)))
    assert set(found) == {HELLO, WELCOME, NOTHING}
    for sheet in (Sheets(Random(n)).talk() for n in range(60)):
        assert [branch.words for branch in sheet.branches] == list(REPLIES)
        (learned,) = (branch for branch in sheet.branches if branch.learned)
        assert learned.usefulness == (U1 if learned.words == NOTHING else U5)


def test_the_same_seed_gives_the_same_sheets(sheets):
    assert list(training_sheets(200)) == sheets
    assert next(training_sheets(1, seed=1)) != sheets[0]


def test_every_label_occurs(sheets):
    first = Counter(sheet.first for sheet in sheets)
    assert set(first) == {"[Retrieval]", "[No Retrieval]", *RELEVANCE}
    branches = [branch for sheet in sheets for branch in sheet.branches]
    assert {branch.support for branch in branches} == {*SUPPORT, ""}
    assert {branch.usefulness for branch in branches} == set(USEFULNESS)


def test_nothing_that_is_judged_later_is_trained_on(sheets):
    rows = [row for corpus in CORPORA for row in load_eval_questions(corpus)]
    report = {row.question for row in rows if row.split == "report"}
    assert not any(f"\n{question}\n" in sheet.prompt for sheet in sheets for question in report)
    assert not any(held_out(sheet.source) and "/" in sheet.source for sheet in sheets)


def test_held_out_sheets_are_of_report_rows_and_of_sections_that_were_held_out():
    found = held_out_sheets()
    rows = {row.id: row.split for corpus in CORPORA for row in load_eval_questions(corpus)}
    apart = {section.source for section in sections() if held_out(section.source)}
    sources = {sheet.source for sheet in found}
    assert {rows[source] for source in sources if source in rows} == {"report"}
    assert len(apart) == 15
    assert {source for source in sources if source.startswith(tuple(f"{c}/" for c in CORPORA))} <= apart
    assert found == held_out_sheets()


def test_gold_quotes_lead_to_their_sentence():
    cases = {case.source: case for case in row_cases("report")}
    case = cases["larkspur-001"]
    assert case.text.said[case.n].startswith("One account can own up to 5 workspaces")
    assert not case.half
    assert len(hard_rows("fit")) == 16
