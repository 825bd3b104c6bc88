# ruff: noqa: E501  (units as tools write them, on a line)
"""What is written is read again as it was meant, wherever a target puts words and codes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from mt.formats.documents.unit import State
from tests.formats.documents.markup_filling import (
    filled,
    first_difference,
    opened,
    output,
    scrambled,
    zipped,
)

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "style", "table", "draw")
)
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


SAMPLES: dict[str, str | bytes] = {
    "a.xlf": '<xliff version="1.2"><file source-language="en"><body><trans-unit id="1"><source>One <g id="1">two &amp; <x id="2"/> three</g> <bpt id="3">[</bpt>four<ept id="3">]</ept>\n<ph id="4">%s</ph> &lt;b>five&lt;/b></source><target state="new">x</target></trans-unit>'
    '<trans-unit id="2"><source>A b. C d.</source><seg-source><mrk mtype="seg" mid="1">A b.</mrk> <mrk mtype="seg" mid="2">C d.</mrk></seg-source></trans-unit></body></file></xliff>',
    "b.xlf": '<xliff version="2.0" srcLang="en"><file id="f"><unit id="u"><segment><source>One <pc id="1">two <ph id="2"/> three</pc> <sc id="3"/>four<ec startRef="3"/> five</source></segment></unit></file></xliff>',
    "a.tmx": '<tmx><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>One <bpt i="1"/>two<ept i="1"/> <ph/>three\nfour</seg></tuv></tu></body></tmx>',
    "a.ts": '<!DOCTYPE TS><TS><context><name>c</name><message><source>One &lt;b&gt;two&lt;/b&gt;\nthree "four"</source><translation type="unfinished"/></message></context></TS>',
    "strings.xml": r"""<?xml version="1.0"?><resources><string name="a">It\'s <b>one <i>\"two\"</i></b>\nthree <xliff:g id="x">%s</xliff:g> \u00e9</string><string name="b">"  a  b "</string><string name="c"><![CDATA[<a href="x">one</a> two]]></string></resources>""",
    "a.html": "<html><p title='a title'>One <b title='b title'>two <i>three</i></b> <img alt='an image'> four<br>five &nbsp; &amp; <code>six</code></p>12<p>  <a>seven</p> <!-- x --></a></html>",
    "a.docx": zipped(
        {
            "word/document.xml": f"<w:document {W}><w:p>{run('One ')}{run('two', '<w:b/>')}{run(' and ')}{run('three', '<w:b/>')}"
            f'<w:r><w:tab/></w:r><w:hyperlink w:anchor="x">{run("four five", "<w:i/>")}</w:hyperlink>'
            f"<w:r><w:pict><w:txbxContent><w:p>{run('six seven')}</w:p></w:txbxContent></w:pict></w:r>{run(' eight')}</w:p></w:document>"
        }
    ),
    "a.xlsx": zipped(
        {
            "xl/sharedStrings.xml": f"<sst {S}><si><t>One two\nthree</t></si><si><r><t>four </t></r><r><rPr><b/></rPr><t>five six</t></r></si><si><t>7</t></si></sst>"
        }
    ),
    "a.odt": zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f'<office:document-content {NAMES}><text:p>One <text:span text:style-name="T1">two</text:span> and <text:span text:style-name="T1">three</text:span>'
            '<text:note text:id="1"><text:note-body><text:p>first note</text:p></text:note-body></text:note> four<text:tab/>'
            '<text:note text:id="2"><text:note-body><text:p>second note</text:p><text:p>more</text:p></text:note-body></text:note> <text:a>five</text:a></text:p></office:document-content>',
        },
        stored="mimetype",
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(12))
def test_any_target_is_read_as_it_was_written(tmp_path: Path, name: str, seed: int) -> None:
    random = Random(seed)
    document = opened(tmp_path, name, SAMPLES[name])
    targets = {
        index: scrambled(unit.source, random)
        for index, unit in enumerate(document.units)
        if unit.state is not State.LOCKED and (not seed or random.random() < 0.7)
    }
    for index, target in targets.items():
        document.fill(index, target, marked=bool(seed % 2))
    again = opened(tmp_path, f"again-{name}", output(document))
    assert first_difference(document, targets, again) == ""


@pytest.mark.parametrize("name", ["strings.xml", "a.html", "a.docx", "a.xlsx", "a.odt"])
def test_a_unit_that_is_filled_with_its_source_stays_as_it_is(tmp_path: Path, name: str) -> None:
    data = SAMPLES[name]
    raw = data if isinstance(data, bytes) else data.encode()
    assert filled(opened(tmp_path, name, raw), lambda content: content) == raw


@pytest.mark.parametrize("name", SAMPLES)
def test_a_unit_that_is_filled_again_holds_the_last_target(tmp_path: Path, name: str) -> None:
    document = opened(tmp_path, name, SAMPLES[name])
    once = filled(document)
    for index, unit in enumerate(document.units):
        if unit.state is not State.LOCKED:
            document.fill(index, unit.source, marked=True)
    assert filled(document) == once
