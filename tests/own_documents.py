"""Makes the PDF and Word files of corpora/mixed_folder, and the ones that tests need damaged.

Written by hand and without compression or dates, so that the same words give the same bytes everywhere.
Run it to write the folder's files again: python tests/own_documents.py
"""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent.parent / "corpora" / "mixed_folder"

WATER = (
    (
        "Water at Harrow Lane: the plan for dry summers",
        "The rain tank behind the shed holds 4,000 litres. A full tank lasts the gardens nine days without rain. "
        "When it is down to a quarter, a red flag hangs at the gate: from then on only seedlings are watered.",
        "Watering is allowed before nine in the morning and after six in the evening. Hoses are not allowed in "
        "July and August; use cans.",
    ),
    (
        "Who does what",
        "Plots 1 and 2 look after the gutters, plots 3 and 5 after the pump. The pump must not run dry: switch it "
        "off when the tank shows less than 200 litres.",
        "The mains valve is opened by the treasurer alone, because each opening costs the society 18 pounds.",
    ),
)
MINUTES: Sequence[tuple[str, object]] = (
    ("Title", "Minutes of the spring meeting"),
    ("", "Held on 9 March in the shed. Present: fourteen members. Chair: Maëlle Rousseau."),
    ("Heading2", "Fees"),
    ("", "The yearly fee rises from 38 to 45 pounds from 1 April, by eleven votes to three. The deposit for a key "
         "stays at 20 pounds."),
    ("Heading2", "The shed roof"),
    ("", "Three offers were read. The work goes to the second one:"),
    ("table", (("Offer", "Price", "Begins"), ("Hale and Daughter", "2,310 pounds", "in May"),
               ("Roofs by Okafor", "1,980 pounds", "on 6 April"), ("W. Petty", "2,050 pounds", "in June"))),
    ("Heading2", "Pesticides"),
    ("", "Slug pellets with metaldehyde may no longer be used. Iron phosphate may."),
)  # fmt: skip


# ---------------------------------------------------------------- PDF


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF whose pages have these paragraphs, in lines of 90 characters."""
    return _pdf([_text_page(page) for page in pages])


def scanned_pdf(pages: int = 1) -> bytes:
    """A PDF whose pages are pictures, with no word to find in them."""
    picture = bytes((17 * n) % 256 for n in range(64))
    head = b"<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8"
    return _pdf(
        [b"q 500 0 0 700 50 50 cm /Im1 Do Q"] * pages,
        head + b" /Length 64 >>\nstream\n" + picture + b"\nendstream",
    )


def _text_page(paragraphs: Sequence[str]) -> bytes:
    lines = [line for part in paragraphs for line in [*textwrap.wrap(part, 90), ""]]
    shown = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines)
    drawn = " ".join(f"({line}) Tj T*" for line in shown)
    return f"BT /F1 11 Tf 14 TL 60 760 Td {drawn} ET".encode("cp1252")


def _pdf(contents: Sequence[bytes], image: bytes = b"") -> bytes:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    numbers = [4 + 2 * n for n in range(len(contents))]
    kids = " ".join(f"{n} 0 R" for n in numbers)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        3: image or font,
    }
    resources = "/XObject << /Im1 3 0 R >>" if image else "/Font << /F1 3 0 R >>"
    for number, content in zip(numbers, contents, strict=True):
        page = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R"
        objects[number] = f"<< {page} /Resources << {resources} >> >>".encode()
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number in sorted(objects):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, table))
    return out.getvalue()


# ---------------------------------------------------------------- Word

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def docx(blocks: Sequence[tuple[str, object]]) -> bytes:
    """A Word file of paragraphs (style, text) and tables ("table", rows)."""
    body = "".join(
        _table(content) if style == "table" else _paragraph(style, str(content)) for style, content in blocks
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/></w:style>'
        for style, name in (("Heading1", "heading 1"), ("Heading2", "heading 2"), ("Title", "Title"))
    )
    types = f"""<Types xmlns="{_PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="{_WORD}.styles+xml"/></Types>"""
    members = {
        "[Content_Types].xml": types,
        "_rels/.rels": _relations("officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": _relations("styles", "styles.xml"),
        "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), f'<?xml version="1.0" encoding="UTF-8"?>\n{text}')
    return out.getvalue()


def _relations(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def _paragraph(style: str, text: str) -> str:
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{look}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def _table(rows: object) -> str:
    assert isinstance(rows, tuple)
    cells = ("".join(f"<w:tc>{_paragraph('', cell)}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


MADE = {
    "water-plan.pdf": lambda: pdf(WATER),
    "minutes.docx": lambda: docx(MINUTES),
    "old-lease.pdf": scanned_pdf,
}
"""What the folder holds that no editor wrote."""

if __name__ == "__main__":
    for name, make in MADE.items():
        (FOLDER / name).write_bytes(make())
