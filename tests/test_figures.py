"""Each published figure, measured; and the command that compares them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cookbook.cli import app
from cookbook.published import figures
from cookbook.published.figures import FIGURES, Figure, measure_all


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"{figure.source}: {figure.name}")
def test_a_published_figure_is_measured_again(figure: Figure):
    [result] = measure_all([figure])
    assert result.measured == figure.published
    assert result.equal


def test_the_figures_are_those_that_were_published():
    assert [(figure.source, figure.published) for figure in FIGURES] == [
        ("handbook graph", 9),
        ("handbook graph", (1, 6, 7, 12, 13, 18, 19, 20)),
        ("handbook graph", (0, "fully")),
        ("handbook graph", 0),
        ("handbook graph", 28),
        ("handbook graph", (98, 203)),
        ("handbook graph", (10_007, 10_010)),
        ("handbook graph", (2, 13)),
        ("revise graph", (33, 24)),
        ("revise graph", (45, 36)),
        ("NLI loop", 7),
        ("NLI loop", 9),
        ("NLI loop", 9),
        ("NLI loop", 5),
        ("prompt recipe", (11, 1)),
        ("prompt recipe", (9, 1)),
        ("best passage", ("none", 5)),
        ("adaptive loop", 0.198),
        ("adaptive loop", 0.5),
        ("adaptive loop", 0.769),
        ("adaptive loop", 0.973),
    ]


def test_the_command_prints_a_table_and_exits_0_when_all_are_equal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(figures, "FIGURES", FIGURES[:5])
    result = CliRunner().invoke(app, ["figures"])
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["handbook", "graph", "stuck,", "limit", "25", "calls", "28", "28", "yes"] in lines
    assert lines[-1] == "5 figures measured, 0 differ from what was published".split()


def test_one_wrong_figure_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch):
    wrong = replace(FIGURES[0], published=8)
    monkeypatch.setattr(figures, "FIGURES", (wrong, FIGURES[1]))
    result = CliRunner().invoke(app, ["figures"])
    assert result.exit_code == 1
    assert "8" in result.stdout
    assert "NO" in result.stdout
    assert result.stdout.endswith("2 figures measured, 1 differ from what was published\n")


def test_json_is_one_document_with_the_values_as_they_are(monkeypatch: pytest.MonkeyPatch):
    wrong = replace(FIGURES[0], published=8)
    monkeypatch.setattr(figures, "FIGURES", (wrong, FIGURES[1]))
    result = CliRunner().invoke(app, ["figures", "--json"])
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)
    assert first == {
        "source": "handbook graph",
        "figure": "one pass",
        "what": "calls",
        "published": 8,
        "measured": 9,
        "equal": False,
    }
    assert second["measured"] == [1, 6, 7, 12, 13, 18, 19, 20]
    assert second["equal"] is True
