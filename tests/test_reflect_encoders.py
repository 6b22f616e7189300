"""Cross-encoders from a folder: built once, whole texts only, and labels read from the config and proved."""

from __future__ import annotations

from itertools import pairwise
from threading import Thread

import numpy as np
import pytest
import tiny_encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.errors import ConfigError, ReplyUnparsable, TooLongToJudge, WeightsError
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect import entailment
from cookbook.reflect.encoders import constructions, load_cross_encoder
from cookbook.reflect.entailment import Entailment, LLMEntailment, NLICrossEncoder
from cookbook.schema import ScoreKind

PROBE = {
    ("A man is eating bread in the kitchen.", "A man is eating."): (-2.0, 0.0, 3.0),
    ("A man is eating bread in the kitchen.", "Nobody is eating."): (3.0, 0.0, -2.0),
}
ORDER = ["Contradiction", "NEUTRAL", "entailment"]


@pytest.fixture(scope="module")
def nli(tmp_path_factory):
    return tiny_encoder.build(tmp_path_factory.mktemp("nli"), ORDER, PROBE)


@pytest.fixture(scope="module")
def ranker(tmp_path_factory):
    says = {("the window", "the window lasts"): [2.5], ("the window", "a man"): [-1.5]}
    return tiny_encoder.build(tmp_path_factory.mktemp("ranker"), ["LABEL_0"], says)


# ---------------------------------------------------------------- loading


def test_scores_are_raw_logits_in_the_order_of_the_pairs(ranker):
    model = load_cross_encoder(ranker)
    scores = model.scores([("the window", "a man"), ("the window", "the window lasts")])
    assert scores.tolist() == pytest.approx([-1.5, 2.5], abs=1e-3)
    assert model.kind is ScoreKind.CROSS_ENCODER
    assert model.scores([]).shape == (0,)


