"""The guard explains whatever is handed in; stub and solution are cut from one function."""

import ast
import types
from pathlib import Path

import pytest

from cookbook.errors import ConfigError, LabNotPassed
from cookbook.labs import get, substring_verdicts
from cookbook.labs.families import FAMILIES, family_of
from cookbook.labs.kit import Bill, LabVerdict, bill, failed, guarding, passed, stub
from cookbook.labs.kit.guarding import guard, run_limited
from cookbook.providers.meter import Meter
from cookbook.schema import Step, Trace

# ---------------------------------------------------------------- verdicts


def test_a_verdict_reads_the_same_in_a_terminal_and_a_notebook():
    verdict = LabVerdict(False, "one_off", "it ran 3 times <b>\nand the budget is 2", "a_lab")
    assert repr(verdict) == "NOT YET a_lab: one_off\n  it ran 3 times <b>\n  and the budget is 2"
    assert verdict._repr_html_().endswith("it ran 3 times &lt;b&gt;<br>and the budget is 2</div>")
    assert repr(LabVerdict(True, "", "13 calls", "a_lab")) == "PASSED a_lab\n  13 calls"
    assert max(map(len, repr(failed("x", "word " * 100)).splitlines())) <= 96


def test_require():
    assert passed("fine").require() == passed("fine")
    with pytest.raises(LabNotPassed, match="one_off: it ran 3 times"):
        failed("one_off", "it ran 3 times").require()


# ---------------------------------------------------------------- the guard


def wanted(left, right):
    """The sum of both."""
    ### BEGIN SOLUTION
    return left + right
    ### END SOLUTION


@guard(returns="a number")
def check(candidate):
    return passed("3") if candidate(1, 2) + 0 == 3 else failed("wrong_sum", f"1 + 2 gave {candidate(1, 2)}")


def line_of(function, text):
    first = function.__code__.co_firstlineno
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if n >= first and text in line)


def raising(left, right):
    table = {}
    return table[left]


def looking_elsewhere(left, right):
    return raising(left, right)


def test_what_works_is_left_to_the_check():
    assert check(wanted) == LabVerdict(True, "", "3", "test_labs_kit")
    assert check(lambda left, right: 4).message == "1 + 2 gave 4"


def test_a_numpy_scalar_is_the_number_or_bool_that_it_holds():
    numpy = pytest.importorskip("numpy")

    @guard()
    def kind(candidate):
        return passed(type(candidate(1, 2)).__name__)

    kind_of = {numpy.bool_(True): "bool", numpy.int64(3): "int", numpy.float32(0.5): "float"}
    assert {value: kind(lambda left, right, value=value: value).message for value in kind_of} == kind_of


@pytest.mark.parametrize(
    ("candidate", "diagnosis", "said"),
    [
        (None, "not_a_function", "the function `wanted` itself and got None"),
        ("wanted", "not_a_function", "got an object of type str"),
        (lambda left: left, "wrong_parameters", "`wanted` must take (left, right): too many positional"),
        (lambda left, right, more: left, "wrong_parameters", "missing a required argument: 'more'"),
        (lambda left, right: None, "returned_nothing", "it must return a number"),
        (
            eval(compile("lambda left, right: 'three'", "a notebook", "eval")),
            "unusable_result",
            'cannot be used (TypeError: can only concatenate str (not "int") to str). It should be: The sum of both.',
        ),
        (raising, "raised", "`wanted` ended in KeyError: 1 at line"),
        (looking_elsewhere, "raised", "`return table[left]`"),
        (lambda left, right: exit(3), "raised", "SystemExit: 3"),
    ],
)
def test_the_guard_explains(candidate, diagnosis, said):
    verdict = check(candidate)
    assert verdict.diagnosis == diagnosis
    assert said in verdict.message


def test_the_guard_names_the_line():
    assert f"at line {line_of(raising, 'return table')}, `return table[left]`" in check(raising).message


@pytest.mark.parametrize("swallows", [False, True])
def test_an_endless_candidate_is_stopped(monkeypatch, swallows):
    monkeypatch.setattr(guarding, "TIME_LIMIT", 0.2)

    def endless(left, right):
        while True:
            try:
                sum(range(100))
            except Exception:
                if not swallows:
                    raise

    assert check(endless).diagnosis == "endless"


