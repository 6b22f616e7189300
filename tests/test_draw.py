"""The pictures hold what the graph holds."""

import pytest
from test_handbook_graph import build

from cookbook.draw import draw_calls, draw_graph, edges_of, edges_taken, levels_of
from cookbook.schema import Relevance, Trace


def words(figure):
    return [text.get_text().replace("\n", "_") for text in figure.axes[0].texts]


def test_every_node_and_edge_is_drawn():
    compiled = build()[0].graph
    figure = draw_graph(compiled)
    assert sorted(words(figure)) == sorted(
        ["start", "end", *(set(compiled.get_graph().nodes) - {"__start__", "__end__"})]
    )
    assert len(figure.axes[0].patches) == len(edges_of(compiled))


def test_a_trace_counts_the_edges_it_took():
    graph = build(grades=[Relevance.IRRELEVANT] * 5 + [Relevance.RELEVANT])[0]
    trace = graph.answer("q").trace
    taken = edges_taken(trace)
    assert taken["retrieve", "grade"] == 2
    assert taken["rewrite", "retrieve"] == 1
    assert taken["check_usefulness", "__end__"] == 1
    assert set(taken) <= set(edges_of(graph.graph))
    labels = [word for word in words(draw_graph(graph.graph, trace=trace)) if word.endswith("×")]
    assert sorted(labels) == sorted(f"{count}×" for count in taken.values())


def test_a_picture_shows_itself_without_pyplot():
    assert draw_graph(build()[0].graph)._repr_png_().startswith(b"\x89PNG")


def test_columns_go_from_start_to_end():
    edges = [("__start__", "a"), ("a", "b"), ("a", "stop"), ("b", "a"), ("b", "__end__"), ("stop", "__end__")]
    assert levels_of(edges) == {"__start__": 0, "a": 1, "b": 2, "stop": 3, "__end__": 4}


def test_only_an_edge_that_exists_can_be_marked():
    compiled = build()[0].graph
    assert draw_graph(compiled, mark=[("rewrite", "retrieve")])
    with pytest.raises(ValueError, match="no edge"):
        draw_graph(compiled, mark=[("rewrite", "nowhere")])


def test_an_empty_trace_takes_nothing():
    assert edges_taken(Trace("q", "test")) == {("__start__", "__end__"): 1}


def test_a_bar_of_calls_has_a_piece_for_each_node_that_made_any():
    traces = {
        "found": build()[0].answer("q").trace,
        "not found": build(grades=[Relevance.IRRELEVANT], queries=["a", "b"])[0].answer("q").trace,
    }
    figure = draw_calls(traces, ceiling=31)
    [axes] = figure.axes
    pieces = {bars.get_label(): [bar.get_width() for bar in bars] for bars in axes.containers}
    assert pieces == {
        "decide retrieval": [1, 1],
        "grade": [5, 15],
        "generate": [1, 0],
        "check support": [1, 0],
        "check usefulness": [1, 0],
        "rewrite": [0, 2],
    }
    assert [text.get_text() for text in axes.texts] == [" 9", " 18"]
    assert axes.lines[0].get_xdata() == [31, 31]
    assert axes.get_xlim()[1] > 31  # the ceiling is in the picture, and not its edge


def test_requests_without_a_call_are_bars_of_nothing():
    assert [text.get_text() for text in draw_calls({"q": Trace("q", "test")}).axes[0].texts] == [" 0"]
