"""Replies as models really write them: what counts as a verdict or an object, and what must not."""

import json
import random
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from cookbook.errors import ConfigError, ReplyTruncated, ReplyUnparsable
from cookbook.providers import parse
from cookbook.providers.call import Reply

YES_NO = {"yes": ["yes"], "no": ["no"]}
SUPPORT = {"fully": ["supported"], "none": ["not supported", "unsupported"]}


class Grade(BaseModel):
    score: Literal["yes", "no"]
    reason: str = ""


class Score(BaseModel):
    score: Literal["yes", "no"]


def score(text: str) -> str:
    return parse.parse_reply(text, Score, model="test/model").score


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"score": "yes"}', "yes"),
        ('```json\n{"score": "yes"}\n```', "yes"),
        ('```\n{"score": "no"}\n```', "no"),
        ('````json\n{"score": "no"}\n````', "no"),
        ('Here is the JSON output:\n{"score": "no"}', "no"),
        ('{"score": "yes"}\nLet me know if you need anything else [1].', "yes"),
        ('Here is `the` result: {"score":"no"}', "no"),
        ('The passage holds ```json {"score":"yes"}``` but I say:\n{"score":"no"}', "no"),
        ('Example: {"score":"yes"}\nMine: {"score":"yes"} Sorry: {"score":"no"}', "no"),
    ],
)
def test_the_last_object_is_the_reply(text, verdict):
    assert score(text) == verdict


def test_backticks_and_fences_inside_a_string_stay_there():
    text = json.dumps({"score": "yes", "reason": "uses `print` and\n```\n{}\n```"})
    assert parse.parse_reply(text, Grade, model="m") == Grade(
        score="yes", reason="uses `print` and\n```\n{}\n```"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "None",
        "score: yes",
        "The passage seems quite relevant to me.",
        "{}",
        '{"score": null}',
        '{"score": "Maybe"}',
        '{"score": "YES"}',
        '{"binary_score": true}',
        '{"score": true}',
        '{"score": "yes", "confidence": 1}',
        '[{"score": "yes"}]',
        '[ {"score": "yes"}, oops]',
        '{"score": "yes"',
        '{"score": "ye',
        "{'score': 'yes'}",
        '{"score": "yes",}',
        '{"score": "y\nes"}',
        '{"score": "yes", "score": "no"}',
        '{"verdict": {"score": "yes"}}',
        '{"verdict": {"score": "yes"}, oops}',
        '{"score": "yes"} and then {"score": ',
        '{"score": NaN}',
        "[" * 100_000,
    ],
)
def test_anything_else_fails(text):
    with pytest.raises(ReplyUnparsable):
        score(text)


def test_the_error_names_the_model_and_quotes_the_first_200_characters():
    with pytest.raises(ReplyUnparsable) as caught:
        score("x" * 500)
    assert "test/model" in str(caught.value)
    assert "x" * 200 in str(caught.value)
    assert "x" * 201 not in str(caught.value)
    assert "\n" not in str(caught.value)


class Level(StrEnum):
    FULLY = "fully"
    NONE = "none"


class Inner(BaseModel):
    claim: str


class Outer(BaseModel):
    level: Level
    claims: list[Inner]


def test_enums_come_from_json_text_and_nested_models_refuse_further_keys():
    good = {"level": "fully", "claims": [{"claim": "a"}]}
    assert parse.parse_reply(json.dumps(good), Outer, model="m") == Outer(
        level=Level.FULLY, claims=[Inner(claim="a")]
    )
    with pytest.raises(ReplyUnparsable, match=r"claims\.0\.note"):
        parse.parse_reply('{"level": "fully", "claims": [{"claim": "a", "note": 1}]}', Outer, model="m")


@settings(deadline=None, max_examples=200)
@given(
    st.text(alphabet="abc [](),.\n`", max_size=40),
    st.text(max_size=60),
    st.text(alphabet="abc (),.\n`", max_size=40),
)
def test_an_object_survives_any_prose_around_it(before, reason, after):
    if "[" in before:  # an opened bracket before the object makes it part of a list
        before = before.replace("[", "")
    text = before + json.dumps({"score": "no", "reason": reason}) + after
    assert parse.parse_reply(text, Grade, model="m") == Grade(score="no", reason=reason)


# ---------------------------------------------------------------- schemas


class Free(BaseModel):
    """What came of it."""

    title: str
    label: Literal["a", "b"]
    short: str = Field(default="", max_length=30)
    claims: list[Inner] = []


