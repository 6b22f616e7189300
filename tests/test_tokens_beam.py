"""The segment beam: by hand on small trees, and against a search through all paths."""

import math
import random
from functools import partial
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tokens import NO, YES, A, B, C, reply

from cookbook.errors import ConfigError
from cookbook.reflect.tokens import Continuation, SegmentBeam, TableModel, retrieves, score, written
from cookbook.reflect.tokens.beam import Search
from cookbook.reflect.tokens.picture import draw_search


def asking(text: str, relevant: float, fully: float = 1.0) -> Continuation:
    """A segment that ends with a request for passages; what follows must not be read."""
    return Continuation(
        (*reply(text, relevant, fully).tokens, *written("[Retrieval]", "<paragraph>x").tokens)
    )


def said(text: str) -> str:
    return f"[Relevant]{text}[Fully supported]"


def tree(rows=()):
    """A's first segment asks and is continued; B's is complete."""
    return TableModel(
        {
            ("", ""): written(YES),
            ("", "A"): asking("One.", 0.9),
            ("", "B"): reply("All.", 0.7),
            (said("One."), "A"): reply("Two.", 0.6),
            (said("One."), "B"): reply("Three.", 0.8),
        }
        | dict(rows)
    )


def test_a_path_is_written_segment_by_segment():
    model = tree()
    found = SegmentBeam(model).search("q", [A, B])
    assert found.text == "One. Three."
    assert [node.hit for node in found.best.path] == [A, B]
    assert [round(node.score.total, 2) for node in found.best.path] == [1.9, 1.8]
    assert found.best.value == pytest.approx(1.85)
    assert len(model.prompts) == 1 + 2 + 2


def test_the_next_segment_goes_on_from_words_and_reflections_without_the_passage():
    model = tree()
    SegmentBeam(model).search("q", [A, B])
    assert model.prompts[-1] == (
        "### Instruction:\nq\n\n### Response:\n[Relevant]One.[Fully supported]"
        "[Retrieval]<paragraph>B\nSome words.</paragraph>"
    )


def test_what_was_written_and_what_was_kept_stay_on_record():
    found = SegmentBeam(tree(), width=1).search("q", [A, B])
    assert [[node.text for node in level.written] for level in found.levels] == [
        ["One.", "All."],
        ["One. Two.", "One. Three."],
    ]
    assert [[node.text for node in level.kept] for level in found.levels] == [["One."], ["One. Three."]]


def test_a_finished_path_stays_when_its_sibling_goes_on():
    model = tree({(said("One."), title): reply("Worse.", 0.1, 0.1) for title in "AB"})
    found = SegmentBeam(model).search("q", [A, B])
    assert found.text == "All."
    assert [node.text for node in found.finished] == ["All.", "One. Worse.", "One. Worse."]


def test_a_product_favours_long_paths_when_scores_are_above_one():
    found = {
        combine: SegmentBeam(tree(), combine=combine).search("q", [A, B]) for combine in (math.prod, fmean)
    }
    assert found[math.prod].best.value == pytest.approx(1.9 * 1.8)
    level = TableModel(
        {
            ("", ""): written(YES),
            ("", "A"): asking("One.", 0.4),  # 1.4
            ("", "B"): reply("All.", 0.8),  # 1.8, better than each of the other two
            (said_low("One."), "A"): reply("Two.", 0.4),
            (said_low("One."), "B"): reply("Two.", 0.4),
        }
    )
    assert SegmentBeam(level, combine=math.prod).search("q", [A, B]).text == "One. Two."  # 1.96
    assert SegmentBeam(level, combine=fmean).search("q", [A, B]).text == "All."


def said_low(text: str) -> str:
    return f"[Irrelevant]{text}[Fully supported]"


def test_a_product_of_two_bad_segments_looks_better_than_none():
    bad = written("[Irrelevant]", "Bad.", "[No support / Contradictory]", "[Utility:1]")  # -0.5
    model = TableModel(
        {
            ("", ""): written(YES),
            ("", "A"): Continuation((*bad.tokens, *written("[Retrieval]").tokens)),
            ("", "B"): reply("Fair.", 0.2, 0.0),
            (bad.text, "A"): bad,
            (bad.text, "B"): bad,
        }
    )
    assert SegmentBeam(model, combine=math.prod).search("q", [A, B]).text == "Bad. Bad."  # 0.25
    assert SegmentBeam(model).search("q", [A, B]).text == "Fair."  # 0.2


def test_the_last_step_takes_a_path_that_still_asks():
    rows = {("[Relevant]Go.[Fully supported]" * n, "A"): asking("Go.", 0.9) for n in range(9)}
    model = TableModel({("", ""): written(YES)} | rows)
    found = SegmentBeam(model).search("q", [A])
    assert found.text == "Go. Go. Go. Go. Go. Go."
    assert found.best.asks
    assert len(found.levels) == 6
    assert len(model.prompts) == 7


