"""What every lab keeps, whoever wrote it. The wrong fixes come from ``tests/labs/test_<slug>.py``."""

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import cookbook.labs
from cookbook.errors import LabNotPassed
from cookbook.labs import all_labs, get, labs_of
from cookbook.labs.families import FAMILIES
from cookbook.labs.kit import guarding
from cookbook.labs.kit.stub import BEGIN, INSTEAD, learner_function, stub_cell

LABS = {lab.slug: lab for lab in all_labs()}
#: Something a reader can look up: an address, a paper, a repository, a numbered pull request or issue.
SOURCE = re.compile(r"https?://|arXiv \d{4}\.\d{4,5}|(?:pull request|issue)s? #?\d+|\b[\w-]+/[\w.-]+\b")

pytestmark = pytest.mark.parametrize("slug", LABS)


def declared(slug):
    """The test module of a lab, which declares BROKEN (a diagnosis) and WRONG (name -> candidate, diagnosis)."""
    path = Path(__file__).with_name(f"test_{slug}.py")
    spec = importlib.util.spec_from_file_location(f"wrong_fixes_of_{slug}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_broken_one_fails_with_its_diagnosis(slug):
    lab = LABS[slug]
    verdict = lab.check(lab.broken())
    assert (verdict.passed, verdict.diagnosis, verdict.lab) == (False, declared(slug).BROKEN, slug)
    # It says what it saw: a number, or a text between quotes.
    assert re.search(r"\d|'.+'|`.+`", verdict.message), verdict.message
    assert lab.check(lab.broken()) == verdict
    with pytest.raises(LabNotPassed, match=verdict.diagnosis):
        verdict.require()


def test_the_solution_passes_and_is_the_learners_function(slug):
    lab = LABS[slug]
    assert lab.solution() is learner_function(lab.code())
    verdict = lab.check(lab.solution()).require()
    assert verdict.message
    assert lab.check(lab.solution()) == verdict


def test_wrong_fixes_fail_each_with_its_own_reason(slug):
    lab, wrong = LABS[slug], declared(slug).WRONG
    said = {name: lab.check(candidate) for name, (candidate, _) in wrong.items()}
    assert {name: v.diagnosis for name, v in said.items()} == {name: d for name, (_, d) in wrong.items()}
    assert len({verdict.diagnosis for verdict in said.values()}) == len(wrong) >= 2
    assert not any(verdict.passed for verdict in said.values())


def test_the_stub_is_explained(slug):
    lab = LABS[slug]
    name = learner_function(lab.code()).__name__
    source = stub_cell(lab.code())
    assert all(line in source for line in INSTEAD)
    assert BEGIN not in source
    space: dict = {}
    exec(source, space)
    assert space[name].__doc__, "the stub's docstring is what the learner works from"
    verdict = lab.check(space[name])
    assert verdict.diagnosis == "not_written"
    assert f"`{name}`" in verdict.message


def raises(*args, **kwargs):
    raise KeyError("the key that was lost")


def returns_none(*args, **kwargs):
    return None


def never_ends(*args, **kwargs):
    while True:
        pass


def test_any_candidate_is_explained(slug, monkeypatch):
    lab = LABS[slug]
    assert lab.check(None).diagnosis == "not_a_function"
    verdict = lab.check(raises)
    assert verdict.diagnosis == "raised"
    assert "KeyError" in verdict.message
    assert "the key that was lost" in verdict.message
    verdict = lab.check(returns_none)
    assert not verdict.passed
    assert "None" in verdict.message
    assert verdict.diagnosis not in ("raised", "unusable_result"), (
        "give @guard(returns=...) or look at None in the check"
    )
    monkeypatch.setattr(guarding, "TIME_LIMIT", 0.2)
    assert lab.check(never_ends).diagnosis == "endless"


def test_its_facts_are_complete(slug):
    lab = LABS[slug]
    assert 1 <= lab.difficulty <= 5
    assert 5 <= lab.minutes <= 45
    assert lab.dots.count("●") == lab.difficulty
    for name in ("title", "symptom", "task", "in_the_wild", "transfer", "answer", "pitfall"):
        assert getattr(lab, name).strip(), name
    assert not lab.title.endswith(".")
    assert re.match(r"[a-z].*[^.]$", lab.you_will), "it goes on after 'You will be able to'"
    assert len({hint.strip() for hint in lab.hints}) == 2
    assert lab.transfer.rstrip().endswith("?")
    assert SOURCE.search(lab.in_the_wild), "name a source that can be looked up"
    assert f"notebooks/labs/{lab.family.stem}.ipynb" in lab.code().__doc__


def test_it_is_in_the_plan_once(slug):
    assert [family for family in FAMILIES if slug in family.slugs] == [LABS[slug].family]
    assert get(slug) is LABS[slug]


def test_every_module_of_the_folder_is_in_the_plan(slug):
    planned = {planned for family in FAMILIES for planned in family.slugs}
    modules = {module.name for module in pkgutil.iter_modules(cookbook.labs.__path__)} - {"families", "kit"}
    assert modules <= planned
    assert slug in {lab.slug for family in FAMILIES for lab in labs_of(family)}
