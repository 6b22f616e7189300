"""From a file's bytes to Markdown: one small reader per format, each on a library that is good at it.

What decides is the content first (a PDF stays one whatever it is called), then the name's suffix, and
anything left that decodes is plain text. Every reader gives Markdown, because headings, tables and code
are what the chunkers cut by. Libraries are imported where they are used; they come with the extra
``documents``, and a reader that lacks its own says so.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from cookbook.errors import MissingExtra, Unreadable
from cookbook.ingest.text import clean, counted, decode, without_data

#: What a zipped document may unpack to, in bytes; a bomb unpacks to gigabytes.
MAX_UNPACKED = 200_000_000
EXTRA = "pip install 'reflective-rag-cookbook[documents]'"


@dataclass(frozen=True)
class Reading:
    """The text of a file, the format it was read as, and what the reader should know about it."""

    text: str
    format: str
    note: str = ""


#: The formats whose text is in a language that people speak.
PROSE = ("text", "Markdown", "HTML", "Word", "PDF", "notebook")
Reader = Callable[[bytes, str], Reading]
"""``reader(data, language)``; the language is that of source code and empty elsewhere."""

_CODE = {
    "python": "py pyi",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts tsx",
    "c": "c h",
    "cpp": "cpp cc cxx hpp hh",
    "csharp": "cs",
    "css": "css scss less",
    "go": "go",
    "java": "java",
    "json": "json jsonl geojson",
    "kotlin": "kt kts",
    "lua": "lua",
    "php": "php",
    "powershell": "ps1",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "sh": "sh bash zsh fish",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "xml": "xml svg xsl",
    "yaml": "yaml yml",
}
_LANGUAGE = {f".{suffix}": name for name, suffixes in _CODE.items() for suffix in suffixes.split()}


def read(name: str, data: bytes) -> Reading:
    """The text of a file called ``name`` with these bytes, never without a word in it.

    Raises Unreadable with the reason, and MissingExtra when a library is not installed.
    """
    suffix = PurePath(name).suffix.lower()
    try:
        reader = _by_content(data, suffix) or _BY_SUFFIX.get(suffix, _text)
        reading = reader(data, _LANGUAGE.get(suffix, ""))
    except (Unreadable, MissingExtra):
        raise
    except ModuleNotFoundError as error:
        raise MissingExtra(f"reading it needs {error.name}: {EXTRA}") from error
    except Exception as error:  # what a damaged file raises in a parser has no common class
        said = " ".join(str(error).split())[:100]
        raise Unreadable(f"damaged, or not what its name says ({type(error).__name__}: {said})") from error
    text = without_data(clean(reading.text))
    if not any(map(str.isalpha, text)):
        raise Unreadable("there is no word in it" if text.strip() else "empty")
    return Reading(text, reading.format, reading.note)


def _by_content(data: bytes, suffix: str) -> Reader | None:
    """The reader for what the first bytes say, whatever the name; Unreadable for what nobody here reads."""
    if not data.strip():
        raise Unreadable("empty")
    if b"%PDF-" in data[:1024]:
        return _pdf
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Unreadable("an old or encrypted Office file; save it as .docx without a password, or as PDF")
    if data.startswith(rb"{\rtf"):
        raise Unreadable("rich text (RTF); save it as .docx or PDF")
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
                raise Unreadable(f"it unpacks to more than {MAX_UNPACKED / 1e6:.0f} MB; split it")
            if "word/document.xml" in archive.namelist():
                return _docx
        raise Unreadable(f"an archive ({suffix.lstrip('.') or 'zip'}); unpack it, or export it as PDF or CSV")
    return None


# ---------------------------------------------------------------- text and code


def _text(data: bytes, language: str) -> Reading:
    found = decode(data)
    return Reading(found.text, "text", _in(found.encoding))


def _markdown(data: bytes, language: str) -> Reading:
    found = decode(data)
    return Reading(found.text, "Markdown", _in(found.encoding))


def _code(data: bytes, language: str) -> Reading:
    found = decode(data)
    return Reading(fenced(found.text, language), f"{language} code", _in(found.encoding))


def _in(encoding: str) -> str:
    return f"in {encoding}" if encoding else ""


def fenced(code: str, language: str = "") -> str:
    """A fenced block, its fence longer than any run of backticks in the code."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}\n"


