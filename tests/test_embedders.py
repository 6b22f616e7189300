"""Embedders: what they promise about order, length and rounding, and how one is chosen."""

import builtins
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cookbook.embedders import (
    Fingerprint,
    HashEmbedder,
    LiteLLMEmbedder,
    MiniLM,
    WordTokenizer,
    get_embedder,
    real,
    require_fit,
    settle,
)
from cookbook.embedders.recorded import RecordedEmbedder, RecordingEmbedder
from cookbook.errors import CallError, ConfigError, WeightsError
from cookbook.providers import gateway

# ---------------------------------------------------------------- fingerprints


def test_every_field_changes_the_fingerprint() -> None:
    base = Fingerprint("m", "1", "", True, 254, 384)
    others = [
        Fingerprint("m", "2", "", True, 254, 384),
        Fingerprint("m", "1", "query: ", True, 254, 384),
        Fingerprint("m", "1", "", False, 254, 384),
        Fingerprint("m", "1", "", True, 510, 384),
        Fingerprint("m", "1", "", True, 254, 256),
    ]
    assert len({f.key for f in [base, *others]}) == 6


def test_keys_are_stable() -> None:
    assert HashEmbedder.fingerprint.key == "scripted:f179287b41f3"
    assert MiniLM.FINGERPRINT.key == "all-minilm-l6-v2:f0446337a20d"
    assert (MiniLM.FINGERPRINT.max_tokens, MiniLM.FINGERPRINT.dim) == (254, 384)


# ---------------------------------------------------------------- what all embedders hold to


def test_settled_vectors_are_unit_length_and_stay_the_same_through_16_bits() -> None:
    vectors = settle(np.random.default_rng(0).normal(size=(50, 384)), ["x"] * 50, "test")
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(50), abs=1e-6)
    recorded = settle(vectors.astype(np.float16), ["x"] * 50, "test")
    assert np.array_equal(recorded, vectors)


@pytest.mark.parametrize("bad", [[[0.0, 0.0]], [[float("nan"), 1.0]], [[float("inf"), 1.0]]])
def test_zeros_and_nan_are_refused(bad: list[list[float]]) -> None:
    with pytest.raises(
        CallError, match="test gave a vector of zeros or NaN for 'some text'; leave the text out"
    ):
        settle(bad, ["some text"], "test")


def test_a_missing_vector_is_refused() -> None:
    with pytest.raises(CallError, match=r"test gave vectors of shape \(1, 2\) for 2 texts"):
        settle([[1.0, 0.0]], ["a", "b"], "test")


def test_a_text_that_would_be_cut_is_refused_with_the_remedy() -> None:
    short = Fingerprint("short", "1", "", True, max_tokens=4, dim=2)
    require_fit(["four words are fine"], short, WordTokenizer())
    with pytest.raises(ConfigError) as caught:
        require_fit(["fine", "but five words are not"], short, WordTokenizer())
    assert str(caught.value) == (
        "text 1 ('but five words are not') has 5 tokens and short reads 4; "
        "chunk with max_tokens=4, tokenizer=embedder.tokenizer"
    )


def test_words_and_marks_are_tokens() -> None:
    assert WordTokenizer().offsets("Don't, LK-504") == [
        (0, 3),
        (3, 4),
        (4, 5),
        (5, 6),
        (7, 9),
        (9, 10),
        (10, 13),
    ]


# ---------------------------------------------------------------- the stand-in


def test_the_stand_in_ranks_by_shared_words() -> None:
    query, close, far = HashEmbedder().embed(["export the workspace", "exporting a workspace", "refund"])
    assert query @ close == pytest.approx(1.0, abs=1e-3)
    assert query @ far == pytest.approx(0.0, abs=1e-3)


