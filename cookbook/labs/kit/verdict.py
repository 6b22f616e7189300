"""What a check says: passed or not, why, in words that the learner can act on. It never raises by itself."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass

from cookbook.errors import LabNotPassed

WIDTH = 96
_COLOURS = {True: "#2b8a3e", False: "#c8371b"}


@dataclass(frozen=True)
class LabVerdict:
    """The result of a check.

    ``diagnosis`` names what was found, a fixed id such as ``counter_not_returned``; "" when passed.
    ``message`` says what the check saw, with the learner's own numbers. ``lab`` is the slug.
    """

    passed: bool
    diagnosis: str
    message: str
    lab: str = ""

    def require(self) -> LabVerdict:
        """The verdict itself when passed, else LabNotPassed with the message: for solutions and tests."""
        if not self.passed:
            raise LabNotPassed(f"{self.lab}: {self.diagnosis}: {self.message}")
        return self

    @property
    def headline(self) -> str:
        return f"PASSED {self.lab}" if self.passed else f"NOT YET {self.lab}: {self.diagnosis}"

    def __repr__(self) -> str:
        """Two or more lines of at most 96 columns, the same in a terminal and as a notebook's plain text."""
        paragraphs = self.message.split("\n")
        said = [
            textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            for text in paragraphs
        ]
        return "\n".join([self.headline, *said])

    def _repr_html_(self) -> str:
        """For notebooks: a coloured bar, the headline, the message."""
        said = "<br>".join(html.escape(line) for line in self.message.split("\n"))
        return (
            f'<div style="border-left: 5px solid {_COLOURS[self.passed]}; padding: .3em 0 .3em .9em">'
            f"<b>{html.escape(self.headline)}</b><br>{said}</div>"
        )


def passed(message: str) -> LabVerdict:
    """The lab is solved; ``message`` says what was seen, in numbers."""
    return LabVerdict(True, "", message)


def failed(diagnosis: str, message: str) -> LabVerdict:
    """Not yet. ``diagnosis`` is an id in snake_case, ``message`` what was seen and where to look next."""
    return LabVerdict(False, diagnosis, message)
