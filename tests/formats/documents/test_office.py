# ruff: noqa: E501  (paragraphs as Word writes them, on a line)
"""DOCX, PPTX, XLSX: runs become codes, other parts stay; compared with zipfile and lxml."""

from __future__ import annotations

import re
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from lxml import etree

from mt.errors import DataError
from mt.formats.documents.unit import State
from tests.formats.documents.markup_filling import (
    filled,
    opened,
    output,
    part,
    sources,
    states,
    zipped,
)

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def docx(body: str, **parts: str) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": TYPES,
            "word/document.xml": f"{HEAD}<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {W}/>",
            "word/media/image1.png": b"\x89PNG" + bytes(range(256)),
            **{f"word/{name}.xml": data for name, data in parts.items()},
        }
    )


def paragraphs(data: bytes, name: str = "word/document.xml") -> list[list[tuple[str, str]]]:
    """Of each paragraph its runs: properties and text, as lxml finds them."""
    out = []
    for paragraph in etree.fromstring(part(data, name)).iter("{*}p"):
        runs = []
        for run in paragraph.iter("{*}r"):
            properties = run.find("{*}rPr")
            kinds = (
                ",".join(etree.QName(e).localname for e in properties)
                if properties is not None
                else ""
            )
            text = "".join(
                child.text or ""
                if etree.QName(child).localname == "t"
                else f"[{etree.QName(child).localname}]"
                for child in run
                if etree.QName(child).localname != "rPr"
            )
            runs.append((kinds, text))
        out.append(runs)
    return out


def run(text: str, properties: str = "") -> str:
    inner = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{inner}<w:t xml:space="preserve">{text}</w:t></w:r>'


BOLD = "<w:b/>"


def test_runs_of_equal_properties_are_one_text_and_others_are_codes(tmp_path: Path) -> None:
    body = (
        '<w:p><w:pPr><w:jc w:val="left"/></w:pPr>'
        f'{run("Spe")}<w:proofErr w:type="spellStart"/>{run("ll ", "<w:lang w:val=&quot;en&quot;/>").replace("&quot;", chr(34))}'
        f"{run('bold', BOLD)}{run(' words', BOLD)}{run('. Next &amp; last')}</w:p>"
    )
    data = docx(body)
    document = opened(tmp_path, "a.docx", data)
    assert sources(document) == ["Spell <1>bold words</1>. Next & last"]
    assert output(document) == data
    new = filled(document)
    assert paragraphs(new) == [[("", "SPELL "), ("b", "BOLD WORDS"), ("", ". NEXT & LAST")]]
    assert b'<w:jc w:val="left"/>' in part(new, "word/document.xml")


def test_a_target_may_take_codes_elsewhere(tmp_path: Path) -> None:
    document = opened(
        tmp_path, "a.docx", docx(f"<w:p>{run('one ')}{run('two', BOLD)}{run(' three')}</w:p>")
    )
    one, opening, two, closing, three = document.units[0].source
    document.fill(0, (opening, "zwei", closing, " eins"), marked=True)
    assert paragraphs(output(document)) == [[("b", "zwei"), ("", " eins")]]
    assert (one, two, three) == ("one ", "two", " three")


def test_white_space_that_does_not_show_is_no_code(tmp_path: Path) -> None:
    line = "<w:u w:val='single'/>"
    body = f"<w:p>{run('one')}{run(' ', BOLD)}{run('two')}{run(' ', line)}{run('three', BOLD)}{run(' ')}{run('four', BOLD)}</w:p>"
    document = opened(tmp_path, "a.docx", docx(body))
    assert sources(document) == ["<1>one two</1><2> </2>three four"]
    assert paragraphs(filled(document)) == [
        [("", "ONE TWO"), ("u", " "), ("b", "THREE FOUR")],
    ]