def test_a_path_that_nobody_can_continue_is_an_answer():
    silent = {(said("One."), title): written("[Irrelevant]", "[Utility:1]") for title in "AB"}
    found = SegmentBeam(tree(silent)).search("q", [A, B])
    assert [node.text for node in found.finished] == ["One.", "All."]
    assert len(found.levels) == 1


def test_a_first_segment_without_words_is_no_answer():
    model = TableModel({("", ""): written(YES), ("", "A"): written("[Relevant]", "[Retrieval]")})
    found = SegmentBeam(model).search("q", [A])
    assert (found.text, found.best, found.levels) == (None, None, ())


def test_an_overruled_no_retrieval_asks():
    unsure = written({"[No Retrieval]": 0.7, "[Retrieval]": 0.3}, "More.").tokens
    model = tree({("", "A"): Continuation((*reply("One.", 0.9).tokens, *unsure))})
    assert SegmentBeam(model).search("q", [A, B]).text == "One. Three."
    strict = SegmentBeam(model, rule=partial(retrieves, delta=0.5))
    assert strict.search("q", [A, B]).text == "One. More."


def test_no_passages_no_answer():
    found = SegmentBeam(tree()).search("q", [])
    assert (found.text, found.finished, found.levels) == (None, (), ())


def test_from_memory_when_the_model_does_not_ask():
    model = TableModel({("", ""): written(NO), ("[No Retrieval]", ""): written("Five.", "[Utility:5]")})
    assert SegmentBeam(model).search("2 + 3?", [A]) == Search(memory="Five.")
    assert SegmentBeam(model).search("2 + 3?", [A]).text == "Five."


@pytest.mark.parametrize("sizes", [{"width": 0}, {"depth": 0}])
def test_a_beam_has_a_size(sizes):
    with pytest.raises(ConfigError, match="of 1 or more"):
        SegmentBeam(tree(), **sizes)


# ---------------------------------------------------------------- against all paths


class Forest:
    """A random model: what it says depends on the seed and the prompt alone."""

    def __init__(self, seed: int) -> None:
        self.seed, self.calls = seed, 0

    def complete(self, prompt, *, max_tokens):
        self.calls += 1
        if not prompt.endswith("</paragraph>"):
            return written("[Retrieval]")
        chance = random.Random(f"{self.seed} {prompt}")
        text = reply(f"w{chance.randrange(10**9)}.", chance.random(), chance.random())
        more = [{"[Utility:1]": chance.random(), "[Utility:5]": chance.random()}]
        more += ["[Retrieval]"] * (chance.random() < 0.6)
        return Continuation((*text.tokens, *written(*more).tokens))


def all_paths(model, hits, depth, before="", totals=()):
    """Every complete path: its words and the scores of its segments."""
    for each in hits:
        prompt = f"### Instruction:\nq\n\n### Response:\n{before}[Retrieval]<paragraph>{each.chunk.doc_id}\n"
        tokens = model.complete(f"{prompt}{each.text}</paragraph>", max_tokens=9).tokens
        asks = tokens[-1].text == "[Retrieval]"
        own = Continuation(tokens[: -1 if asks else None])
        word, path = own.tokens[1].text, (*totals, score(own).total)
        if asks and depth > 1:
            for words, scores in all_paths(model, hits, depth - 1, before + own.text, path):
                yield f"{word} {words}", scores
        else:
            yield word, path


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3), st.sampled_from([math.prod, fmean]))
def test_a_wide_beam_finds_what_a_search_through_all_paths_finds(seed, passages, depth, combine):
    hits = [A, B, C][:passages]
    words, scores = max(all_paths(Forest(seed), hits, depth), key=lambda path: combine(path[1]))
    found = SegmentBeam(Forest(seed), width=27, depth=depth, combine=combine).search("q", hits)
    assert (found.text, found.best.value) == (words, pytest.approx(combine(scores)))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 4))
def test_a_narrow_beam_keeps_its_promises(seed, width, depth):
    model = Forest(seed)
    found = SegmentBeam(model, width=width, depth=depth).search("q", [A, B, C])
    assert model.calls <= 1 + 3 + 3 * width * (depth - 1)
    assert all(len(level.kept) <= width for level in found.levels)
    assert [n.value for n in found.finished] == sorted((n.value for n in found.finished), reverse=True)
    ended = [n for level in found.levels for n in level.kept if not n.asks]
    assert set(ended) <= set(found.finished)
    everything = SegmentBeam(Forest(seed), width=27 * 3, depth=depth).search("q", [A, B, C])
    assert found.best.value <= everything.best.value + 1e-12


# ---------------------------------------------------------------- the picture


def test_the_picture_shows_every_segment_and_what_was_kept():
    found = SegmentBeam(tree(), width=1).search("q", [A, B])
    figure = draw_search(found)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sum("1.90" in text for text in texts) == 1
    assert {text.split("\n")[0] for text in texts if "\n" in text} == {"One.", "All.", "Two.", "Three."}
    assert len(figure.axes[0].lines) == sum(len(level.written) for level in found.levels)


def test_a_search_without_a_tree_has_no_picture():
    with pytest.raises(ConfigError, match="no tree"):
        draw_search(Search(memory="Five."))
