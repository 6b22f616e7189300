"""What a question costs, and the points from which a check or a loop pays."""

from __future__ import annotations

from math import inf

import pytest
from eval_stubs import answer, row

from cookbook.errors import ConfigError
from cookbook.eval.economics import Costs, Prices, costs, skip_from, worth_it
from cookbook.schema import Status, Step

PRICES = Prices(prompt=1.0, completion=4.0)


def test_what_was_paid_and_which_mistakes_were_made():
    spent = [Step("a", prompt_tokens=300_000, completion_tokens=50_000), Step("b", prompt_tokens=200_000)]
    refused = answer("a?", status=Status.REFUSED, steps=spent[1:])
    pairs = [
        (row("a"), answer("a?", steps=spent)),
        (row("b"), answer("b?", "It is 6.")),
        (row("c"), refused),
        (row("d"), answer("d?", status=Status.FAILED)),
        (row("x", "refuse"), answer("x?")),
        (row("y", "refuse"), refused),
        (row("hi", "direct"), answer("hi?", "Hello.")),
        (row("bye", "direct"), refused),
        (row("gone"), None),
    ]
    found = costs(pairs, PRICES)
    assert found.paid == pytest.approx((0.7, 0, 0.2, 0, 0, 0.2, 0, 0.2))
    assert [n for n, wrong in enumerate(found.wrong) if wrong] == [1, 4]
    assert [n for n, withheld in enumerate(found.withheld) if withheld] == [2, 3, 7]
    assert found.a_question() == pytest.approx(1.3 / 8)
    assert found.a_question(wrong=4, withheld=8) == pytest.approx((1.3 + 8 + 24) / 8)


@pytest.mark.parametrize(
    ("numbers", "share"),
    [((150, 900, 60), 150 / 840), ((0, 900), 0.0), ((10, 60, 60), inf), ((900, 600), 1.5)],
)
def test_from_which_share_a_check_pays(numbers, share):
    assert skip_from(*numbers) == pytest.approx(share)


PLAIN = Costs((1.0,) * 4, (True, True, False, False), (False,) * 4)
CAREFUL = Costs((3.0,) * 4, (False,) * 4, (True, True, True, False))


def test_from_which_price_of_a_wrong_answer_a_loop_pays():
    found = worth_it(CAREFUL, PLAIN)
    assert (found.value, found.n) == (4.0, 4)
    assert found.low <= 4.0 <= found.high
    # A withheld answer at 2: three quarters of a question, times 2, on top.
    assert worth_it(CAREFUL, PLAIN, withheld=2.0).value == 7.0
    at = worth_it(CAREFUL, PLAIN, withheld=2.0).value
    assert CAREFUL.a_question(at, 2.0) == PLAIN.a_question(at, 2.0)


def test_a_loop_that_prevents_nothing_never_pays_and_a_cheaper_one_always_does():
    assert worth_it(PLAIN, PLAIN).value == 0.0
    assert worth_it(Costs((3.0,) * 4, PLAIN.wrong, PLAIN.withheld), PLAIN).value == inf
    assert worth_it(PLAIN, CAREFUL).value == inf
    cheap = Costs((0.5,) * 4, (True, False, False, False), (False,) * 4)
    assert worth_it(cheap, PLAIN).value == 0.0


def test_prices_from_the_list():
    found = Prices.of("gpt-4o-mini")
    assert 0 < found.prompt < found.completion
    with pytest.raises(ConfigError, match="litellm lists no price of 'nobody/nothing'"):
        Prices.of("nobody/nothing")
