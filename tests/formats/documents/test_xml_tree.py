"""Spans of elements, compared with lxml; edits; encodings; hostile files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from mt.errors import DataError
from mt.formats.documents.splices import Edit, spliced
from mt.formats.documents.xml_tags import escaped, quoted, with_attribute
from mt.formats.documents.xml_tree import MOST_DEPTH, Aside, Element, XmlFile

texts = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufffe\uffff"),
    max_size=6,
)


@st.composite
def markup(draw: st.DrawFn, depth: int = 0) -> str:
    """An element with attributes, text, CDATA, comments and elements."""
    name = draw(st.sampled_from(["a", "b", "ns:c", "übung"]))
    attributes = draw(st.dictionaries(st.sampled_from(["x", "y", "ns:z"]), texts, max_size=2))
    quote = draw(st.sampled_from("\"'"))
    opening = name + "".join(
        f" {key}={quote}{escaped(value).replace(quote, '&#34;' if quote == chr(34) else '&#39;')}"
        f"{quote}"
        for key, value in attributes.items()
    )
    if draw(st.booleans()) and depth:
        return f"<{opening}{draw(st.sampled_from(['', ' ']))}/>"
    pieces = [escaped(draw(texts)), f"<![CDATA[{draw(texts).replace(']]>', '')}]]>"]
    pieces += ["<!-- <a> -->", "<?do <a>?>"]
    if depth < 2:
        pieces += draw(st.lists(markup(depth + 1), max_size=3))
    inner = "".join(draw(st.lists(st.sampled_from(pieces), max_size=4)))
    space = ' xmlns:ns="urn:x"' if depth == 0 else ""
    return f"<{opening}{space}>{inner}</{name}>"


@given(markup(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"]))
@settings(max_examples=50, deadline=None)
def test_every_span_holds_the_element_that_lxml_finds(text: str, encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?>\n{text}'
    raw = text.encode(encoding, "xmlcharrefreplace" if encoding == "iso-8859-1" else "strict")
    if encoding == "iso-8859-1" and "<![CDATA[" in text and not text.isascii():
        return  # a reference is none within CDATA, nor in a name
    xml = XmlFile(raw, name="a.xml")
    theirs = [each for each in etree.fromstring(raw).iter() if isinstance(each.tag, str)]
    ours = list(xml.root.iter())
    assert [each.tag for each in ours] == [each.tag for each in theirs]
    assert [each.attrib for each in ours] == [dict(each.attrib) for each in theirs]
    assert [each.text for each in ours] == ["".join(each.xpath(".//text()")) for each in theirs]
    for element in ours:
        whole = xml.raw(element.whole)
        assert whole.startswith("<")
        assert whole.endswith(">")
        assert xml.raw(element.opening) + xml.raw(element.inner) + xml.raw(element.closing) == whole
    assert xml.edited([]) == raw
    stripped = xml.edited(
        [Edit(start=each.start, end=each.end, parts=()) for each in xml.root]
        + [Edit(start=a.start, end=a.end, parts=()) for a in asides(xml.root)]
    )
    expected = etree.fromstring(raw)
    assert "".join(etree.fromstring(stripped).itertext()) == "".join(
        [expected.text or "", *(child.tail or "" for child in expected)]
    )


def asides(element: Element) -> list[Aside]:
    return [item for item in element.items if isinstance(item, Aside)]


def test_an_edit_may_keep_spans_with_the_edits_in_them() -> None:
    edits = [
        Edit(start=2, end=8, parts=(b"<", (4, 6), b">", (2, 4))),
        Edit(start=4, end=5, parts=(b"X",)),
        Edit(start=9, end=9, parts=(b"!",)),
    ]
    assert spliced(b"0123456789", edits) == b"01<X5>238!9"


def test_attributes_are_set_in_place() -> None:
    tag = """<t a='x b="1"' b = "2" c="3"/>"""
    assert with_attribute(tag, "b", "4") == """<t a='x b="1"' b = "4" c="3"/>"""
    assert with_attribute(tag, "b", None) == """<t a='x b="1"' c="3"/>"""
    assert with_attribute("<t>", "b", 'ä"<') == '<t b="ä&quot;&lt;">'
    assert with_attribute("<t />", "b", "1") == '<t b="1"/>'
    assert quoted("a\n") == '"a&#10;"'


def test_characters_that_an_encoding_lacks_become_references() -> None:
    xml = XmlFile('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1"), name="a")
    start, end = xml.root.inner
    new = xml.edited([Edit(start=start, end=end, parts=("é€猫".encode(),))])
    assert new.endswith(b"<a>\xe9&#8364;&#29483;</a>")
    assert etree.fromstring(new).text == "é€猫"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "a.xml:1: it declares an entity"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "/etc/passwd">]><a/>', "it declares an entity"),
        (b'<!DOCTYPE a [<!ENTITY % p SYSTEM "x.dtd"> %p;]><a/>', "it declares an entity"),
        (b'<!DOCTYPE a SYSTEM "a.dtd"><a>\n&nbsp;</a>', "a.xml:2: there is no entity nbsp"),
        (b"<a>&nbsp;</a>", "a.xml:1: not well-formed XML: undefined entity"),
        (b"<a>\n<b></a>", "a.xml:2: not well-formed XML: mismatched tag"),
        (b"<a><b>", "not well-formed XML: no element found"),
        (b"", "not well-formed XML: no element found"),
        (b"<a>\n\xff</a>", "a.xml:2: byte 0xff is not UTF-8"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "there is no encoding 'nonsense'"),
        (b"<a>" * (MOST_DEPTH + 1), "nested more than 256 deep"),
    ],
)
def test_a_hostile_file_is_refused_in_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(DataError) as error:
        XmlFile(data, name="a.xml")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_dtd_is_named_and_never_read() -> None:
    xml = XmlFile(b'<!DOCTYPE tmx SYSTEM "http://127.0.0.1:1/tmx14.dtd"><tmx/>', name="a")
    assert xml.root.name == "tmx"


def test_a_prefix_that_nobody_declares_stays_in_the_name() -> None:
    xml = XmlFile(b'<a m:x="1"><m:b/></a>', name="a")
    assert xml.root.attrib == {"m:x": "1"}
    assert [child.tag for child in xml.root] == ["m:b"]