def test_schemas_are_closed_and_bounded_and_keep_the_order_of_fields():
    schema = parse.schema_of(Free)
    assert list(schema["properties"]) == ["title", "label", "short", "claims"]
    assert schema["required"] == ["title", "label", "short", "claims"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["title"] == {"type": "string", "maxLength": parse.MAX_TEXT}
    assert schema["properties"]["label"] == {"type": "string", "enum": ["a", "b"]}
    assert schema["properties"]["short"]["maxLength"] == 30
    assert schema["properties"]["claims"]["maxItems"] == parse.MAX_ITEMS
    assert schema["$defs"]["Inner"]["additionalProperties"] is False
    assert schema["$defs"]["Inner"]["properties"]["claim"]["maxLength"] == parse.MAX_TEXT


def test_a_schema_told_in_words_joins_the_last_message():
    told = parse.with_schema(
        [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], {"type": "object"}
    )
    assert [m["role"] for m in told] == ["system", "user"]
    assert told[1]["content"].startswith("u\n\n")
    assert told[1]["content"].endswith('{"type": "object"}')


# ---------------------------------------------------------------- truncation and thinking


def reply(text: str, finish_reason: str = "stop") -> Reply:
    return Reply(text, finish_reason, 1, 1, "test/model")


def test_thinking_is_removed_and_unfinished_thinking_is_truncation():
    assert parse.without_thinking(reply("<think>no, or yes?\n</think>\n\nyes"), 9) == "yes"
    assert parse.without_thinking(reply(" plain "), 9) == " plain "
    with pytest.raises(ReplyTruncated, match="max_tokens=9"):
        parse.without_thinking(reply("<think>hm"), 9)


def test_a_reply_cut_off_is_refused_even_if_it_parses():
    parse.require_whole(reply('{"score": "yes"}'), 7)
    with pytest.raises(ReplyTruncated, match=r"test/model .*max_tokens=7"):
        parse.require_whole(reply('{"score": "yes"}', "length"), 7)


# ---------------------------------------------------------------- one-word verdicts


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes.", "yes"),
        ("**yes**", "yes"),
        ("yes, because the passage says so", "yes"),
        ('"YES"', "yes"),
        ("NO", "no"),
        (" no!\n", "no"),
        ("[No]", "no"),
        ("> **No.** The passage is about invoices.", "no"),
        ("No - it is about invoices", "no"),
        ("yes\n\nThe passage states it. Yes.", "yes"),
    ],
)
def test_explicit_verdicts_are_taken(text, label):
    assert parse.parse_label(text, YES_NO) == label


@pytest.mark.parametrize(
    "text",
    [
        "I know this passage covers it: relevant",
        "Bypass",
        "eyes",
        "Nothing here, yes really nothing",
        "yesterday",
        "none",
        "cannot tell",
        "Oui",
        "是",
        "",
        "   ",
        "yes and no",
        "yes\nno",
        "yes/no",
        "yes?",
        "yes, no",
        "yes, but only the second half",
        "Yes, or maybe it does not",
        "not yes",
        "No. 5 is the relevant chapter",
        "no relevant passage",
        "yes1",
        "As for that: yes",
    ],
)
def test_everything_else_is_a_failure_with_the_text_kept(text):
    with pytest.raises(ReplyUnparsable) as caught:
        parse.parse_label(text, YES_NO, model="test/model")
    assert repr(text) in str(caught.value)
    assert "test/model" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("SUPPORTED", "fully"),
        ("NOT SUPPORTED", "none"),
        ("not_supported.", "none"),
        ("Unsupported", "none"),
        ("NOT SUPPORTED. The claim about prices is not supported.", "none"),
    ],
)
def test_a_verdict_inside_another_is_not_it(text, label):
    assert parse.parse_label(text, SUPPORT) == label


@pytest.mark.parametrize("text", ["NOT", "insupported", "SUPPORTED, not supported", "partially supported"])
def test_parts_of_verdicts_are_failures(text):
    with pytest.raises(ReplyUnparsable):
        parse.parse_label(text, SUPPORT)


def test_long_blanks_do_not_slow_the_parser_down():
    with pytest.raises(ReplyUnparsable):
        parse.parse_label("yes" + "\n" * 50_000 + "?", YES_NO)


def test_variants_must_tell_labels_apart():
    with pytest.raises(ConfigError, match="YES"):
        parse.variants_of({"a": ["yes"], "b": ["no", "YES"]})
    with pytest.raises(ConfigError):
        parse.variants_of({"a": ["?"]})


WORDS = (
    "eyes yesterday bypass none nothing know not nothing noon nobody cannot notably yesteryear "
    "relevant passage maybe oui non ja nein perhaps norm piano yess noo y n"
).split()


def test_5000_generated_non_verdicts_give_no_verdict():
    rng = random.Random(20)
    for _ in range(5000):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 6))]
        if rng.random() < 0.5:  # a real verdict somewhere in a sentence is not a verdict either
            words.insert(rng.randint(1, len(words)), rng.choice(["yes", "no", "Yes", "NO"]))
        text = rng.choice(["", "**", '"', "- "]) + " ".join(words) + rng.choice(["", ".", "!", "?", " ..."])
        with pytest.raises(ReplyUnparsable):
            parse.parse_label(text, YES_NO)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=30))
def test_a_verdict_always_begins_with_its_own_words(text):
    try:
        label = parse.parse_label(text, SUPPORT)
    except ReplyUnparsable:
        return
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    assert " ".join(words).startswith(tuple(SUPPORT[label]))


def test_tokens_match_as_whole_words_only():
    variants = parse.variants_of({"relevant": ["yes"], "irrelevant": ["no"]})
    found = {
        token: parse.label_of_token(token, variants) for token in (" Yes", "YES", "no", "know", "", "Not")
    }
    assert found == {
        " Yes": "relevant",
        "YES": "relevant",
        "no": "irrelevant",
        "know": None,
        "": None,
        "Not": None,
    }
