"""Field cases of the chunkers, each over whole corpora or generated texts and not over one example."""

from __future__ import annotations

import random
import re

import pytest
from test_chunkers import KNOWN_WRONG, SENTENCES

from cookbook.chunkers import CHUNKERS, markdown_sections, sentence_spans, sentence_window
from cookbook.corpora import load_corpus
from cookbook.embedders import HashEmbedder, WordTokenizer
from cookbook.errors import ConfigError
from cookbook.paths import NOTEBOOKS
from cookbook.retrieval import cut
from cookbook.schema import Document

WORDS = WordTokenizer()
PIECES = [
    "Dr. Wu came at 9:30 a.m. today. ", "no stop ", "低头思故乡。", "यह वाक्य है। ", "배포는 도커. ", "هل أنت بخير؟ ",
    "# One\r\n", "## Two\n", "```\n# code\n", "~~~\n", "\r\n", "\n\n", "\t", "\u00a0", "\u200b", "C++ ", "x" * 30,
]  # fmt: skip


def generated(n: int = 200) -> list[str]:
    dice = random.Random(3)
    return ["".join(dice.choice(PIECES) for _ in range(dice.randint(1, 25))) for _ in range(n)]


def chunked(name: str, documents):
    return cut(documents, name, HashEmbedder())


@pytest.mark.parametrize("name", CHUNKERS)
def test_field_case_C02_a_chunk_is_a_quotation_and_nothing_is_lost(name):
    texts = [*generated(), *(document.text for document in load_corpus("attention_digest"))]
    for text in texts:
        held = set()
        for chunk in chunked(name, [Document("d", text)]):
            assert text[chunk.start : chunk.end] == chunk.text
            held.update(range(chunk.start, chunk.end))
        if re.search(r"\w", text.replace("_", "")):
            assert [c for i, c in enumerate(text) if i not in held and not c.isspace()] == []


@pytest.mark.parametrize("name", ["sentence_window", "markdown_sections"])
def test_field_case_E01_the_tail_of_a_long_passage_is_in_a_chunk_that_the_embedder_reads(name):
    class Short(HashEmbedder):
        """Reads 254 tokens, as MiniLM does."""

        fingerprint = HashEmbedder.fingerprint.__class__("short", "1", "", True, 254, 256)

    text = "filler " * 900 + "and the export is kept for 30 days."
    chunks = cut([Document("d", text)], name, Short())
    assert max(len(WORDS.offsets(chunk.text)) for chunk in chunks) <= 254
    (tail,) = [chunk for chunk in chunks if "kept for 30 days" in chunk.text]
    whole, without = HashEmbedder().embed([tail.text, tail.text.replace("kept for 30 days", "")])
    assert not (whole == without).all()  # the tail counts in the vector that stands for it
    assert all(chunk.metadata.get("split") for chunk in chunks)  # and the report says what was cut


def test_field_case_E01_a_notebook_shows_it():
    assert "max_tokens" in (NOTEBOOKS / "01_corpus_to_chunks.ipynb").read_text(encoding="utf-8")


FENCES = ["```\n{}\n```", "~~~\n{}\n~~~", "```\n{}\n`````", "   ```\n{}\n   ```", "```py\n{}"]


@pytest.mark.parametrize("fence", FENCES)
def test_field_case_C04_a_hash_in_code_is_no_heading_and_code_keeps_its_white_space(fence):
    code = "# comment\n\tindented\u00a0with a no-break space\n## more"
    closed = not fence.endswith("}")
    text = f"# Top\n\nbefore\n\n{fence.format(code)}" + ("\n\n# Next\n\nafter" if closed else "")
    chunks = markdown_sections([text])
    assert [chunk.headings for chunk in chunks] == ([("Top",), ("Next",)] if closed else [("Top",)])
    assert code in chunks[0].text
    assert "".join("".join(c.text for c in chunks).split()) == "".join(text.split())


@pytest.mark.parametrize("window", range(1, 6))
def test_field_case_C05_windows_stop_at_the_border_of_a_document(window):
    one, two = "hello. foo bar. cat dog. mouse", "Alone."
    chunks = sentence_window([one, two], window, 0)
    by_document = {d: [c for c in chunks if c.doc_id == d] for d in ("doc0", "doc1")}
    assert [c.text for c in by_document["doc1"]] == ["Alone."]
    assert by_document["doc0"][0].start == 0
    assert by_document["doc0"][-1].end == len(one)
    assert len(by_document["doc0"]) == -(-4 // window)  # a window longer than the document is the document
    assert len({id(chunk.metadata) for chunk in chunks}) == len(
        chunks
    )  # none shares what is noted on another
    sentence_of = {one[a:b].strip() for a, b in sentence_spans(one)}
    assert sentence_of == {"hello.", "foo bar.", "cat dog.", "mouse"}


def test_field_case_C05_a_window_of_nothing_is_an_error():
    with pytest.raises(ConfigError):
        sentence_window(["One. Two."], 0, 0)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Sharma arrived at 9:30 a.m., slightly out of breath, but she had the keys.", 1),
        ("See Fig. 3.2 of v1.2.3 (cf. e.g. p. 5).", 1),
        ("She lives in the U.S. He does not.", 2),
    ],
)
def test_field_case_C01_an_abbreviation_ends_no_sentence(text, sentences):
    assert len(sentence_spans(text)) == sentences


def test_field_case_C01_the_pass_rate_over_languages_may_not_fall():
    right = len(SENTENCES) - len(KNOWN_WRONG)  # test_chunkers.py holds that these and no others are wrong
    print(f"{right} of {len(SENTENCES)} sentence cases right")
    assert right >= 36
    assert len(SENTENCES) >= 45