def test_the_limit_gives_back_what_came_in_time():
    assert run_limited(lambda: 3, 5.0) == 3
    with pytest.raises(ZeroDivisionError):
        run_limited(lambda: 1 // 0, 5.0)


# ---------------------------------------------------------------- stubs


MODULE = '''
from __future__ import annotations
import re
from typing import TYPE_CHECKING, Any
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMIT: int = 3
FIRST, (SECOND, *REST) = 1, (2, 3)
SEEN = {}
SEEN["learn"] = FIRST

class Row: ...

def helper(): ...

def learn(rows: Sequence[Row]) -> Any:
    """What to do."""
    kept = []
    ### BEGIN SOLUTION
    kept = [row for row in rows if re.search("x", row)][:LIMIT]
    ### END SOLUTION
    return kept[SECOND:]
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "a_lab.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import a_lab

    return a_lab


IMPORTS = """import re
from typing import Any
from collections.abc import Sequence
from a_lab import LIMIT, Row, SECOND


"""


def test_the_stub_brings_its_imports_and_loses_the_solution(module):
    assert stub.stub_cell(module) == (
        f"{IMPORTS}def learn(rows: Sequence[Row]) -> Any:\n"
        '    """What to do."""\n    kept = []\n    # YOUR CODE HERE\n    raise NotImplementedError()\n    return kept[SECOND:]'
    )
    assert stub.solution_cell(module).startswith(f"{IMPORTS}def learn(")
    assert "    ### BEGIN SOLUTION\n    kept = [row" in stub.solution_cell(module)
    assert stub.folded_solution(module).splitlines()[2:4] == [
        "    kept = []",
        '    kept = [row for row in rows if re.search("x", row)][:LIMIT]',
    ]


def test_a_module_has_one_function_to_write():
    with pytest.raises(ConfigError, match="has 0 functions with a line '### BEGIN SOLUTION'"):
        stub.learner_function(types.ModuleType("empty"))


def test_the_function_to_write_does_not_hide_its_lab(tmp_path, monkeypatch):
    (tmp_path / "learn.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import learn

    with pytest.raises(ConfigError, match="learn: the function to write has the name of its lab"):
        stub.learner_function(learn)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, (b, *c) = 1, (2, 3)", "abc"),
        ("a = b = 1", "ab"),
        ("a: int = 1", "a"),
        ("def a(): ...", "a"),
        ("class a: ...", "a"),
        ("a[b] = c.d = e", ""),
        ("import a", ""),
    ],
)
def test_what_a_statement_defines(text, names):
    assert stub.defined(ast.parse(text).body[0]) == set(names)


# ---------------------------------------------------------------- bills, families


def test_a_bill_of_a_meter_and_of_a_trace():
    meter = Meter()
    meter.add_call(prompt_tokens=2_000_000, completion_tokens=1_000_000, seconds=0, cost=None)
    assert repr(bill(meter)).startswith("1 call, 2,000,000 tokens read")
    assert bill(meter) == Bill(1, 2_000_000, 1_000_000)
    assert bill(meter).dollars == pytest.approx(0.9)
    trace = Trace(
        "q", "s", steps=[Step("a", calls=2, prompt_tokens=10), Step("b", calls=1, completion_tokens=4)]
    )
    assert bill(trace) == Bill(3, 10, 4)
    assert repr(bill(trace)).startswith(
        "3 calls, 10 tokens read, 4 written\nat an example price of $0.15 / $0.60"
    )


def test_ten_families_keep_their_numbers():
    assert [family.number for family in FAMILIES] == list(range(40, 50))
    slugs = [slug for family in FAMILIES for slug in family.slugs]
    assert len(slugs) == len(set(slugs))
    assert family_of("stuck_router_counter").stem == "41_loops"
    with pytest.raises(ConfigError, match=r"families\.py"):
        family_of("unplanned")


def test_labs_by_slug():
    assert get("substring_verdicts") is substring_verdicts.LAB
    with pytest.raises(ConfigError, match="cookbook labs"):
        get("shared_dream")
