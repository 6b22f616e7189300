"""The pages about all labs, written from their metadata: the list for learners and the answers for teachers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cookbook.labs import labs_of
from cookbook.labs.families import FAMILIES, Family
from cookbook.labs.kit.build import LEARNER
from cookbook.labs.kit.lab import Lab


def pages() -> dict[Path, str]:
    """Path and text of each page."""
    return {LEARNER / "README.md": _list(), LEARNER / "ANSWERS.md": _answers()}


def write() -> Iterator[Path]:
    """Write those pages whose text has changed; yields their paths."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            yield path


def _written() -> Iterator[tuple[Family, list[Lab]]]:
    return ((family, labs) for family in FAMILIES if (labs := labs_of(family)))


def _list() -> str:
    parts = [
        "# Labs: failures that people ship\n",
        "Each lab is a system that looks right and is not. You meet the symptom, find it in a trace, mend it, and a "
        "check that explains itself says when you have. Everything runs on scripted models: no key, exact counts.\n",
        "Open a notebook, or write the function into a file of your own:\n",
        "```\n.venv/bin/cookbook labs                                # what there is, and what you have done\n"
        ".venv/bin/cookbook labs check SLUG                     # checks your copy of the notebook in notebooks/labs/\n"
        ".venv/bin/cookbook labs check SLUG --file my_lab.py    # or a file of yours\n```\n",
        "A file of yours defines the stub's function, with the imports from its cell.\n",
        "Teachers: [lesson plans](TEACHERS.md) and [answers](ANSWERS.md).\n",
    ]
    for family, labs in _written():
        parts.append(f"## [{family.number} {family.title}]({family.stem}.ipynb)\n")
        rows = (f"| {lab.title} | `{lab.slug}` | {lab.dots} | {lab.minutes} |" for lab in labs)
        parts.append("\n".join(["| lab | slug | difficulty | minutes |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _answers() -> str:
    parts = [
        "# Answers to the transfer questions\n",
        "For each lab the question at its end, our answer, and what a class gets wrong first. Made from the labs' "
        "modules by `make labs`; change it there. How to teach them: [TEACHERS.md](TEACHERS.md).\n",
    ]
    for family, labs in _written():
        parts.append(f"## {family.number} {family.title}\n")
        for lab in labs:
            parts.append(
                f"### {lab.slug}\n\n*{lab.title}*, {lab.dots}, {lab.minutes} minutes.\n\n"
                f"**Question.** {lab.transfer}\n\n**Answer.** {lab.answer}\n\n**What goes wrong first.** {lab.pitfall}\n"
            )
    return "\n".join(parts)
