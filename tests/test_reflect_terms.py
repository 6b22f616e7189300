"""Names are what a rewrite must not lose besides codes, numbers and negations."""

import pytest

from cookbook.reflect.terms import lost_names, names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How many guests may a Starter workspace have?", ["Starter"]),
        ("Acme bought Bolt. When did Bolt, Inc and Zeta-Corp merge?", ["Bolt", "Inc", "Zeta-Corp"]),
        ("I know what I did in Paris", ["Paris"]),
        ("Is it (Studio), 'Enterprise' or neither? Who knows?", ["Studio", "Enterprise"]),
        ("how long?", []),
        ("", []),
    ],
)
def test_names_do_not_begin_a_sentence(text, found):
    assert names(text) == found


def test_a_name_in_other_letters_is_not_lost():
    assert lost_names("Is it on Starter or Studio?", "starter plan") == ["Studio"]
