"""Every format as a file holds it, and every file that holds nothing to read: what text, or what reason, comes of it."""

from __future__ import annotations

import codecs
import io
import json
import sys
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_documents import FOLDER, MADE, docx, pdf, scanned_pdf

from cookbook.chunkers import markdown_sections
from cookbook.errors import MissingExtra, Unreadable
from cookbook.ingest import formats
from cookbook.ingest.formats import Reading, fenced, read
from cookbook.ingest.text import decode
from cookbook.schema import Document


def why_not(name: str, data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        read(name, data)
    return str(caught.value)


# ---------------------------------------------------------------- encodings

SAMPLES = {
    "windows-1252": "L'été dernier, j'ai reçu une lettre à propos de l'abonnement – 5 € de plus.",
    "windows-1251": "Данные можно экспортировать в течение тридцати дней после отмены.",
    "koi8-r": "Данные можно экспортировать в течение тридцати дней после отмены.",
    "windows-1250": "Žluťoučký kůň úpěl ďábelské ódy. Data lze exportovat třicet dní po zrušení.",
    "windows-1253": "Μπορώ να εξαγάγω τα δεδομένα;",
    "windows-1255": "האם אפשר לייצא נתונים?",
    "windows-1256": "هل يمكنني تصدير بياناتي بعد الإلغاء؟",
    "cp932": "データを30日以内にエクスポートできます。解約後は読み取り専用になります。",
    "euc-jp": "データを30日以内にエクスポートできます。",
    "iso-2022-jp": "データを30日以内にエクスポートできます。",
    "gb18030": "取消后可以导出数据三十天。之后数据将被删除。",
    "big5": "取消後可以匯出資料三十天。之後資料將被刪除。",
    "cp949": "해지 후에 30일 동안 데이터를 내보낼 수 있습니다.",
    "utf-16-le": "Plain words without a mark at the beginning.",
    "utf-16-be": "Plain words without a mark at the beginning.",
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_a_text_is_read_in_the_encoding_it_was_written_in(encoding):
    text = SAMPLES[encoding]
    found = decode(text.encode(encoding))
    assert found.text == text
    assert codecs.lookup(found.encoding) in (codecs.lookup(encoding), codecs.lookup("big5hkscs"))
    assert read("note.txt", text.encode(encoding)) == Reading(text, "text", f"in {found.encoding}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_nobody_is_told_of_utf_8(encoding):
    assert decode("Größe: 5 € – 国際".encode(encoding)) == decode("Größe: 5 € – 国際".encode())
    assert decode("Größe".encode(encoding)).encoding == ""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_mark_at_the_beginning_says_the_encoding(encoding):
    found = decode("Größe: 5 € – 国際".encode(encoding))
    assert (found.text, found.encoding) == ("Größe: 5 € – 国際", encoding)


def test_two_letters_beyond_ascii_are_western():
    assert decode("Preis: 5 € für die Größe".encode("cp1252")).text == "Preis: 5 € für die Größe"
    assert decode("Straße\n".encode("latin-1")).text == "Straße\n"


def test_line_ends_and_unusable_characters_are_mended():
    assert decode(b"a\r\nb\rc\n").text == "a\nb\nc\n"
    book = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": "half \ud83d here"}]}
    data = json.dumps(book | {"metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()
    assert read("a.ipynb", data).text == "half \ufffd here"


# ---------------------------------------------------------------- formats


def test_the_folder_holds_what_the_script_makes():
    for name, make in MADE.items():
        assert (FOLDER / name).read_bytes() == make(), name


def test_each_row_of_a_table_is_a_paragraph():
    reading = read("plots.csv", (FOLDER / "plots.csv").read_bytes())
    rows = reading.text.split("\n\n")
    assert rows[1] == (
        "Plot: 2; Tenant: Joaquín Ibáñez; Square metres: 95; Since: 2021; Remarks: raised beds, wheelchair access"
    )
    assert (
        rows[3] == "Plot: 4; Tenant: free; Square metres: 140; Remarks: flooded in winter, not let before May"
    )
    assert (reading.format, reading.note, len(rows)) == ("CSV", "in windows-1252, 5 rows", 5)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\nx,y\n", ["a: x; b: y"]),
        ("a\tb\nx\t\n", ["a: x"]),
        ("Ana,3\nBo,4\n", ["column 1: Ana; column 2: 3", "column 1: Bo; column 2: 4"]),
        ("a,a\nx,y\n", ["column 1: a; column 2: a", "column 1: x; column 2: y"]),
        ('a,b\n"two\nlines, quoted",y\n', ["a: two lines, quoted; b: y"]),
        ("a,b\nx,y,z\n\n,,\n", ["a: x; b: y; column 3: z"]),
        ("only one line of words\n", ["column 1: only one line of words"]),
    ],
)
def test_tables_with_and_without_a_header(text, rows):
    assert read("t.csv", text.encode()).text.split("\n\n") == rows


def test_a_page_of_html_becomes_markdown_without_menus_and_scripts():
    reading = read("open-day.html", (FOLDER / "open-day.html").read_bytes())
    assert reading.text.startswith(
        "# Open day at Harrow Lane\n\nOn Saturday, 14 June, the gardens are open to everyone from ten to four.\n\n"
        "## What there is to see\n\n- Eleven o'clock"
    )
    for left_out in ("Home", "console", "serif"):
        assert left_out not in reading.text


def test_html_says_its_own_encoding_and_need_not_be_whole():
    page = '<meta charset="shift_jis"><p>契約<p>国際'.encode("shift_jis")
    assert read("a.htm", page).text == "契約\n\n国際\n"
    assert read("a.html", b"<table><tr><td>1</td><td>cat</td></table><b>open").text == (
        "| 1 | cat |\n| --- | --- |\n\n**open**\n"
    )


def test_word_keeps_headings_and_tables():
    reading = read("minutes.docx", (FOLDER / "minutes.docx").read_bytes())
    assert "# Minutes of the spring meeting\n\nHeld on 9 March" in reading.text
    assert (
        "| Offer | Price | Begins |\n| --- | --- | --- |\n| Hale and Daughter | 2,310 pounds | in May |"
        in (reading.text)
    )
    assert reading.format == "Word"


def test_a_citation_of_a_pdf_can_name_its_page():
    reading = read("water-plan.pdf", (FOLDER / "water-plan.pdf").read_bytes())
    assert (reading.format, reading.note) == ("PDF", "2 pages")
    chunks = markdown_sections([Document("water-plan.pdf", reading.text)])
    assert [chunk.headings for chunk in chunks] == [("Page 1",), ("Page 2",)]
    assert "18 pounds" in chunks[1].text.replace("\n", " ")


def test_a_notebook_gives_its_words_and_code_and_not_what_was_printed():
    text = read("harvest.ipynb", (FOLDER / "harvest.ipynb").read_bytes()).text
    assert text.startswith("# Harvest of 2023\n\nWeighed at the shed")
    assert '```python\nharvest = {"apples": 412' in text
    assert text.endswith("there were none to weigh.")
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}
    old["worksheets"][0]["cells"] = [
        {"cell_type": "code", "language": "python", "input": ["x = 1"], "outputs": []}
    ]
    assert read("old.ipynb", json.dumps(old).encode()).text == "```python\nx = 1\n```\n"


def test_code_is_a_fenced_block_that_its_own_backticks_cannot_end():
    reading = read("a.py", b'"""See:\n```\nx\n```\n"""\n# not a heading\n')
    assert reading == Reading('````python\n"""See:\n```\nx\n```\n"""\n# not a heading\n````\n', "python code")
    [chunk] = markdown_sections([Document("a.py", reading.text)])
    assert chunk.headings == ()


@given(st.text())
@settings(max_examples=50, deadline=None)
def test_no_code_breaks_out_of_its_fence(code):
    first, *_, last, end = fenced(code, "x").split("\n")
    assert (last, end) == (first.removesuffix("x"), "")
    assert last not in code


def test_the_content_decides_and_not_the_name():
    assert read("report.txt", pdf([["Words on a page"]])).format == "PDF"
    assert read("letter.pdf", docx([("", "Dear reader")])) == Reading("Dear reader\n", "Word")
    assert read("README", b"Plain words") == Reading("Plain words", "text")


def test_data_inside_a_text_is_left_out_by_its_length():
    text = f"See the picture: data:image/png;base64,{'QUJD' * 500} above. " + "And so on. " * 300
    assert read("a.md", text.encode()).text.startswith(
        "See the picture: [2,022 characters of data] above. And so on."
    )
    address = "https://example.org/" + "a" * 900
    assert address in read("a.md", f"See {address} there".encode()).text


# ---------------------------------------------------------------- what cannot be read


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.txt", b"", "empty"),
        ("a.md", b" \n\n\t ", "empty"),
        ("a.txt", "\u200b\ufeff".encode(), "there is no word in it"),
        ("a.md", b"---\n", "there is no word in it"),
        ("a.txt", b"17", "there is no word in it"),
        ("a.csv", b"1,2\n3,4\n", "column"),
        ("scan.pdf", scanned_pdf(3), "a PDF of 3 pages, a scan: pictures of pages without a text layer; run OCR"),
        ("blank.pdf", pdf([[""]]), "a PDF of 1 page, without text"),
        ("cut.pdf", pdf([["Words"]])[:200], "damaged, or not what its name says"),
        ("x.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), "binary data (png), not text"),
        ("x.dat", bytes(range(256)) * 8, "binary data, not text"),
        ("x.txt", b"\x01\x02\x03 words \x04\x05" * 3, "binary data, not text"),
        ("x.js", b"var a='" + b"QUJD" * 6000 + b"'", "data, not prose: most of it is characters"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or encrypted Office file"),
        ("a.rtf", rb"{\rtf1 words}", "rich text (RTF)"),
        ("book.xlsx", archive(sheet=b"x"), "an archive (xlsx)"),
        ("cut.docx", docx([("", "Dear reader")])[:300], "damaged, or not what its name says (BadZipFile"),
        ("bad.docx", archive(**{"word/document.xml": b"<w:document"}), "damaged, or not what its name says"),
        ("bad.ipynb", b"{}", "damaged, or not what its name says"),
        ("deep.html", b"<div>" * 5000 + b"word", "damaged, or not what its name says (RecursionError"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_a_reason(name, data, words):
    if words == "column":  # numbers alone get the names of their columns, which are words
        assert read(name, data).text.startswith("column 1: 1")
    else:
        assert why_not(name, data).startswith(words)


def test_an_archive_that_unpacks_to_gigabytes_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(formats, "MAX_UNPACKED", 10_000)
    bomb = archive(**{"word/document.xml": b"x" * 10_001})
    assert len(bomb) < 500
    assert why_not("bomb.docx", bomb) == "it unpacks to more than 0 MB; split it"


def test_a_pdf_with_a_password_is_named_as_such():
    from pypdf import PdfReader, PdfWriter

    def locked(**passwords: str) -> bytes:
        writer, out = PdfWriter(PdfReader(io.BytesIO(pdf([["Secret words"]])))), io.BytesIO()
        writer.encrypt(algorithm="AES-256", **passwords)
        writer.write(out)
        return out.getvalue()

    assert why_not("a.pdf", locked(user_password="x")) == "encrypted; save a copy without a password"
    # One that anybody may open and nobody may change is read like any other.
    assert "Secret words" in read("b.pdf", locked(user_password="", owner_password="x")).text


def test_a_page_without_text_is_counted_and_not_hidden():
    from pypdf import PdfReader, PdfWriter

    writer, out = PdfWriter(), io.BytesIO()
    for part in (pdf([["Words"]]), scanned_pdf()):
        writer.append(PdfReader(io.BytesIO(part)))
    writer.write(out)
    reading = read("half.pdf", out.getvalue())
    assert reading.note == "2 pages, 1 of them without a text layer"
    assert reading.text == "## Page 1\n\nWords"


@pytest.mark.parametrize(
    ("module", "name", "data"),
    [
        ("pypdf", "a.pdf", pdf([["Words"]])),
        ("mammoth", "a.docx", docx([("", "Words")])),
        ("bs4", "a.html", b"<p>Words"),
        ("chardet", "a.txt", "Größe".encode("cp1252")),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_brings_it(monkeypatch, module, name, data):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        read(name, data)
    assert str(caught.value) == f"reading it needs {module}: pip install 'reflective-rag-cookbook[documents]'"


def test_text_and_code_in_utf_8_need_no_library(monkeypatch):
    for module in ("chardet", "pypdf", "mammoth", "bs4", "markdownify"):
        monkeypatch.setitem(sys.modules, module, None)
    assert read("a.md", "# Größe\n\nWorte".encode()).format == "Markdown"
    assert read("a.py", b"x = 1").format == "python code"
    assert read("a.csv", b"a,b\nx,y\n").format == "CSV"
