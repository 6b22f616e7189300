"""Where headings, code and paragraphs lie in a Markdown text, by the CommonMark rules.

markdown-it does the parsing; this file only keeps the line numbers it reports and turns them into
character spans that tile the text. A plain text without any Markdown is a row of paragraphs.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from cookbook.chunkers.spans import has_content, lines

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?=[\w-]+:)(?:.*\r?\n)*?---[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A run of whole lines. ``depth`` and ``title`` belong to headings: 1 for ``#``, 2 for ``##``."""

    kind: Literal["heading", "code", "prose"]
    start: int = 0
    end: int = 0
    depth: int = 0
    title: str = ""


def blocks(text: str) -> list[Block]:
    """The blocks of ``text`` in order; together they cover it from first to last character.

    Fenced and indented code is a block of its own also inside a list or quotation. Headings there
    are prose: they open no section.
    """
    starts = [start for start, _ in lines(text, (0, len(text)))] + [len(text)]

    def content(line: int) -> int:
        """This line or the first after it that is not blank: blank lines end blocks, they open none."""
        while line < len(starts) - 1 and not text[starts[line] : starts[line + 1]].strip():
            line += 1
        return line

    opened: dict[int, Block] = {content(0): Block("prose")}
    # Front matter would read as a rule and a heading; spaces in its place keep every offset.
    tokens = MarkdownIt("commonmark").parse(_FRONT_MATTER.sub(lambda m: re.sub(r"[^\r\n]", " ", m[0]), text))
    for token, following in pairwise([*tokens, Token("end", "", 0)]):
        if token.map is None:
            continue
        first, last = token.map
        if token.type in ("fence", "code_block"):
            opened[first] = Block("code")
            opened.setdefault(content(last), Block("prose"))
        elif token.type == "heading_open" and token.level == 0:
            opened[first] = Block("heading", depth=int(token.tag[1]), title=_title(following))
            opened.setdefault(content(last), Block("prose"))
        elif token.level == 0:
            opened[first] = Block("prose")
    found = [opened[line] for line in sorted(opened)]
    borders = [0, *(starts[line] for line in sorted(opened)[1:]), len(text)]
    return [
        replace(block, start=a, end=b)
        for block, (a, b) in zip(found, pairwise(borders), strict=True)
        if a < b
    ]


def _title(inline: Token) -> str:
    """The words of a heading without its markup."""
    parts = [child.content or " " * (child.type == "softbreak") for child in inline.children or []]
    return "".join(parts).strip()


@dataclass(frozen=True)
class Section:
    """The blocks from a heading to the next, and the titles over them, outermost first."""

    headings: tuple[str, ...]
    blocks: tuple[Block, ...]


class Outline:
    """The sections of a text, and under which headings a place in it lies.

    A heading with nothing but deeper headings or rules below it has no section of its own: it opens
    the first section under it.
    """

    def __init__(self, text: str, text_blocks: list[Block]) -> None:
        self.sections: list[Section] = []
        path: list[Block] = []
        bare = True  # has the open section no text of its own yet?
        gathered: list[Block] = []
        for block in text_blocks:
            if block.kind == "heading":
                deeper = not path or path[-1].depth < block.depth
                if gathered and not (bare and deeper):
                    self._close(path, gathered)
                    gathered, bare = [], True
                path = [*(above for above in path if above.depth < block.depth), block]
            elif has_content(text, (block.start, block.end)):
                bare = False
            gathered.append(block)
        self._close(path, gathered)
        self._starts = [section.blocks[0].start for section in self.sections]

    def _close(self, path: list[Block], gathered: list[Block]) -> None:
        self.sections.append(Section(tuple(heading.title for heading in path), tuple(gathered)))

    def at(self, offset: int) -> tuple[str, ...]:
        """The titles over the section that ``offset`` lies in."""
        return self.sections[bisect_right(self._starts, offset) - 1].headings
