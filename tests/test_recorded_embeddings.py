"""Recording vectors and tokens, and replaying them without the embedder."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook import paths
from cookbook.chunkers import CHUNKERS
from cookbook.embedders import Fingerprint, HashEmbedder, MiniLM, Vectors, WordTokenizer
from cookbook.embedders.recorded import (
    RecordedEmbedder,
    RecordedTokenizer,
    RecordingEmbedder,
    RecordingTokenizer,
    Records,
)
from cookbook.errors import ConfigError, FingerprintMismatch, ReplayMiss, WeightsError
from cookbook.retrieval import cut
from cookbook.schema import Document

FINGERPRINT = HashEmbedder.fingerprint


class Live(HashEmbedder):
    """The stand-in in the part of a live embedder; remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed(texts)


@pytest.fixture(autouse=True)
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    return tmp_path / "embeddings"


def test_a_replay_gives_what_the_recording_gave(recordings: Path) -> None:
    recorder = RecordingEmbedder(Live(), "notes")
    texts = ["chunk b", "chunk a", "chunk c", "chunk a"]
    recorded = recorder.embed(texts)
    assert np.array_equal(recorded, HashEmbedder().embed(texts))
    replayed = RecordedEmbedder(FINGERPRINT)
    assert np.array_equal(replayed.embed(texts[::-1]), recorded[::-1])
    assert replayed.embed([]).shape == (0, 256)
    assert replayed.describe() == "embedder scripted (replay of recorded vectors)"
    assert recorder.describe().endswith("recording to notes.npz")
    assert sorted(p.name for p in recordings.iterdir() if p.suffix != ".lock") == ["notes.npz"]


def test_a_text_recorded_in_any_file_is_not_asked_again(recordings: Path) -> None:
    RecordingEmbedder(Live(), "one").embed(["chunk a"])
    live = Live()
    recorder = RecordingEmbedder(live, "two")
    recorder.embed(["chunk b", "chunk a", "chunk b"])
    recorder.embed(["chunk b"])
    assert live.asked == ["chunk b"]
    assert len(Records.read(recordings / "two.npz").vectors) == 1
    assert RecordedEmbedder(FINGERPRINT).embed(["chunk a", "chunk b"]).shape == (2, 256)


def test_two_recordings_at_once_lose_nothing(recordings: Path) -> None:
    first, second = RecordingEmbedder(Live(), "notes"), RecordingEmbedder(Live(), "notes")
    first.embed(["chunk a"])
    second.embed(["chunk b"])
    first.embed(["chunk c"])
    assert len(Records.read(recordings / "notes.npz").vectors) == 3


def test_a_miss_names_the_text_and_the_way_to_go_live() -> None:
    with pytest.raises(ReplayMiss) as caught:
        RecordedEmbedder().embed(["What  is the\nrefund window for people who pay by the year, and why?"])
    assert str(caught.value) == (
        "no vector of all-minilm-l6-v2 is recorded for 'What is the refund window for people who pay by t…'; "
        "to go live: cookbook models fetch all-minilm-l6-v2, then PROVIDER=local, or get_embedder('all-minilm-l6-v2') in Python"
    )


def test_chunks_are_cut_alike_from_recorded_tokens() -> None:
    text = (
        "# Title\n\nOne two-part word, don't you think?  It costs $5.\n\n"
        + "More\u00a0words\twith tabs. " * 30
    )
    recorder = RecordingEmbedder(Live(), "notes")
    recorder.tokenizer.offsets(text)
    recorder.embed(["anything"])
    replay = RecordedEmbedder(FINGERPRINT)
    assert replay.tokenizer.offsets(text) == WordTokenizer().offsets(text)
    # Any other cut between words needs no more recording.
    for size in (8, 20):
        cuts = [
            CHUNKERS["markdown_sections"]([text], tokenizer=tokenizer, max_tokens=size)
            for tokenizer in (replay.tokenizer, WordTokenizer())
        ]
        assert cuts[0] == cuts[1]
    with pytest.raises(ReplayMiss, match="no tokens are recorded for the word 'unseen'"):
        replay.tokenizer.offsets("One unseen")


@settings(deadline=None, max_examples=100)
@given(text=st.text(alphabet="ab .-\u00a0\u200b\n\té", max_size=40), data=st.data())
def test_tokens_of_any_stretch_between_words_follow_from_the_whole(text: str, data: st.DataObject) -> None:
    fresh = Records(FINGERPRINT)
    RecordingTokenizer(WordTokenizer(), Records(FINGERPRINT), fresh).offsets(text)
    borders = sorted({0, len(text), *(m.start() for m in re.finditer(r"[ \t\n]", text))})
    start, end = sorted((data.draw(st.sampled_from(borders)), data.draw(st.sampled_from(borders))))
    assert RecordedTokenizer(fresh).offsets(text[start:end]) == WordTokenizer().offsets(text[start:end])


class Joining(WordTokenizer):
    """Counts a space with the word after it, as byte-level tokenizers do."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r" ?\S+", text)]


def test_a_tokenizer_that_joins_across_white_space_is_refused() -> None:
    live = Live()
    live.tokenizer = Joining()
    with pytest.raises(ConfigError, match="the tokenizer words joins words"):
        RecordingEmbedder(live, "notes").tokenizer.offsets("two words")


def test_other_settings_of_the_same_embedder_are_refused(recordings: Path) -> None:
    RecordingEmbedder(Live(), "notes").embed(["chunk a"])
    changed = Fingerprint("scripted", "hashed-terms-2", "", True, None, 256)
    with pytest.raises(
        FingerprintMismatch, match=r"notes\.npz was recorded with scripted:\w+, this is scripted:\w+"
    ):
        RecordedEmbedder(changed)
    other = Records(Fingerprint("other", "1", "", True, None, 256))
    with pytest.raises(
        FingerprintMismatch, match=r"holds vectors of scripted:\w+, not other:\w+; choose another name"
    ):
        other.save(recordings / "notes.npz")
    assert len(RecordedEmbedder(FINGERPRINT)._records.vectors) == 1


@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_a_damaged_file_is_named(recordings: Path, damage: bytes | None) -> None:
    RecordingEmbedder(Live(), "notes").embed(["chunk a"])
    path = recordings / "notes.npz"
    path.write_bytes(path.read_bytes()[:-100] if damage is None else damage)
    with pytest.raises(ConfigError, match=r"notes\.npz is not a recording of embeddings .*; record it again"):
        RecordedEmbedder(FINGERPRINT)


def test_a_recording_killed_while_writing_keeps_the_old_file(
    recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = RecordingEmbedder(Live(), "notes")
    recorder.embed(["chunk a"])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        recorder.embed(["chunk b"])
    assert len(Records.read(recordings / "notes.npz").vectors) == 1


@pytest.mark.live
def test_minilm_is_recorded_and_replayed_to_the_last_bit() -> None:
    try:
        live = MiniLM()
    except WeightsError as error:
        pytest.skip(str(error))
    documents = [
        Document(
            "a.md", "# Refunds\n\nA refund takes 10 working days.\n\n# Zoë's naïve café\n\n故乡 is home."
        )
    ]
    recorder = RecordingEmbedder(live, "notes")
    chunks = cut(documents, "markdown_sections", recorder)
    recorded = recorder.embed([chunk.text for chunk in chunks])
    replay = RecordedEmbedder()
    assert cut(documents, "markdown_sections", replay) == chunks == cut(documents, "markdown_sections", live)
    assert np.array_equal(replay.embed([chunk.text for chunk in chunks]), recorded)
    assert recorded == pytest.approx(live.embed([chunk.text for chunk in chunks]), abs=2e-3)
