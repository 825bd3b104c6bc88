# ruff: noqa: E501  (whole units of real files on a line)
"""XLIFF 1.2 and 2.x, and what tools add: what is filled, where, and how it is marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from mt.errors import DataError
from mt.formats.documents.unit import DocumentOptions, State
from tests.formats.documents.markup_filling import filled, opened, output, shown, sources, states

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


def xliff1(units: str, *, file: str = 'target-language="de"', spaces: str = "") -> str:
    return (
        f'{HEAD}<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"\n  '
        f'xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0" {spaces}>\n'
        f'<file original="a.txt" source-language="en-US" {file} datatype="x">\n'
        f"<header><skl/></header>\n<body>\n{units}\n</body>\n</file>\n</xliff>\n"
    )


def xliff2(units: str, *, root: str = 'trgLang="de"') -> str:
    return (
        f'{HEAD}<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" '
        f'{root}>\n<file id="f">\n{units}\n</file>\n</xliff>\n'
    )


def targets(data: bytes) -> list[str]:
    """Targets as lxml finds them, without what they are in."""
    found = etree.fromstring(data).findall(".//{*}target")
    return [
        (each.text or "")
        + "".join(etree.tostring(child, encoding="unicode") for child in each).replace(
            ' xmlns="urn:oasis:names:tc:xliff:document:1.2"', ""
        )
        for each in found
    ]


INLINE = """<trans-unit id="1"><source>Press <g id="1">the <x id="2"/> key</g>, <bpt id="3">&lt;b></bpt>now<ept id="3">&lt;/b></ept>:<ph id="4">%s</ph> <it id="5" pos="open">(</it><mrk mtype="protected">ACME</mrk> <x id="6" equiv-text="{{name}}"/> &lt;i>&amp;amp;&lt;/i></source>
</trans-unit>"""


def test_all_inline_elements_are_codes_and_come_back(tmp_path: Path) -> None:
    document = opened(tmp_path, "a.xlf", xliff1(INLINE))
    assert sources(document) == [
        "Press <1>the <2/> key</1>, <3>now</3>:<4 %s/> <5/><6 ACME/> <7 {{name}}/> <8><9 &/></8>"
    ]
    new = filled(document)
    source = etree.fromstring(new).find(".//{*}source")
    target = etree.fromstring(new).find(".//{*}target")
    assert source is not None
    assert target is not None
    assert [each.tag for each in target.iter()][1:] == [each.tag for each in source.iter()][1:]
    assert [dict(each.attrib) for each in target.iter()] == [
        dict(each.attrib) for each in source.iter()
    ]
    assert target.text == "PRESS "
    assert "".join(target.itertext()) == ("PRESS THE  KEY, <b>NOW</b>:%s (ACME  <i>&amp;</i>")


def test_a_target_is_made_after_the_source_on_a_line_of_its_own(tmp_path: Path) -> None:
    unit = (
        '  <trans-unit id="a">\n    <source xml:lang="en">One &amp; two</source>\n'
        "    <note>x</note>\n  </trans-unit>"
    )
    data = xliff1(unit)
    document = opened(tmp_path, "a.xlf", data)
    assert output(document) == data.encode()
    new = filled(document, lambda _: ('Eins < zwei & "drei"',), marked=True)
    assert new.decode() == data.replace(
        "</source>\n",
        '</source>\n    <target xml:lang="de" state="needs-review-translation">'
        'Eins &lt; zwei &amp; "drei"</target>\n',
    )


@pytest.mark.parametrize(
    ("attributes", "target", "state"),
    [
        ("", "", State.EMPTY),
        ("", "<target/>", State.EMPTY),
        ("", "<target>x</target>", State.FILLED),
        ("", '<target state="new">A</target>', State.EMPTY),
        ("", '<target state="needs-translation">x</target>', State.DOUBTFUL),
        ("", '<target state="needs-review-translation">x</target>', State.DOUBTFUL),
        ("", '<target state-qualifier="leveraged-mt">x</target>', State.DOUBTFUL),
        ("", '<target state="final">x</target>', State.LOCKED),
        ('approved="yes"', "<target>x</target>", State.LOCKED),
        ('translate="no"', "", State.LOCKED),
        ('xmlns:m="urn:m" m:locked="true"', "<target>x</target>", State.LOCKED),
        ('xmlns:m="urn:m" m:confirmed="0"', "<target>x</target>", State.DOUBTFUL),
        ('xmlns:mq="urn:memoq" mq:status="NotStarted"', "<target>x</target>", State.DOUBTFUL),
    ],
)
def test_states_of_version_1(tmp_path: Path, attributes: str, target: str, state: State) -> None:
    unit = f'<trans-unit id="1" {attributes}><source>A</source>{target}</trans-unit>'
    assert states(opened(tmp_path, "a.xlf", xliff1(unit))) == [state]


def test_what_is_around_a_unit_says_whether_it_is_translated(tmp_path: Path) -> None:
    units = (
        '<group translate="no"><trans-unit id="1"><source>A</source></trans-unit>'
        '<trans-unit id="2" translate="yes"><source>B</source></trans-unit></group>'
        '<trans-unit id="3"><source><x id="1"/></source></trans-unit>'
        '<bin-unit id="4" mime-type="x"><bin-source/></bin-unit>'
        '<trans-unit id="5"><source>C</source><alt-trans><source>D</source><target>d</target>'
        "</alt-trans></trans-unit>"
    )
    document = opened(tmp_path, "a.xlf", xliff1(units))
    assert [(unit.name, unit.state) for unit in document.units] == [
        ("1", State.LOCKED),
        ("2", State.EMPTY),
        ("5", State.EMPTY),
    ]
    assert document.skipped == {"without text": 1, "binary units": 1}
    assert [each.text for each in etree.fromstring(filled(document)).iter("{*}target")] == [
        "B",
        "C",
        "d",
    ]


SEGMENTS = """<trans-unit id="1">
  <source>One. <g id="1">Two.</g> Three.</source>
  <seg-source><mrk mtype="seg" mid="1">One.</mrk> <g id="1"><mrk mtype="seg" mid="2">Two.</mrk></g> <mrk mtype="seg" mid="3">Three.</mrk></seg-source>{target}
  <sdl:seg-defs><sdl:seg id="1" conf="Draft" origin="tm" percent="80"/><sdl:seg id="2" conf="ApprovedTranslation"/><sdl:seg id="3"><sdl:value key="k">v</sdl:value></sdl:seg></sdl:seg-defs>
</trans-unit>"""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("", [State.EMPTY, State.LOCKED, State.EMPTY]),
        (
            '<target><mrk mtype="seg" mid="1">Eins.</mrk> <g id="1"><mrk mtype="seg" mid="2">Zwei.'
            '</mrk></g> <mrk mtype="seg" mid="3"/></target>',
            [State.DOUBTFUL, State.LOCKED, State.EMPTY],
        ),
        (
            '<target><g id="1"><mrk mtype="seg" mid="2">Zwei.</mrk></g></target>',
            [State.EMPTY, State.LOCKED, State.EMPTY],
        ),
    ],
)
def test_segments_are_units_and_a_target_is_cut_as_its_source(
    tmp_path: Path, target: str, expected: list[State]
) -> None:
    data = xliff1(SEGMENTS.format(target=target))
    document = opened(tmp_path, "a.sdlxliff", data)
    assert states(document) == expected
    assert sources(document) == ["One.", "Two.", "Three."]
    new = filled(document, marked=True)
    two = "Zwei." if target else ""
    root = etree.fromstring(new)
    (made,) = root.findall(".//{*}target")
    assert [etree.QName(each).localname for each in root.find(".//{*}trans-unit")] == [
        "source",
        "seg-source",
        "target",
        "seg-defs",
    ]
    assert dict(made.attrib) == {}  # Trados keeps the state elsewhere
    assert [(each.get("mid"), each.text or "") for each in made.iter("{*}mrk")] == [
        ("1", "ONE."),
        ("2", two),
        ("3", "THREE."),
    ]
    assert "".join(made.itertext()) == f"ONE. {two} THREE."
    assert [dict(each.attrib) for each in root.iter("{*}seg")] == [
        {"id": "1", "conf": "Draft", "origin": "mt"},
        {"id": "2", "conf": "ApprovedTranslation"},
        {"id": "3", "conf": "Draft", "origin": "mt"},
    ]


def test_segments_without_numbers_are_filled_as_one(tmp_path: Path) -> None:
    unit = (
        '<trans-unit id="1"><source>One. Two.</source><seg-source><mrk mtype="seg">One.</mrk> '
        '<mrk mtype="seg">Two.</mrk></seg-source></trans-unit>'
    )
    document = opened(tmp_path, "a.xlf", xliff1(unit))
    assert sources(document) == ["One. Two."]
    assert targets(filled(document)) == ["ONE. TWO."]


@pytest.mark.parametrize("marked", [True, False])
def test_tools_keep_states_of_their_own(tmp_path: Path, marked: bool) -> None:
    units = (
        '<trans-unit id="1" m:confirmed="1" m:locked="false"><source>A</source><target/>'
        '</trans-unit><trans-unit id="2" mq:status="NotStarted"><source>B</source></trans-unit>'
    )
    data = xliff1(units, spaces='xmlns:m="urn:memsource" xmlns:mq="urn:MQXliff-memoQ"')
    root = etree.fromstring(filled(opened(tmp_path, "a.mxliff", data), marked=marked))
    first, second = root.findall(".//{*}trans-unit")
    assert first.get("{urn:memsource}confirmed") == ("0" if marked else "1")
    assert second.get("{urn:MQXliff-memoQ}status") == (
        "Pretranslated" if marked else "ManuallyConfirmed"
    )
    assert [dict(each.attrib) for each in root.iter("{*}target")] == [{}, {}]


def test_a_state_that_no_longer_holds_goes(tmp_path: Path) -> None:
    units = (
        '<trans-unit id="1"><source>A</source><target state="needs-translation" '
        'state-qualifier="exact-match">a</target></trans-unit>'
    )
    data = xliff1(units)
    anything = filled(opened(tmp_path, "a.xlf", data), only=lambda _: True)
    assert b'<target state="translated">A</target>' in anything
    review = filled(opened(tmp_path, "a.xlf", data), marked=True, only=lambda _: True)
    assert b'<target state="needs-review-translation">A</target>' in review


def test_the_language_is_said_where_it_was_not(tmp_path: Path) -> None:
    unit = '<trans-unit id="1"><source>A</source></trans-unit>'
    new = filled(opened(tmp_path, "a.xlf", xliff1(unit, file="")))
    assert etree.fromstring(new).find("{*}file").get("target-language") == "de"
    segment = '<unit id="1"><segment><source>A</source></segment></unit>'
    new = filled(opened(tmp_path, "a.xlf", xliff2(segment, root="")))
    assert etree.fromstring(new).get("trgLang") == "de"


def test_files_of_other_languages_stay_or_are_refused(tmp_path: Path) -> None:
    unit = '<trans-unit id="1"><source>A</source></trans-unit>'
    french = xliff1(unit, file='target-language="fr"')
    with pytest.raises(DataError, match="is en-US-fr, and not en-de"):
        opened(tmp_path, "a.xlf", french)
    both = xliff1(unit).replace(
        "</file>\n",
        '</file>\n<file original="b" source-language="en" target-language="fr" '
        f'datatype="x"><body>{unit}</body></file>\n',
    )
    document = opened(tmp_path, "a.xlf", both)
    assert len(document.units) == 1
    assert document.skipped == {"other languages": 1}
    assert targets(filled(document)) == ["A"]


def test_pairs_of_angular_are_pairs(tmp_path: Path) -> None:
    unit = (
        '<trans-unit id="1" datatype="html"><source>Hello <x id="START_TAG_B" ctype="x-b"/>'
        '<x id="INTERPOLATION" equiv-text="{{ user }}"/><x id="CLOSE_TAG_B"/><x id="LINE_BREAK" '
        'ctype="lb" equiv-text="&lt;br/&gt;"/>!</source></trans-unit>'
    )
    document = opened(tmp_path, "messages.xlf", xliff1(unit))
    assert sources(document) == ["Hello <1><2 {{ user }}/></1><3/>!"]
    assert [item.is_break for item in document.units[0].source if not isinstance(item, str)] == [
        False,
        False,
        False,
        True,
    ]


def test_a_limit_of_characters_is_told(tmp_path: Path) -> None:
    unit = '<trans-unit id="1" maxwidth="9" size-unit="char"><source>A</source></trans-unit>'
    assert opened(tmp_path, "a.xlf", xliff1(unit)).units[0].most_characters == 9


TWO = """<unit id="u1"><originalData><data id="d1">%d</data><data id="d2">&lt;br/></data></originalData>
  <segment id="s1" state="translated" subState="x:y">
    <source>Has <pc id="1"><ph id="2" dataRef="d1"/> files</pc><ph id="3" dataRef="d2"/><sc id="4"/>in<ec startRef="4"/> <mrk id="m1" translate="no">ACME</mrk><cp hex="0001"/></source>
  </segment>
  <ignorable><source> </source></ignorable>
  <segment><source>Rest.<sc id="5"/></source><target></target></segment>
  <segment state="final"><source>Done.</source><target>Fertig.</target></segment>
  <segment state="initial"><source>Same.</source><target>Same.</target></segment>
  <segment state="initial"><source>Old.</source><target>Alt.</target></segment>
</unit>"""


def test_version_2(tmp_path: Path) -> None:
    data = xliff2(TWO)
    document = opened(tmp_path, "a.xlf", data)
    assert sources(document) == [
        "Has <1><2 %d/> files</1><3/><4>in</4> <5 ACME/><6/>",
        "Rest.<1/>",
        "Done.",
        "Same.",
        "Old.",
    ]
    assert states(document) == [
        State.EMPTY,
        State.EMPTY,
        State.LOCKED,
        State.EMPTY,
        State.DOUBTFUL,
    ]
    assert output(document) == data.encode()
    new = filled(document, marked=True, only=lambda state: state is State.EMPTY)
    root = etree.fromstring(new)
    segments = root.findall(".//{*}segment")
    assert [(each.get("state"), each.get("subState")) for each in segments] == [
        ("initial", "mt:needs-review"),
        ("initial", "mt:needs-review"),
        ("final", None),
        ("initial", "mt:needs-review"),
        ("initial", None),
    ]
    assert b"</source>\n    <target>HAS <pc" in new
    source, target = segments[0]
    assert [each.tag for each in target.iter()][1:] == [each.tag for each in source.iter()][1:]
    assert targets(new)[2:] == ["Fertig.", "SAME.", "Alt."]
    reread = opened(tmp_path, "b.xlf", new)
    assert states(reread)[0] == State.DOUBTFUL
    assert shown(reread.units[0].target) == sources(document)[0].replace("Has", "HAS").replace(
        "files", "FILES"
    ).replace("in<", "IN<")


def test_unmarked_segments_of_version_2_are_translated(tmp_path: Path) -> None:
    unit = '<unit id="1"><segment><source>A</source></segment></unit>'
    segment = etree.fromstring(filled(opened(tmp_path, "a.xlf", xliff2(unit)))).find(
        ".//{*}segment"
    )
    assert segment is not None
    assert dict(segment.attrib) == {"state": "translated"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_other_encodings_and_line_ends_stay(tmp_path: Path, encoding: str) -> None:
    text = xliff1('<trans-unit id="1">\n <source>Café</source>\n</trans-unit>')
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    raw = text.replace('encoding="utf-8"', f'encoding="{declared}"').replace("\n", "\r\n")
    document = opened(tmp_path, "a.xlf", raw.encode(encoding))
    assert output(document) == raw.encode(encoding)
    new = filled(document, lambda _: ("Ć 🙂 é",))
    assert targets(new) == ["Ć 🙂 é"]
    assert b"\n\n" not in new
    assert new.decode(encoding).count("\n") == new.decode(encoding).count("\r\n")


@pytest.mark.parametrize(
    "data",
    [
        xliff1("<trans-unit"),
        xliff1('<trans-unit id="1"><source>&nbsp;</source></trans-unit>'),
        xliff1("").replace("<xliff", '<!DOCTYPE xliff [<!ENTITY a "b">]><xliff'),
        xliff1("<group>" * 300),
        xliff1("").replace("</xliff>", ""),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError) as error:
        opened(tmp_path, "a.xlf", data)
    assert "\n" not in str(error.value)


def test_other_roots_and_units_without_a_source(tmp_path: Path) -> None:
    document = opened(tmp_path, "a.xlf", xliff1('<trans-unit id="1"/>'))
    assert list(document.units) == []
    with pytest.raises(DataError, match="its root is tmx, and not xliff"):
        from mt.formats.documents.xliff import Xliff

        (tmp_path / "b.xlf").write_bytes(b"<tmx/>")
        Xliff(tmp_path / "b.xlf", DocumentOptions())