def test_what_is_no_text_is_an_isolated_code(tmp_path: Path) -> None:
    body = (
        f"<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>"
        f'<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="1"/></w:r>'
        f"{run(' d')}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        f"<w:r><w:t>well</w:t><w:noBreakHyphen/><w:t>known</w:t></w:r></w:p>"
    )
    document = opened(tmp_path, "a.docx", docx(body))
    assert sources(document) == ["a<1/>b<2/>c<3/> d<4/>well\u2011known"]
    new = part(filled(document), "word/document.xml")
    root = etree.fromstring(new)
    assert [etree.QName(e).localname for e in root.iter() if etree.QName(e).localname in ("tab", "br", "footnoteReference", "delText", "noBreakHyphen")] == [
        "tab", "br", "footnoteReference", "delText", "noBreakHyphen",
    ]  # fmt: skip
    assert "".join(e.text or "" for e in root.iter("{*}t")) == "ABC DWELLKNOWN"
    assert b"<w:delText>gone</w:delText>" in new
    assert [item.is_break for item in document.units[0].source if not isinstance(item, str)] == [
        True, True, False, False,
    ]  # fmt: skip


def field(code: str, shown: str) -> str:
    def char(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    return (
        f"{char('begin')}<w:r><w:instrText>{code}</w:instrText></w:r>{char('separate')}"
        f"{run(shown)}{char('end')}"
    )


def test_fields_links_insertions_and_marks(tmp_path: Path) -> None:
    body = (
        f"<w:p>{run('See ')}{field(' PAGE ', '12')}{run(' and ')}"
        f"{field(' HYPERLINK &quot;http://a.b&quot; ', 'this page')}{run(', ')}"
        f'<w:hyperlink w:anchor="x">{run("a link", BOLD)}</w:hyperlink>{run(" ")}'
        f"<w:ins>{run('new')}</w:ins>"
        '<w:bookmarkStart w:id="7" w:name="m"/>'
        f'{run(" or")}<w:bookmarkEnd w:id="7"/>{run(" ")}'
        f'<w:fldSimple w:instr="REF x">{run("Figure 3")}</w:fldSimple>'
        f"<w:sdt><w:sdtPr/><w:sdtContent>{run(' within')}</w:sdtContent></w:sdt></w:p>"
    )
    document = opened(tmp_path, "a.docx", docx(body))
    assert sources(document) == [
        "See <1 12/> and <2>this page</2>, <3>a link</3> <4>new</4><5> or</5> "
        "<6 Figure 3/><7> within</7>"
    ]
    new = filled(document)
    root = etree.fromstring(part(new, "word/document.xml"))
    old = etree.fromstring(part(docx(body), "word/document.xml"))
    assert [e.tag for e in root.iter()] == [e.tag for e in old.iter()]
    assert [e.text for e in root.iter("{*}instrText")] == [e.text for e in old.iter("{*}instrText")]
    assert "".join(e.text or "" for e in root.iter("{*}t")) == (
        "SEE 12 AND THIS PAGE, A LINK NEW OR Figure 3 WITHIN"
    )
    (link,) = root.iter("{*}hyperlink")
    assert [e.tag.rpartition("}")[2] for e in link.iter()] == ["hyperlink", "r", "rPr", "b", "t"]


def test_a_field_over_several_paragraphs_does_not_break(tmp_path: Path) -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    body = f"<w:p>{begin}{run('First')}</w:p><w:p>{run('Second')}{end}{run(' x')}</w:p>"
    document = opened(tmp_path, "a.docx", docx(body))
    assert sources(document) == ["<1/><2/><3/>First", "Second<1/> x"]
    new, old = (
        etree.fromstring(part(d, "word/document.xml")) for d in (filled(document), docx(body))
    )
    assert [e.tag for e in new.iter()] == [e.tag for e in old.iter()]


def test_text_boxes_within_a_paragraph_are_units_of_their_own(tmp_path: Path) -> None:
    box = f"<w:r><w:pict><w:txbxContent><w:p>{run('in a box')}</w:p></w:txbxContent></w:pict></w:r>"
    document = opened(tmp_path, "a.docx", docx(f"<w:p>{run('around ')}{box}{run(' it')}</w:p>"))
    assert sources(document) == ["around <1/> it", "in a box"]
    assert paragraphs(filled(document))[0] == [
        ("", "AROUND "), ("", "[pict]"), ("", "IN A BOX"), ("", " IT"),
    ]  # fmt: skip
    outer = opened(tmp_path, "b.docx", docx(f"<w:p>{run('around ')}{box}{run(' it')}</w:p>"))
    outer.fill(0, (outer.units[0].source[1], "um"), marked=False)
    assert paragraphs(output(outer))[1] == [("", "in a box")]


def test_parts_without_text_stay_byte_by_byte(tmp_path: Path) -> None:
    note = f'<w:footnotes {W}><w:footnote w:id="1"><w:p>{run("A note")}</w:p></w:footnote></w:footnotes>'
    header = f"<w:hdr {W}><w:p>{run('12')}</w:p></w:hdr>"
    data = docx(
        f"<w:p>{run('Text')}</w:p>",
        footnotes=note,
        header1=header,
        comments=note.replace("footnote", "comment"),
    )
    document = opened(tmp_path, "a.docx", data)
    assert [unit.name for unit in document.units] == [
        "word/document.xml 1", "word/header1.xml 1", "word/footnotes.xml 1", "word/comments.xml 1",
    ]  # fmt: skip
    new = filled(document)  # the header, a number, with its source
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(BytesIO(new)) as made:
        assert made.testzip() is None
        changed = []
        for before, after in zip(old.infolist(), made.infolist(), strict=True):
            assert (before.filename, before.date_time, before.compress_type) == (
                after.filename, after.date_time, after.compress_type,
            )  # fmt: skip
            if old.read(before) != made.read(after):
                changed.append(after.filename)
            else:
                assert raw(data, before) == raw(new, after)
        assert changed == ["word/document.xml", "word/footnotes.xml", "word/comments.xml"]


def raw(data: bytes, info: zipfile.ZipInfo) -> bytes:
    start = info.header_offset
    num_name, num_extra = struct.unpack("<HH", data[start + 26 : start + 30])
    start += 30 + num_name + num_extra
    return data[start : start + info.compress_size]


def test_slides_and_their_notes(tmp_path: Path) -> None:
    slide = (
        f"<p:sld {A} xmlns:p='urn:p'><a:p><a:pPr/><a:r><a:rPr lang='en-US' dirty='0'/><a:t>Our </a:t></a:r>"
        "<a:r><a:rPr lang='en-US' err='1'/><a:t>plan</a:t></a:r><a:r><a:rPr b='1'/><a:t> now</a:t></a:r><a:br/>"
        "<a:fld id='1' type='slidenum'><a:t>3</a:t></a:fld><a:r><a:t> of us</a:t></a:r><a:endParaRPr/></a:p></p:sld>"
    )
    data = zipped({
        "[Content_Types].xml": TYPES, "ppt/slides/slide10.xml": slide, "ppt/slides/slide2.xml": slide,
        "ppt/notesSlides/notesSlide1.xml": slide, "ppt/slideMasters/slideMaster1.xml": slide,
    })  # fmt: skip
    document = opened(tmp_path, "a.pptx", data)
    assert [unit.name for unit in document.units] == [
        "ppt/slides/slide2.xml 1", "ppt/slides/slide10.xml 1", "ppt/notesSlides/notesSlide1.xml 1",
    ]  # fmt: skip
    assert sources(document)[0] == "Our plan<1> now</1><2/><3 3/> of us"
    new = filled(document)
    root = etree.fromstring(part(new, "ppt/slides/slide2.xml"))
    assert [e.tag.rpartition("}")[2] for e in root[0]] == [
        "pPr",
        "r",
        "r",
        "br",
        "fld",
        "r",
        "endParaRPr",
    ]
    assert "".join(e.text or "" for e in root.iter("{*}t")) == "OUR PLAN NOW3 OF US"
    assert not any(e.attrib for e in root.iter("{*}t"))
    assert part(new, "ppt/slideMasters/slideMaster1.xml") == slide.encode()


def test_cells(tmp_path: Path) -> None:
    shared = (
        f'<sst {S}><si><t>Plain</t></si><si><t xml:space="preserve"> two\nlines </t></si><si><r><t>rich </t></r>'
        "<r><rPr><b/></rPr><t>text</t></r><phoneticPr/></si><si><t>42</t></si><si><t>Price</t></si><si><t/></si></sst>"
    )
    sheet = f'<worksheet {S}><sheetData><row><c t="inlineStr"><is><t>Here</t></is></c><c><f>A1</f><v>7</v></c></row></sheetData></worksheet>'
    data = zipped({
        "[Content_Types].xml": TYPES, "xl/sharedStrings.xml": shared, "xl/worksheets/sheet1.xml": sheet,
        "xl/tables/table1.xml": f'<table {S}><tableColumns><tableColumn name="Price"/></tableColumns></table>',
    })  # fmt: skip
    document = opened(tmp_path, "a.xlsx", data)
    assert sources(document) == ["Plain", "two<1/>lines", "rich <1>text</1>", "42", "Price", "Here"]
    assert states(document) == [*[State.EMPTY] * 4, State.LOCKED, State.EMPTY]  # names of columns
    new = filled(document)
    texts = [
        "".join(e.text or "" for e in si.iter("{*}t"))
        for si in etree.fromstring(part(new, "xl/sharedStrings.xml"))
    ]
    assert texts == ["PLAIN", " TWO\nLINES ", "RICH TEXT", "42", "Price", ""]
    assert b'<is><t xml:space="preserve">HERE</t></is>' in part(new, "xl/worksheets/sheet1.xml")
    assert b"<f>A1</f><v>7</v>" in part(new, "xl/worksheets/sheet1.xml")


def hostile(name: str, data: bytes = b"x", *, size: int | None = None) -> bytes:
    """A document with one more part, whose declared size may be another than it has."""
    made = BytesIO(docx(f"<w:p>{run('a')}</w:p>"))
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    raw_bytes = made.getvalue()
    if size is not None:
        place = raw_bytes.rindex(b"PK\x01\x02")
        raw_bytes = raw_bytes[: place + 24] + struct.pack("<I", size) + raw_bytes[place + 28 :]
    return raw_bytes


GOOD = docx(f"<w:p>{run('Text of it')}</w:p>")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (hostile("../../etc/passwd"), "it has a part named '../../etc/passwd'"),
        (hostile("/etc/passwd"), "it has a part named '/etc/passwd'"),
        (hostile("word/header1.xml", b"<a>" + b" " * (1 << 25) + b"</a>"), "far too large when unpacked"),
        (hostile("word/header1.xml", b"<a>" + b" " * (1 << 25) + b"</a>", size=100), "damaged"),
        (hostile("word/header1.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), "header1.xml):1: it declares an entity"),
        (hostile("word/header1.xml", b"<a>"), "header1.xml):1: not well-formed XML"),
        (hostile("word/documenX.xml").replace(b"documenX", b"document"), "two parts have one name"),
        (GOOD[:-40], "damaged or cut short"),
        (GOOD[:100], "damaged or cut short"),
        (b"PK\x03\x05".join(GOOD.rsplit(b"PK\x03\x04", 1)), "damaged: there is no word/media"),
    ],
)  # fmt: skip
def test_a_hostile_document_is_refused_in_one_line(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    with pytest.raises(DataError, match=re.escape(reason)) as error:
        opened(tmp_path, "a.docx", data)
    assert "\n" not in str(error.value)


def test_an_encrypted_part_is_refused(tmp_path: Path) -> None:
    place = GOOD.rindex(b"PK\x01\x02")
    data = GOOD[: place + 8] + b"\x01" + GOOD[place + 9 :]
    with pytest.raises(DataError, match="that is encrypted"):
        opened(tmp_path, "a.docx", data)


def test_sizes_that_follow_a_part_and_a_comment_of_the_file_stay(tmp_path: Path) -> None:
    class Unseekable(BytesIO):
        def tell(self) -> int:
            raise OSError("a pipe")

    file = Unseekable()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"made by hand"
        with zipfile.ZipFile(BytesIO(GOOD)) as good:
            for info in good.infolist():
                archive.writestr(info.filename, good.read(info))
    document = opened(tmp_path, "a.docx", file.getvalue())
    new = filled(document)
    with zipfile.ZipFile(BytesIO(new)) as made:
        assert made.comment == b"made by hand"
        assert [info.flag_bits & 8 for info in made.infolist()] == [8, 0, 8, 8]
        assert [new[info.header_offset + 6] & 8 for info in made.infolist()] == [8, 0, 8, 8]
        assert made.testzip() is None
        assert made.read("word/media/image1.png") == part(GOOD, "word/media/image1.png")
    assert paragraphs(new) == [[("", "TEXT OF IT")]]


def test_a_directory_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    place = GOOD.rindex(b"PK\x01\x02")
    longer = GOOD[: place + 32] + struct.pack("<H", 40) + GOOD[place + 34 :]
    with pytest.raises(DataError, match="damaged"):
        opened(tmp_path, "a.docx", longer)
