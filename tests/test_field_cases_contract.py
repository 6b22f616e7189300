"""The page of field cases and the tests that name them say the same: no case without a test, no test without a case."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE / "field_cases.md").read_text(encoding="utf-8")
CASE = re.compile(r"^- \*\*([A-Z]\d\d)\*\* (.+?)(?=^- |^## |\Z)", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^def test_field_case_([A-Z]\d\d)_\w+", re.MULTILINE)
INAPPLICABLE = "does not apply:"

SECTIONS = {
    name: dict(CASE.findall(body))
    for name, body in re.findall(
        r"^## [^\n]*`(test_field_cases_\w+\.py)`\n(.+?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL
    )
}
LISTED = {case: said for cases in SECTIONS.values() for case, said in cases.items()}


def named_in(file: str) -> Counter[str]:
    return Counter(NAMED.findall((HERE / file).read_text(encoding="utf-8")))


def test_field_case_contract_every_case_is_listed_once():
    ids = [case for case, _ in CASE.findall(PAGE)]
    assert len(ids) == len(set(ids)) == len(LISTED) == 69


def test_field_case_contract_the_ids_of_the_page_are_those_of_the_tests():
    tested = {case for file in HERE.glob("test_field_cases_*.py") for case in named_in(file.name)}
    excused = {case for case, said in LISTED.items() if INAPPLICABLE in said}
    assert tested | excused == set(LISTED)
    assert tested & excused == set()
    assert all(said.partition(INAPPLICABLE)[2].strip() for case, said in LISTED.items() if case in excused)


def test_field_case_contract_each_case_is_tested_in_the_file_of_its_section():
    for file, cases in SECTIONS.items():
        assert set(cases) - {c for c in cases if INAPPLICABLE in cases[c]} == set(named_in(file)), file


def test_field_case_contract_none_is_skipped_as_a_whole():
    for file in SECTIONS:
        text = (HERE / file).read_text(encoding="utf-8")
        assert "mark.skip" not in text
        assert "mark.xfail" not in text
        assert "mark.live" not in text
