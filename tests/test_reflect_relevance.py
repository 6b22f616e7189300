"""Relevance graders: batched by an LLM, scored by encoders, and none that cares about the order of passages."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reflect_parts import passage

from cookbook.embedders import HashEmbedder
from cookbook.errors import ConfigError, WrongScoreKind
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted, scripted_table
from cookbook.reflect.calibrate import Sigmoid
from cookbook.reflect.relevance import (
    MINILM_RELEVANCE,
    BatchedRelevance,
    CrossEncoderRelevance,
    EmbeddingCosine,
    EmbeddingRelevance,
    LLMRelevance,
    PercentileRelevance,
    RelevanceGrader,
)
from cookbook.schema import Relevance, ScoreKind
from cookbook.tracing import request, step

YES, NO = Relevance.RELEVANT, Relevance.IRRELEVANT
PLAIN = Sigmoid(0.3, 0.05, ScoreKind.COSINE)
EIGHT = [
    passage(f"{'Export' if n % 3 == 0 else 'Invoice'} rule number {n}.", f"{name}.md#0")
    for n, name in enumerate(["guests", "api", "exports", "billing", "a#b", "zoo", "login", "data"])
]


def of(reply) -> LLMClient:
    return LLMClient(
        scripted_table({"": reply if isinstance(reply, str) else json.dumps(reply)}), max_retries=0
    )


def items(**verdicts) -> dict:
    return {"grades": [{"id": name, "relevant": said} for name, said in verdicts.items()]}


# ---------------------------------------------------------------- batched

THREE = [
    passage("alpha", "c.md#0"),
    passage("beta", "a.md#0"),
    passage("gamma", "b.md#0"),
]  # A = beta, B = gamma


def labels(reply, hits=THREE):
    verdicts = BatchedRelevance(of(reply)).grade("q", hits)
    assert [v.subject for v in verdicts] == [hit.chunk_id for hit in hits]
    assert all(bool(v.failure) == v.failed for v in verdicts)
    return [v.label for v in verdicts]


def test_one_call_grades_several_passages_by_their_letters():
    with request("q", system="test") as trace, step("grade"):
        verdicts = BatchedRelevance(of(items(A="yes", B="no", C="no"))).grade("q", THREE)
    assert [v.label for v in verdicts] == [NO, YES, NO]
    assert trace.calls == 1
    assert trace.steps[0].verdicts == verdicts


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (items(C="yes", A="no", B="yes"), [YES, NO, YES]),  # another order
        (items(A="yes", C="no"), [NO, YES, None]),  # one is missing
        (items(A="yes", B="no", C="no", D="yes"), [NO, YES, NO]),  # one too many
        (items(A="yes", B="no", D="yes"), [None, YES, NO]),  # an unknown id is no verdict on anybody else
        (
            {"grades": [*items(A="yes", B="no", C="no")["grades"], {"id": "A", "relevant": "no"}]},
            [NO, None, NO],
        ),
        (
            {"grades": [*items(A="yes", B="no", C="no")["grades"], {"id": "A", "relevant": "yes"}]},
            [NO, None, NO],
        ),
        (items(A="maybe", B="no", C="yes"), [YES, None, NO]),
        (items(A=None, B="no", C="yes"), [YES, None, NO]),
        (items(A=True, B="no", C="yes"), [YES, None, NO]),
        (
            {"grades": [{"id": "A", "relevant": "yes", "why": "x"}, *items(B="no", C="yes")["grades"]]},
            [YES, None, NO],
        ),
        ({"grades": ["A", 3, None, *items(B="no", C="yes")["grades"]]}, [YES, None, NO]),
        ({"grades": []}, [None] * 3),
        ({"grades": {"A": "yes"}}, [None] * 3),
        ({"verdicts": []}, [None] * 3),
        ("The passages A and C are relevant.", [None] * 3),
        ("", [None] * 3),
    ],
)
def test_a_verdict_counts_when_exactly_one_item_names_the_passage(reply, expected):
    assert labels(reply) == expected


def test_a_model_that_is_down_fails_every_passage():
    verdicts = BatchedRelevance(LLMClient("scripted/unavailable", max_retries=0)).grade("q", THREE)
    assert [v.label for v in verdicts] == [None] * 3
    assert all("refused the connection" in v.failure for v in verdicts)


def test_more_passages_than_fit_take_more_calls():
    replies = {'id="A">\nTitle\nInvoice rule number 4': items(A="yes", B="no", C="no")}
    client = LLMClient(
        scripted_table(
            {**{k: json.dumps(v) for k, v in replies.items()}, "": json.dumps(items(A="no", B="yes", C="no"))}
        )
    )
    with request("q", system="test") as trace, step("grade"):
        verdicts = BatchedRelevance(client, most=3).grade("q", EIGHT)
    assert trace.calls == 3
    # a#b, api, billing | data, exports, guests | login, zoo
    assert [v.subject for v in verdicts if v.label is YES] == ["exports.md#0", "a#b.md#0", "zoo.md#0"]


def test_no_passages_cost_no_call():
    with request("q", system="test") as trace, step("grade"):
        assert BatchedRelevance(of("")).grade("q", []) == []
        assert EmbeddingRelevance(HashEmbedder(), PLAIN).grade("q", []) == []
    assert (trace.calls, trace.embeddings) == (0, 0)


def test_the_reply_is_held_to_a_list_of_items():
    from cookbook.providers.parse import schema_of
    from cookbook.reflect.relevance.batched import Grades

    [items_schema] = [schema_of(Grades)["properties"]["grades"]["items"]]
    assert items_schema["required"] == ["id", "relevant"]
    assert items_schema["additionalProperties"] is False
    assert items_schema["properties"]["relevant"]["enum"] == ["yes", "no"]


@pytest.mark.parametrize("most", [0, 27])
def test_a_call_takes_as_many_passages_as_there_are_letters(most):
    with pytest.raises(ConfigError, match="1 to 26"):
        BatchedRelevance(of(""), most=most)


# ---------------------------------------------------------------- scored


class Logits:
    """A cross-encoder with a logit per passage text."""

    kind = ScoreKind.CROSS_ENCODER

    def __init__(self, table):
        self.table = table

    def scores(self, pairs):
        return np.array([self.table[right] for _, right in pairs], np.float32)


def test_a_cosine_is_computed_from_the_texts_whatever_score_a_hit_carries():
    near, far = (
        passage("export my data", "n#0", 0.016, ScoreKind.RRF),
        passage("invoices", "f#0", 0.99, ScoreKind.RRF),
    )
    with request("q", system="test") as trace, step("grade"):
        verdicts = EmbeddingRelevance(HashEmbedder(), PLAIN).grade("export data", [far, near])
    assert [(v.subject, v.label) for v in verdicts] == [("f#0", NO), ("n#0", YES)]
    cosine = float(EmbeddingCosine(HashEmbedder()).scores([("export data", "export my data")])[0])
    assert verdicts[1].probability == pytest.approx(1 / (1 + np.exp(-(cosine - 0.3) / 0.05)), abs=1e-6)
    assert verdicts[0].probability == pytest.approx(1 - 1 / (1 + np.exp(0.3 / 0.05)), abs=1e-6)
    assert (trace.calls, trace.embeddings) == (0, 1)
    assert trace.steps[0].verdicts == verdicts


def test_without_an_embedder_the_cosines_of_search_are_calibrated():
    hits = [passage("x", "a#0", 0.29), passage("y", "b#0", 0.31)]
    with request("q", system="test") as trace, step("grade"):
        verdicts = EmbeddingRelevance(None, PLAIN).grade("q", hits)
    assert [v.label for v in verdicts] == [NO, YES]
    assert trace.embeddings == 0
    with pytest.raises(WrongScoreKind, match="refit"):
        EmbeddingRelevance(None, PLAIN).grade("q", [passage("x", kind=ScoreKind.RRF)])


def test_the_cut_off_is_on_the_probability():
    hits = [passage("x", score=0.31)]
    assert EmbeddingRelevance(None, PLAIN, 0.5).grade("q", hits)[0].label is YES
    assert EmbeddingRelevance(None, PLAIN, 0.6).grade("q", hits)[0].label is NO


def test_a_calibration_of_another_embedder_is_refused():
    with pytest.raises(ConfigError, match="all-minilm-l6-v2 and the embedder is scripted"):
        EmbeddingRelevance(HashEmbedder(), MINILM_RELEVANCE)


def test_a_text_is_embedded_once():
    seen = []

    class Spy(HashEmbedder):
        def embed(self, texts):
            seen.extend(texts)
            return super().embed(texts)

    scores = EmbeddingCosine(Spy()).scores([("red", "blue"), ("red", "green"), ("blue", "blue")])
    assert seen == ["red", "blue", "green"]
    assert scores.tolist() == pytest.approx([0, 0, 1], abs=1e-3)
    assert EmbeddingCosine(Spy()).scores([]).shape == (0,)


def test_a_cross_encoder_is_calibrated_on_its_own_scale():
    model = Logits({"good": 4.0, "bad": -4.0})
    hits = [passage("bad", "b#0", 0.9), passage("good", "g#0", 0.1)]
    grader = CrossEncoderRelevance(model, Sigmoid(0.0, 2.0, ScoreKind.CROSS_ENCODER))
    assert [v.label for v in grader.grade("q", hits)] == [NO, YES]
    assert grader.grade("q", hits)[1].probability == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)
    with pytest.raises(WrongScoreKind):
        CrossEncoderRelevance(model, PLAIN).grade("q", hits)


@pytest.mark.parametrize(
    ("n", "top", "kept"),
    [(1, 0.15, 1), (5, 0.15, 1), (7, 0.15, 2), (20, 0.15, 3), (100, 0.07, 7), (4, 1.0, 4)],
)
def test_a_percentile_keeps_the_ceiling_of_its_share(n, top, kept):
    hits = [passage(str(i), f"{i:03}#0") for i in range(n)]
    verdicts = PercentileRelevance(Logits({str(i): float(i) for i in range(n)}), top).grade("q", hits)
    assert [v.label for v in verdicts] == [NO] * (n - kept) + [YES] * kept


def test_a_percentile_of_nothing_is_nothing_and_of_equals_goes_by_id():
    assert PercentileRelevance(Logits({})).grade("q", []) == []
    hits = [passage("same", "b#0"), passage("same", "a#0")]
    assert [v.label for v in PercentileRelevance(Logits({"same": 1.0})).grade("q", hits)] == [NO, YES]
    with pytest.raises(ConfigError, match="share"):
        PercentileRelevance(Logits({}), 0.0)


# ---------------------------------------------------------------- no grader sees positions


@scripted("grades_by_id")
def grades_by_id(messages):
    """Reads the ids off the prompt and answers each by its passage, with a missing and a doubled one."""
    found = re.findall(r'<passage id="(\w)">\nTitle\n(.*)\n', messages[-1]["content"])
    grades = [{"id": name, "relevant": "yes" if "Export" in text else "no"} for name, text in found]
    return json.dumps({"grades": [*grades[2:], grades[0], *grades[3:4]]})


def _llm(messages):
    return {"yes": 0.8, "no": 0.2} if "Export rule" in messages[-1]["content"] else "no"


scripted("grades_one")(_llm)

GRADERS: dict[str, RelevanceGrader] = {
    "llm": LLMRelevance(LLMClient("scripted/grades_one")),
    "batched": BatchedRelevance(LLMClient("scripted/grades_by_id")),
    "batched by three": BatchedRelevance(LLMClient("scripted/grades_by_id"), most=3),
    "embedding": EmbeddingRelevance(HashEmbedder(), PLAIN),
    "percentile": PercentileRelevance(EmbeddingCosine(HashEmbedder()), 0.4),
}


@pytest.mark.parametrize("name", GRADERS)
@given(order=st.permutations(range(8)))
@settings(deadline=None, max_examples=8)
def test_the_verdict_of_a_passage_does_not_depend_on_its_position(name, order):
    grader = GRADERS[name]
    straight = {v.subject: v for v in grader.grade("May I export?", EIGHT)}
    shuffled = grader.grade("May I export?", [EIGHT[n] for n in order])
    assert [v.subject for v in shuffled] == [EIGHT[n].chunk_id for n in order]
    assert {v.subject: v for v in shuffled} == straight
    assert {v.label for v in straight.values()} >= {YES, NO}
