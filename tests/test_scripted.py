"""Scripted models: what a script may return, and the table that most tests use."""

import pytest

from cookbook.errors import ConfigError, ProviderUnavailable, ReplyUnparsable
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted, scripted_table

YES_NO = {"relevant": ["yes"], "irrelevant": ["no"]}


def ask(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_echo_repeats_the_last_message():
    messages = [{"role": "system", "content": "Rewrite."}, *ask("How do I export?")]
    assert LLMClient("scripted/echo").chat(messages) == "How do I export?"


@pytest.mark.parametrize(("name", "label"), [("always_yes", "relevant"), ("always_no", "irrelevant")])
def test_constant_graders_decide_with_certainty(name, label):
    choice = LLMClient(f"scripted/{name}").decide(ask("?"), YES_NO)
    assert (choice.label, choice.probability, choice.mass) == (label, 1.0, 1.0)


def test_garbage_is_no_verdict_and_no_object():
    client = LLMClient("scripted/garbage")
    assert client.chat("?") == "As for that, one could see it both ways."
    with pytest.raises(ReplyUnparsable, match="'As'"):
        client.decide(ask("?"), YES_NO)


def test_a_script_may_fail_on_purpose():
    with pytest.raises(ProviderUnavailable, match="it always does"):
        LLMClient("scripted/unavailable").chat("?")


def test_a_script_may_give_probabilities_of_the_first_token():
    @scripted("unsure")
    def unsure(messages):
        return {"Yes": 0.3, " yes": 0.3, "No": 0.2, "The": 0.2}

    choice = LLMClient("scripted/unsure").decide(ask("?"), YES_NO)
    assert choice.label == "relevant"
    assert choice.probabilities == pytest.approx({"relevant": 0.75, "irrelevant": 0.25}, abs=1e-4)
    assert choice.mass == pytest.approx(0.8, abs=1e-4)


def test_a_table_replies_by_substring_or_predicate_first_row_first():
    model = scripted_table({"export": "no", lambda prompt: prompt.endswith("?"): "yes", "": "neither"})
    client = LLMClient(model)
    assert [client.chat(text) for text in ("Can I export?", "Really?", "Fine.")] == ["no", "yes", "neither"]


def test_tables_do_not_share_a_name_and_a_prompt_without_a_row_is_an_error():
    first, second = scripted_table({"a": "1"}), scripted_table({"a": "2"})
    assert first != second
    assert LLMClient(first).chat("a") == "1"
    with pytest.raises(ConfigError, match="no row for the prompt 'xyz'"):
        LLMClient(first).chat("xyz")


def test_a_long_reply_is_cut_at_max_tokens_and_says_so():
    reply = LLMClient(scripted_table({"": "one two three"})).complete(ask("go on"), max_tokens=2)
    assert (reply.text, reply.truncated, reply.prompt_tokens, reply.completion_tokens) == (
        "one two",
        True,
        2,
        2,
    )


def test_an_unknown_script_is_refused_at_once_and_the_known_are_listed():
    with pytest.raises(ConfigError, match="always_no"):
        LLMClient("scripted/nonesuch")