def test_order_and_duplicates_are_kept() -> None:
    embedder = HashEmbedder()
    texts = ["chunk b", "chunk a", "chunk c", "chunk a"]
    together = embedder.embed(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(row, embedder.embed([text])[0])
    assert embedder.embed([]).shape == (0, 256)


def test_a_bare_string_and_a_blank_text_are_refused() -> None:
    with pytest.raises(ConfigError, match="takes a list of texts"):
        HashEmbedder().embed("a string")
    with pytest.raises(ConfigError, match="text 1 is blank"):
        HashEmbedder().embed(["text", " \n"])
    with pytest.raises(CallError, match="zeros or NaN for '---'"):
        HashEmbedder().embed(["---"])


# ---------------------------------------------------------------- hosted models


class FakeLiteLLM:
    """Answers out of order, as some providers do; the vector of a text is its length and 1."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.lose = False

    def embedding(self, *, model: str, input: Sequence[str], **_: Any) -> Any:
        assert model == "openai/text-embedding-3-small"
        self.sizes.append(len(input))
        rows = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(input)]
        reply = type("Reply", (), {})()
        reply.data = rows[::-1][: len(rows) - self.lose]
        return reply


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> FakeLiteLLM:
    fake = FakeLiteLLM()
    monkeypatch.setattr(gateway, "litellm", lambda: fake)
    monkeypatch.setattr(gateway, "require_key", lambda *_: None)
    return fake


def test_hosted_vectors_are_put_in_order_and_fetched_in_batches(hosted: FakeLiteLLM) -> None:
    embedder = LiteLLMEmbedder("openai/text-embedding-3-small")
    texts = [f"{'x' * n}" for n in range(1, 151)]
    vectors = embedder.embed(texts)
    assert hosted.sizes == [64, 64, 22]
    assert vectors[:, 0] / vectors[:, 1] == pytest.approx(np.arange(1, 151), rel=5e-3)
    assert embedder.fingerprint == Fingerprint("openai/text-embedding-3-small", "hosted", "", True, None, 2)


def test_a_hosted_model_that_loses_a_text_is_an_error(hosted: FakeLiteLLM) -> None:
    hosted.lose = True
    with pytest.raises(CallError, match="openai/text-embedding-3-small gave vectors for 1 of 2 texts"):
        LiteLLMEmbedder("openai/text-embedding-3-small").embed(["a", "b"])


# ---------------------------------------------------------------- by name


def test_an_embedder_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    assert isinstance(get_embedder("scripted"), HashEmbedder)
    assert isinstance(get_embedder("replay"), RecordedEmbedder)
    assert isinstance(get_embedder("openai/text-embedding-3-small"), LiteLLMEmbedder)
    with pytest.raises(WeightsError, match="run: cookbook models fetch all-minilm-l6-v2"):
        get_embedder("all-minilm-l6-v2")
    with pytest.raises(
        ConfigError, match="unknown embedder 'minilm'; use replay, all-minilm-l6-v2, scripted, or"
    ):
        get_embedder("minilm")


@pytest.mark.parametrize("provider", ["replay", "replay/openai/gpt-5.4-mini", "scripted/always-no"])
def test_providers_without_weights_take_recorded_vectors(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("PROVIDER", provider)
    assert isinstance(get_embedder(), RecordedEmbedder)


@pytest.mark.parametrize("provider", ["local", "openai", ""])
def test_live_providers_take_minilm(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, provider: str) -> None:
    monkeypatch.setenv("PROVIDER", provider)
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path))
    with pytest.raises(WeightsError):
        get_embedder()


@pytest.mark.parametrize("setting", ["COOKBOOK_RECORD", "COOKBOOK_RECORD_EMBEDDINGS"])
def test_recording_wraps_what_is_live(
    monkeypatch: pytest.MonkeyPatch, hosted: FakeLiteLLM, setting: str
) -> None:
    monkeypatch.setenv(setting, "notes")
    assert isinstance(get_embedder("openai/text-embedding-3-small"), RecordingEmbedder)
    assert isinstance(get_embedder("scripted"), HashEmbedder)
    assert isinstance(get_embedder("replay"), RecordedEmbedder)


def test_every_embedder_says_what_it_is(hosted: FakeLiteLLM) -> None:
    assert HashEmbedder().describe() == "embedder scripted (a stand-in that counts shared words)"
    assert LiteLLMEmbedder("openai/x").describe() == "embedder openai/x"


# ---------------------------------------------------------------- the real one


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    try:
        return MiniLM()
    except WeightsError as error:
        pytest.skip(str(error))


@pytest.mark.live
def test_minilm_keeps_order_length_and_meaning(minilm: MiniLM) -> None:
    texts = ["How do I get my money back?", "Refunds take 10 working days.", "The board has columns."]
    vectors = minilm.embed([*texts, texts[0]])
    assert vectors.shape == (4, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    assert np.array_equal(vectors[0], vectors[3])
    for text, row in zip(texts, vectors, strict=False):
        assert row == pytest.approx(minilm.embed([text])[0], abs=2e-3)
    assert vectors[0] @ vectors[1] > 0.4 > vectors[0] @ vectors[2]


@pytest.mark.live
def test_minilm_reads_254_tokens_and_says_so_beyond(minilm: MiniLM) -> None:
    """Case: only the last sentence of a long chunk matters; cut silently, it would leave no trace."""
    head = "The harbour was quiet that morning. " * 35
    tail = "The refund window is ninety days."
    assert len(minilm.tokenizer.offsets(head)) == 245
    assert minilm.embed([head]).shape == (1, 384)
    with pytest.raises(ConfigError, match=r"has 498 tokens and all-minilm-l6-v2 reads 254"):
        minilm.embed([head + head + tail])
    assert minilm._model.max_seq_length == 254 + 2
    cut = minilm._model.encode([head + head, head + head + tail])
    assert cut[0] @ cut[1] == pytest.approx(1.0, abs=1e-5)  # what the model would have done


@pytest.mark.live
def test_minilm_tokens_are_spans_of_the_text(minilm: MiniLM) -> None:
    text = "Zoë's  LK-504"
    assert [text[a:b] for a, b in minilm.tokenizer.offsets(text)] == [
        "Zoë",
        "'",
        "s",
        "L",
        "K",
        "-",
        "50",
        "4",
    ]


# ---------------------------------------------------------------- weights of the right size, wrong bytes


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MiniLM:
    """MiniLM over a folder that passes the look at the sizes."""
    monkeypatch.setattr(real, "weights_path", lambda name: tmp_path)
    return MiniLM()


UNLOADABLE = (
    "^the weights of all-minilm-l6-v2 cannot be loaded; run: cookbook models verify all-minilm-l6-v2, "
    "then cookbook models fetch all-minilm-l6-v2$"
)


def test_a_tokenizer_that_cannot_be_read(damaged: MiniLM, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(bytes(100))
    with pytest.raises(WeightsError, match=UNLOADABLE):
        damaged.embed(["a"])


@pytest.mark.parametrize("kind", ["SafetensorError", "OSError", "ValueError"])
def test_weights_that_cannot_be_loaded(kind: str, damaged: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    module = pytest.importorskip("safetensors") if kind == "SafetensorError" else builtins
    error = getattr(module, kind)("wrong bytes")

    def load(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", load)
    with pytest.raises(WeightsError, match=UNLOADABLE) as caught:
        _ = damaged._model
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_weights_that_give_zeros_or_nan(value: float, damaged: MiniLM) -> None:
    class Model:
        def encode(self, texts: list[str], **_: object) -> Any:
            return np.full((len(texts), 384), value)

    damaged.__dict__ |= {"tokenizer": WordTokenizer(), "_model": Model()}
    with pytest.raises(WeightsError, match=UNLOADABLE):
        damaged.embed(["a"])
