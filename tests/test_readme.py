"""What the README promises, held against the repository."""

import re
import subprocess
import sys

from typer.main import get_command

from cookbook.cli import app
from cookbook.eval.timing import load_timings, ratios
from cookbook.notebooks import listed
from cookbook.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
CODE = [text for language, text in BLOCKS if language == "python"]
SHELL = "\n".join(text for language, text in BLOCKS if not language)


def test_the_code_on_the_first_page_runs_and_is_short():
    [code] = CODE
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused no_relevant_passage 8\n")


def test_the_table_of_notebooks_is_true():
    rows = re.findall(r"^\| \[(.+?)\]\(notebooks/(.+?)\) \| .+? \| (\d+) \|$", README, re.MULTILINE)
    numbered = [book for book in listed() if "/" not in book.name]  # labs have a list of their own
    there = [(f"{book.name[:2]} {book.title}", book.name, str(book.minutes)) for book in numbered]
    # The table may shorten a title at its colon.
    assert rows == [(title.split(":")[0], name, minutes) for title, name, minutes in there]


def test_the_ratios_of_time_are_those_of_the_kept_benchmark():
    base, *others = ratios(load_timings(ROOT / "recordings" / "bench_larkspur.json"), "vanilla")
    assert f"on {base['questions']} questions" in README
    for row in others:
        assert f"{row['of vanilla']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" in README, row["system"]


def test_the_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make ([a-z]+)", SHELL, re.MULTILINE)):  # make demo, make test
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    commands = set(get_command(app).commands)
    named = set(re.findall(r"^(?:\.venv/bin/)?cookbook ([a-z]+)", SHELL, re.MULTILINE))
    assert {"ask", "demo", "doctor", "models", "systems"} <= named <= commands


def test_links_lead_somewhere():
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / link).exists(), link
