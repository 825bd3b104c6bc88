# ruff: noqa: E501  (paragraphs as office suites write them, on a line)
"""ODT, ODP, ODS: paragraphs, what stands in them, what stays; compared with lxml."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from lxml import etree

from mt.errors import DataError
from tests.formats.documents.markup_filling import filled, opened, output, part, sources, zipped

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "style", "table", "draw")
)
MIME = "mimetype=application/vnd.oasis.opendocument."


def odt(body: str, *, styles: str = "", kind: str = "text", automatic: str = "") -> bytes:
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document-content {NAMES} xmlns:officeooo="urn:o">'
        f"<office:automatic-styles>{automatic}</office:automatic-styles><office:body>{body}</office:body>"
        "</office:document-content>"
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content,
            "styles.xml": f"<office:document-styles {NAMES}>{styles}</office:document-styles>",
            "Pictures/a.png": bytes(range(256)),
        },
        stored="mimetype",
    )


def texts(data: bytes, name: str = "content.xml") -> list[str]:
    root = etree.fromstring(part(data, name))
    found = (each for each in root.iter() if etree.QName(each).localname in ("p", "h"))
    return ["".join(each.itertext()) for each in found]


def test_paragraphs_and_what_stands_in_them(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="1">A  title</text:h>'
        '<text:p>One <text:span text:style-name="T1">bold</text:span><text:span text:style-name="T1"> word</text:span>,\n  '
        'a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>page <text:page-number>3</text:page-number>'
        '<text:a href="x">link</text:a><text:note><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>A note</text:p></text:note-body></text:note><text:soft-page-break/> "
        '<text:bookmark-start text:name="m"/>end<text:bookmark-end text:name="m"/></text:p>'
        "<text:p>12</text:p><text:p/>"
    )
    data = odt(body)
    document = opened(tmp_path, "a.odt", data)
    assert sources(document) == [
        "A title",
        "One <1>bold word</1>, a<2/>b<3/>c<4/>page <5 3/><6>link</6><7/> <8>end</8>",
        "A note",
        "12",
    ]
    assert output(document) == data
    new = filled(document)
    assert texts(new) == ["A TITLE", "ONE BOLD WORD, ABCPAGE 3LINK1A NOTE END", "A NOTE", "12", ""]
    kinds = [
        [each.tag for each in etree.fromstring(part(each_data, "content.xml")).iter()]
        for each_data in (data, new)
    ]
    (span,) = {each for each in kinds[0] if each.endswith("}span")}
    (page_break,) = {each for each in kinds[0] if each.endswith("}soft-page-break")}
    kinds[0].remove(span)  # two spans of one style are one
    kinds[0].remove(page_break)
    assert kinds[1] == kinds[0]


def test_spans_that_only_note_a_session_are_no_codes(tmp_path: Path) -> None:
    automatic = (
        '<style:style style:name="T1" style:family="text"><style:text-properties officeooo:rsid="001"/></style:style>'
        '<style:style style:name="T2" style:family="text"><style:text-properties officeooo:rsid="001" style:x="y"/></style:style>'
    )
    body = '<text:p>Mo<text:span text:style-name="T1">re</text:span> <text:span text:style-name="T2">text</text:span></text:p>'
    document = opened(tmp_path, "a.odt", odt(body, automatic=automatic))
    assert sources(document) == ["More <1>text</1>"]


def test_headers_are_read_and_other_styles_are_not(tmp_path: Path) -> None:
    styles = "<style:header><text:p>Our header</text:p></style:header><style:x><text:p>Click to edit</text:p></style:x>"
    document = opened(tmp_path, "a.odt", odt("<text:p>Text</text:p>", styles=styles))
    assert [unit.name for unit in document.units] == ["content.xml 1", "styles.xml 1"]
    new = filled(document)
    assert texts(new, "styles.xml") == ["OUR HEADER", "Click to edit"]


def test_deleted_text_and_numbers_stay(tmp_path: Path) -> None:
    body = (
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        '<table:table-cell office:value-type="float"><text:p>1 apple</text:p></table:table-cell>'
        '<table:table-cell office:value-type="string" table:formula="of:=A1"><text:p>sum</text:p></table:table-cell>'
        '<table:table-cell office:value-type="string"><text:p>Name</text:p></table:table-cell>'
    )
    document = opened(tmp_path, "a.ods", odt(body, kind="spreadsheet"))
    assert sources(document) == ["Name"]


def test_a_frame_in_a_paragraph_holds_units(tmp_path: Path) -> None:
    body = "<text:p>a <draw:frame><draw:text-box><text:p>in it</text:p></draw:text-box></draw:frame> b</text:p>"
    document = opened(tmp_path, "a.odp", odt(body, kind="presentation"))
    assert sources(document) == ["a <1/> b", "in it"]
    one, frame, two = document.units[0].source
    document.fill(0, (frame, "B ", "A"), marked=True)
    document.fill(1, ("darin",), marked=True)
    assert (one, two) == ("a ", " b")
    assert texts(output(document)) == ["darinB A", "darin"]


def test_the_order_and_the_packing_of_parts_stay(tmp_path: Path) -> None:
    data = odt("<text:p>Text</text:p>")
    new = filled(opened(tmp_path, "a.odt", data))
    with zipfile.ZipFile(BytesIO(new)) as made:
        assert made.namelist() == ["mimetype", "content.xml", "styles.xml", "Pictures/a.png"]
        assert made.infolist()[0].compress_type == zipfile.ZIP_STORED
    assert new[30 : 30 + 8 + 39] == data[30 : 30 + 8 + 39]  # known by its first bytes


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (odt("<text:p>").replace(b"x", b"x"), "not well-formed XML"),
        (odt("<text:p>x</text:p>")[:-30], "damaged or cut short"),
        (
            zipped({"mimetype": "application/vnd.oasis.opendocument.text"}, stored="mimetype"),
            "without content.xml",
        ),
    ],
)
def test_a_broken_document_is_refused_in_one_line(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as error:
        opened(tmp_path, "a.odt", data)
    assert "\n" not in str(error.value)