def _csv(data: bytes, language: str) -> Reading:
    """Each row as a paragraph ``name: Ana; city: Lisbon``, so that a row can be found and quoted alone."""
    found = decode(data)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(found.text[:8192], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = [row for row in csv.reader(io.StringIO(found.text), dialect) if any(map(str.strip, row))]
    header, body = _header(rows)
    text = "\n\n".join(filter(None, (_row(header, row) for row in body)))
    return Reading(text, "CSV", ", ".join(filter(None, (_in(found.encoding), counted(len(body), "row")))))


def _header(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The first row as names when it reads like names: all filled, all different, none a number."""
    first = [" ".join(cell.split()) for cell in rows[0]] if rows else []
    named = len(rows) > 1 and all(first) and len(set(first)) == len(first)
    if named and not any(re.fullmatch(r"[-+.,\d\s%]+", cell) for cell in first):
        return first, rows[1:]
    return [f"column {n}" for n in range(1, max(map(len, rows), default=0) + 1)], rows


def _row(header: list[str], row: list[str]) -> str:
    names = [*header, *(f"column {n}" for n in range(len(header) + 1, len(row) + 1))]
    cells = ((name, " ".join(cell.split())) for name, cell in zip(names, row, strict=False))
    return "; ".join(f"{name}: {cell}" for name, cell in cells if cell)


def _notebook(data: bytes, language: str) -> Reading:
    """The words and the code of a Jupyter notebook, of version 3 or 4; what the cells printed is left out.

    Read as the JSON it is: nbformat would load a grammar of web addresses first, for seconds.
    """
    book = json.loads(decode(data).text)
    cells = book["cells"] if "cells" in book else [c for sheet in book["worksheets"] for c in sheet["cells"]]
    spoken = book.get("metadata", {}).get("language_info", {}).get("name", "python")
    sources = [(cell["cell_type"], "".join(cell.get("source", cell.get("input", "")))) for cell in cells]
    parts = [fenced(text, spoken) if kind == "code" else text for kind, text in sources if text.strip()]
    return Reading("\n\n".join(parts), "notebook")


# ---------------------------------------------------------------- pages and documents


def _html(data: bytes, language: str) -> Reading:
    from bs4 import BeautifulSoup

    return Reading(_to_markdown(BeautifulSoup(data, "html.parser")), "HTML")


def _to_markdown(page: object) -> str:
    """A parsed page as Markdown: its title on top, without scripts, menus and pictures."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    assert isinstance(page, BeautifulSoup)
    title = page.title.get_text(" ", strip=True) if page.title and not page.find("h1") else ""
    for tag in page(["script", "style", "template", "noscript", "svg", "nav", "head"]):
        tag.decompose()
    body = MarkdownConverter(
        heading_style="ATX", bullets="-", strip=["img", "a"], table_infer_header=True
    ).convert_soup(page)
    text = f"# {title}\n\n{body}" if title else body
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _docx(data: bytes, language: str) -> Reading:
    import mammoth
    from bs4 import BeautifulSoup

    html = mammoth.convert_to_html(
        io.BytesIO(data),
        convert_image=mammoth.images.img_element(lambda image: {}),  # else each comes as text, in base64
        style_map="p[style-name='Title'] => h1:fresh",
    ).value
    return Reading(_to_markdown(BeautifulSoup(html, "html.parser")), "Word")


def _pdf(data: bytes, language: str) -> Reading:
    """Each page under a heading with its number, so that a citation names the page."""
    from pypdf import PasswordType, PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it remarks on every untidy file
    pdf = PdfReader(io.BytesIO(data))
    if pdf.is_encrypted and pdf.decrypt("") is PasswordType.NOT_DECRYPTED:
        raise Unreadable("encrypted; save a copy without a password")
    pages = [page.extract_text().strip() for page in pdf.pages]
    bare = sum(not any(map(str.isalnum, page)) for page in pages)
    if bare == len(pages):
        scan = any(len(page.images) for page in pdf.pages)
        what = (
            "a scan: pictures of pages without a text layer; run OCR over it first"
            if scan
            else "without text"
        )
        raise Unreadable(f"a PDF of {counted(len(pages), 'page')}, {what}")
    text = "\n\n".join(f"## Page {n}\n\n{page}" for n, page in enumerate(pages, 1) if page)
    note = counted(len(pages), "page") + (f", {bare} of them without a text layer" if bare else "")
    return Reading(text, "PDF", note)


def _suffixes(reader: Reader, suffixes: Iterable[str]) -> dict[str, Reader]:
    return dict.fromkeys(suffixes, reader)


_BY_SUFFIX: dict[str, Reader] = {
    **_suffixes(_code, _LANGUAGE),
    **_suffixes(_markdown, (".md", ".markdown", ".mdx", ".rmd", ".qmd")),
    **_suffixes(_html, (".html", ".htm", ".xhtml")),
    **_suffixes(_csv, (".csv", ".tsv")),
    **_suffixes(_notebook, (".ipynb",)),
}
