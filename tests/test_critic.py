"""The committed critic: it loads without a download, judges what it should, and says what is missing."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict

import numpy as np
import pytest

from cookbook.errors import ConfigError, TooLongToJudge, WeightsError
from cookbook.eval.scores import score_files
from cookbook.reflect.claims import with_question
from cookbook.reflect.critic import Critic, critic_card, critic_relevance, critic_support, load_critic
from cookbook.reflect.critic.judge import WEIGHTS
from cookbook.reflect.critic.network import MOST_TOKENS, OUTCOMES, build_network, build_tokenizer
from cookbook.reflect.quantised import read_weights, write_weights
from cookbook.schema import Chunk, Hit, Relevance, ScoreKind, Support

SIZES = {
    "vocab_size": 12,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}
PIECES = "[PAD] [UNK] [CLS] [SEP] who owns it the guest owner a ##s".split()

INVOICES = (
    "An invoice is issued on the first day of each billing period and sent as a PDF to the owner. "
    "The owner can name up to 3 billing contacts. All invoices can be downloaded for 7 years."
)
FILLER = "The garden was quiet and nobody came to the gate that afternoon. "


def hit(text: str, chunk_id: str = "a#0") -> Hit:
    return Hit(Chunk(chunk_id, "a", text, 0, len(text)), 0.0, ScoreKind.COSINE)


# ---------------------------------------------------------------- what is committed


def test_what_is_committed_is_small_and_its_card_belongs_to_it():
    size = sum(path.stat().st_size for path in WEIGHTS.glob("critic.*"))
    assert 20e6 < size < 25e6
    card = critic_card()
    with (WEIGHTS / "critic.safetensors").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == card["sha256"]
    assert card["pairs"]["training"] > 20_000
    assert card["curve"][-1]["step"] == max(point["step"] for point in card["curve"])


def test_committed_scores_are_those_of_the_committed_critic():
    name = f"critic-{critic_card()['sha256'][:8]}"
    found = {file.judge for file in score_files() if file.judge.startswith("critic")}
    assert found == {name}


def test_it_is_built_once():
    assert load_critic() is load_critic()


@pytest.mark.parametrize("name", ["critic.json", "critic.vocab.txt", "critic.safetensors"])
def test_a_missing_file_says_how_to_make_it(name, tmp_path):
    for path in WEIGHTS.glob("critic.*"):
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(WeightsError, match=r"make"):
        load_critic.__wrapped__(tmp_path)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"\[local\]"):
        load_critic.__wrapped__(WEIGHTS)


# ---------------------------------------------------------------- reading


def tiny() -> Critic:
    import torch

    torch.manual_seed(0)
    return Critic(build_network(SIZES), build_tokenizer(PIECES), {"relevance": 2.0, "support": 1.0})


def test_eight_bits_are_within_half_a_step_of_the_weight(tmp_path):
    critic = tiny()
    before = {name: w.detach().clone() for name, w in critic.network.named_parameters()}
    write_weights(critic.network, tmp_path / "w.safetensors")
    read_weights(critic.network, tmp_path / "w.safetensors")
    for name, now in critic.network.named_parameters():
        if now.dim() == 2:
            step = before[name].abs().amax(1, keepdim=True) / 127
            assert ((now - before[name]).abs() <= step / 2 + 1e-7).all()


def test_the_words_of_a_passage_are_no_marks():
    tokenizer = build_tokenizer(PIECES)
    encoded = tokenizer.encode("who", "the [SEP] owner")
    assert encoded.ids == [2, 4, 3, 7, 1, 1, 1, 9, 3]
    assert encoded.type_ids == [0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_scores_do_not_depend_on_the_other_pairs():
    critic = tiny()
    pairs = [("who owns it", "the owner"), ("who", "a guest owns it the owner owns it"), ("it", "the guests")]
    together = critic.scores(pairs)
    assert together.shape == (3,)
    assert np.allclose(together, [critic.scores([pair])[0] for pair in pairs], atol=1e-5)
    assert np.allclose(critic.scores(pairs[::-1])[::-1], together, atol=1e-6)


def test_windows_hold_every_token_and_a_long_question_is_refused():
    critic = tiny()
    passage = " ".join(["owner", "guest"] * 400)
    windows = critic.windows("who owns it", passage)
    assert len(windows) > 3
    assert windows[0].startswith("owner")
    assert passage.endswith(windows[-1])
    assert all(len(critic.tokenizer.encode("who owns it", w).ids) <= MOST_TOKENS for w in windows)
    assert sum(len(window.split()) for window in windows) >= 800
    with pytest.raises(TooLongToJudge, match=r"a text of 3\d\d tokens leaves no room .* fewer words"):
        critic.windows("who " * 300, "the owner")


def test_a_claim_that_is_too_long_is_a_failed_verdict():
    with pytest.raises(TooLongToJudge):
        load_critic().judge("the owner", "who " * 300)
    hits = [hit("the owner")]
    verdict = critic_support().check("Who?", "who " * 300, hits)
    assert verdict.failed
    assert "fewer words" in verdict.failure


def test_the_shares_of_one_window_sum_to_one():
    found = asdict(tiny().judge("the owner owns it", "a guest owns it"))
    assert sum(found.values()) == pytest.approx(1.0)
    assert set(OUTCOMES["support"]) == {"supported", "not_stated", "contradicted"}


def test_a_bare_answer_is_read_behind_its_question():
    assert with_question("How long?", "7 days") == "How long? 7 days"
    assert with_question("How long?", "It lasts for 7 days.") == "It lasts for 7 days."
    assert with_question("Is it?", "No.") == "Is it? No."


# ---------------------------------------------------------------- what it knows


@pytest.mark.parametrize(
    ("question", "relevant"),
    [
        ("How many billing contacts can the owner name?", True),
        ("For how long can invoices be downloaded?", True),
        ("How many guests can a project have?", False),
        ("Who repairs the roof?", False),
    ],
)
def test_relevance_asks_whether_exactly_this_is_answered(question, relevant):
    [verdict] = critic_relevance().grade(question, [hit(INVOICES)])
    assert (verdict.label is Relevance.RELEVANT) == relevant


FIELD = [
    # E06: numbers; the guard is off, so that it is the critic that sees them
    ("The owner can name up to 3 billing contacts.", "entail"),
    ("The owner can name up to 9 billing contacts.", "contradict"),
    ("Invoices can be downloaded for 7 years.", "entail"),
    # negation
    ("An invoice is not sent to the owner.", "contradict"),
    ("Invoices cannot be downloaded.", "contradict"),
    # what is not said
    ("Invoices are printed on recycled paper.", "neutral"),
]


@pytest.mark.parametrize(("claim", "label"), FIELD)
def test_field_case_E06_numbers_and_negation(claim, label):
    assert load_critic().judge(INVOICES, claim).label == label


def test_field_case_E06_a_unit_is_seen_by_the_guard_and_not_by_the_critic():
    claim = "Invoices can be downloaded for 7 days."
    assert (
        load_critic().judge(INVOICES, claim).label == "entail"
    )  # wrong; eight in a thousand pairs were about a unit
    assert critic_support().check("How long?", claim, [hit(INVOICES)]).label is Support.NONE


@pytest.mark.parametrize("times", [0, 10, 60])
def test_field_case_E04_the_verdict_is_equal_for_all_lengths(times):
    support = critic_support(number_guard=False)
    padded = hit(FILLER * times + INVOICES)
    right = support.check("How long?", "Invoices can be downloaded for 7 years.", [padded])
    wrong = support.check("How long?", "Invoices can be downloaded for 9 years.", [padded])
    assert (right.label, wrong.label) == (Support.FULLY, Support.NONE)


def test_one_invented_claim_is_found_and_named():
    answer = "The owner can name up to 3 billing contacts. They get a free t-shirt every year."
    verdict = critic_support().check("How many contacts?", answer, [hit(INVOICES)])
    assert verdict.label is Support.PARTIALLY
    assert "t-shirt" in verdict.reason


def test_the_card_is_json_with_what_a_reader_needs():
    card = json.loads((WEIGHTS / "critic.json").read_text())
    assert {
        "command",
        "date",
        "start",
        "schedule",
        "pairs",
        "temperatures",
        "held_out",
        "speed",
        "curve",
    } <= set(card)