def test_a_model_is_built_once_however_often_it_is_asked_for(tmp_path):
    folder = tiny_encoder.build(tmp_path / "once", ORDER, PROBE)
    assert constructions(folder) == 0
    threads = [Thread(target=NLICrossEncoder, args=(folder,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    judge = NLICrossEncoder(str(folder))
    for _ in range(3):
        judge.judge("A man is eating.", "Nobody is eating.")
    assert constructions(folder) == 1


def test_a_hub_name_is_looked_for_in_the_cache(ranker, tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "ms-marco-tiny").symlink_to(ranker)
    assert load_cross_encoder("cross-encoder/ms-marco-tiny").labels == ("LABEL_0",)


def test_absent_weights_say_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    with pytest.raises(WeightsError) as caught:
        NLICrossEncoder()
    said = str(caught.value)
    assert "hf download cross-encoder/nli-deberta-v3-base --local-dir" in said
    assert str(tmp_path / "models" / "nli-deberta-v3-base") in said
    assert "\n" not in said


def test_damaged_weights_are_a_weights_error(tmp_path):
    folder = tiny_encoder.build(tmp_path / "torn", ORDER, PROBE)
    (folder / "model.safetensors").write_bytes(b"torn off")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        load_cross_encoder(folder)
    assert constructions(folder) == 0


def test_a_pair_that_would_be_cut_is_an_error(ranker):
    model = load_cross_encoder(ranker)
    assert model.room("the window") == 32 - 3 - 2
    assert model.logits([("word " * 27, "the window")]).shape == (1, 1)
    with pytest.raises(ConfigError, match="1 tokens longer than the 32"):
        model.logits([("word " * 28, "the window")])


def test_a_passage_cannot_write_the_border_between_the_texts(ranker):
    model = load_cross_encoder(ranker)
    assert len(model.offsets("a [SEP] man")) == 5
    spelled = model.scores([("the window", "a [SEP] man"), ("the window", "a [ sep ] man")])
    assert spelled[0] == pytest.approx(spelled[1], abs=1e-5)


def test_an_nli_model_is_no_relevance_scorer(nli):
    with pytest.raises(ConfigError, match="not one score"):
        load_cross_encoder(nli).scores([("a", "b")])


# ---------------------------------------------------------------- labels


def test_the_order_of_the_labels_is_read_from_the_config(nli, tmp_path):
    said = NLICrossEncoder(nli).judge("A man is eating bread in the kitchen.", "A man is eating.")
    assert said.label == "entail"
    assert (said.contradict, said.neutral) == (
        pytest.approx(0.0064, abs=2e-4),
        pytest.approx(0.0471, abs=2e-4),
    )
    other = {pair: (logits[2], logits[0], logits[1]) for pair, logits in PROBE.items()}
    turned = tiny_encoder.build(tmp_path / "turned", ["ENTAILMENT", "contradiction", "Neutral"], other)
    again = NLICrossEncoder(turned).judge("A man is eating bread in the kitchen.", "A man is eating.")
    assert again.entail == pytest.approx(said.entail, abs=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        ["entailment", "neutral", "contradiction"],
        ["neutral", "contradiction", "entailment"],
        ["contradiction", "entailment", "neutral"],
        ["neutral", "entailment", "contradiction"],
        ["entailment", "contradiction", "neutral"],
    ],
)
def test_every_wrong_order_is_found_by_the_probe(tmp_path, wrong):
    folder = tiny_encoder.rename_labels(tiny_encoder.build(tmp_path / "m", ORDER, PROBE), wrong)
    with pytest.raises(WeightsError, match="wrong order"):
        NLICrossEncoder(folder)


@pytest.mark.parametrize(
    "names",
    [["LABEL_0", "LABEL_1", "LABEL_2"], ["entailment", "neutral", "neutral"], ["entailment", "no", "maybe"]],
)
def test_names_that_say_nothing_are_refused(tmp_path, names):
    folder = tiny_encoder.rename_labels(tiny_encoder.build(tmp_path / "m", ORDER, PROBE), names)
    with pytest.raises(WeightsError, match="id2label"):
        NLICrossEncoder(folder)


# ---------------------------------------------------------------- windows


class WordEncoder:
    """Counts words as tokens; entails where a window holds "yes", contradicts where it holds "no"."""

    name, labels, max_tokens = "words", ("entailment", "neutral", "contradiction"), 16

    def __init__(self):
        self.windows = []

    def offsets(self, text):
        spans, position = [], 0
        for word in text.split():
            start = text.index(word, position)
            position = start + len(word)
            spans.append((start, position))
        return spans

    def room(self, text):
        return self.max_tokens - 3 - len(text.split())

    def logits(self, pairs):
        self.windows = [left for left, _ in pairs]
        rows = [(4.0 * ("yes" in left.split()), 1.0, 3.0 * ("no" in left.split())) for left, _ in pairs]
        return np.array(rows, np.float32)


@pytest.fixture
def judge(monkeypatch):
    monkeypatch.setattr(entailment, "load_cross_encoder", lambda path: WordEncoder())
    monkeypatch.setattr(entailment, "_PROBE", ())
    return NLICrossEncoder("words")


@given(length=st.integers(1, 80), claim=st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_windows_hold_every_word_and_all_fit(length, claim):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entailment, "load_cross_encoder", lambda path: WordEncoder())
        patch.setattr(entailment, "_PROBE", ())
        judge = NLICrossEncoder("words")
    premise, hypothesis = " ".join(f"w{n}" for n in range(length)), " ".join(["so"] * claim)
    judge.judge(premise, hypothesis)
    windows = [window.split() for window in judge._encoder.windows]
    assert all(len(window) <= 13 - claim for window in windows)
    assert {word for window in windows for word in window} == set(premise.split())
    assert all(set(a) & set(b) for a, b in pairwise(windows))
    assert (len(windows) == 1) == (length <= 13 - claim)


def test_evidence_at_the_end_of_a_long_premise_is_found(judge):
    said = judge.judge("word " * 50 + "yes", "so")
    assert said.label == "entail"
    assert said.entail == pytest.approx(np.exp(4) / (np.exp(4) + np.e + 1), abs=1e-5)


def test_contradiction_is_reported_apart_from_neutral(judge):
    both = judge.judge("no " + "word " * 50 + "yes", "so")
    assert (both.label, both.neutral) == ("entail", 0.0)
    assert both.contradict == pytest.approx(np.exp(3) / (np.exp(3) + np.e + 1), abs=1e-5)
    assert judge.judge("word " * 50 + "no", "so").label == "contradict"
    silent = judge.judge("word " * 50, "so")
    assert silent.label == "neutral"
    assert silent.entail + silent.neutral + silent.contradict == pytest.approx(1.0)


def test_a_claim_as_long_as_the_model_reads_has_no_verdict(judge):
    with pytest.raises(TooLongToJudge, match="shorter claims"):
        judge.judge("word", "so " * 8)


def test_among_equals_the_cautious_label_wins():
    assert Entailment(0.5, 0.5, 0.0).label == "neutral"
    assert Entailment(0.5, 0.0, 0.5).label == "contradict"


# ---------------------------------------------------------------- the LLM behind the same protocol


def test_the_llm_gives_three_probabilities_in_one_call():
    client = LLMClient(scripted_table({"": {"yes": 0.2, "no": 0.6, "False": 0.1, "so": 0.1}}))
    plain = LLMEntailment(client, neutral_weight=1.0).judge("premise", "claim")
    assert (plain.entail, plain.neutral, plain.contradict) == pytest.approx((2 / 9, 6 / 9, 1 / 9), abs=1e-3)
    weighted = LLMEntailment(client, neutral_weight=0.2).judge("premise", "claim")
    assert (weighted.entail, weighted.neutral, weighted.contradict) == pytest.approx(
        (20 / 42, 12 / 42, 10 / 42), abs=1e-3
    )
    assert (LLMEntailment.calls, NLICrossEncoder.calls) == (1, 0)


def test_an_llm_that_cannot_tell_raises():
    with pytest.raises(ReplyUnparsable):
        LLMEntailment(LLMClient("scripted/garbage")).judge("premise", "claim")
