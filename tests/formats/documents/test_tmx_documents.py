# ruff: noqa: E501  (a unit as tools write it, on a line)
"""TMX: units without the target language get it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from mt.errors import DataError
from mt.formats.documents.unit import DocumentOptions, State
from tests.formats.documents.markup_filling import EN_DE, filled, opened, output, sources, states

LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def tmx(units: str, *, srclang: str = "en-US") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        f'<tmx version="1.4">\n<header srclang="{srclang}" datatype="plaintext"/>\n<body>\n{units}\n'
        "</body>\n</tmx>\n"
    )


UNIT = """  <tu tuid="a">
    <prop type="x">y</prop>
    <tuv xml:lang="en-US">
      <seg>One <bpt i="1">&lt;b></bpt>two<ept i="1">&lt;/b></ept><ph x="1">%s</ph> <hi>three</hi></seg>
    </tuv>
    <tuv xml:lang="fr">
      <seg>Un</seg>
    </tuv>
  </tu>"""


@pytest.mark.parametrize("marked", [True, False])
def test_a_variant_is_made_after_the_others(tmp_path: Path, marked: bool) -> None:
    data = tmx(UNIT)
    document = opened(tmp_path, "a.tmx", data)
    assert sources(document) == ["One <1>two</1><2 %s/> <3>three</3>"]
    assert states(document) == [State.EMPTY]
    assert output(document) == data.encode()
    mark = '\n      <prop type="x-state">needs-review-translation</prop>' if marked else ""
    made = (
        f'\n    <tuv xml:lang="de">{mark}\n      <seg>ONE <bpt i="1">&lt;b></bpt>TWO<ept i="1">'
        '&lt;/b></ept><ph x="1">%s</ph> <hi>THREE</hi></seg>\n    </tuv>\n  </tu>'
    )
    new = filled(document, marked=marked)
    assert new.decode() == data.replace("\n  </tu>", made)
    assert states(opened(tmp_path, "b.tmx", new)) == [State.DOUBTFUL if marked else State.FILLED]


def test_a_variant_that_is_there_is_filled(tmp_path: Path) -> None:
    unit = (
        '<tu><tuv xml:lang="EN"><seg>One</seg></tuv><tuv xml:lang="DE-AT" creationid="x"><seg/>'
        "</tuv></tu>"
    )
    document = opened(tmp_path, "a.tmx", tmx(unit))
    new = filled(document, marked=True)
    (variant,) = (e for e in etree.fromstring(new).iter("tuv") if e.get(LANG) == "DE-AT")
    assert [(each.tag, each.text) for each in variant] == [
        ("prop", "needs-review-translation"),
        ("seg", "ONE"),
    ]
    again = opened(tmp_path, "b.tmx", new)
    assert states(again) == [State.DOUBTFUL]
    done = filled(again)
    assert done.decode() == tmx(unit).replace("<seg/>", "<seg>ONE</seg>")


def test_the_attribute_of_the_language_is_that_of_the_file(tmp_path: Path) -> None:
    new = filled(opened(tmp_path, "a.tmx", tmx('<tu><tuv lang="en"><seg>One</seg></tuv></tu>')))
    assert b'<tuv lang="de"><seg>ONE</seg></tuv>' in new


def test_what_is_skipped_and_what_is_refused(tmp_path: Path) -> None:
    units = (
        '<tu><tuv xml:lang="fr"><seg>Un</seg></tuv></tu>'
        '<tu><tuv xml:lang="en"><seg><ph/></seg></tuv></tu>'
        '<tu><tuv xml:lang="en"><seg>a<ph x="1"><sub>in it</sub></ph></seg></tuv></tu>'
    )
    document = opened(tmp_path, "a.tmx", tmx(units))
    assert document.skipped == {
        "without a source": 1,
        "without text": 1,
        "text within codes": 1,
    }
    with pytest.raises(DataError, match="holds nothing in ja"):
        options = DocumentOptions(source_language="ja", target_language="de")
        opened(tmp_path, "a.tmx", tmx(units), options)
    with pytest.raises(DataError, match="not known which language"):
        opened(tmp_path, "a.tmx", tmx("", srclang="*all*"), DocumentOptions())


def test_languages_that_are_not_said_are_those_of_the_file(tmp_path: Path) -> None:
    unit = (
        '<tu><tuv xml:lang="de"><seg>Eins</seg></tuv><tuv xml:lang="en"><seg>One</seg></tuv></tu>'
    )
    document = opened(tmp_path, "a.tmx", tmx(unit, srclang="en"), DocumentOptions())
    assert sources(document) == ["One"]
    assert states(document) == [State.FILLED]
    document = opened(tmp_path, "a.tmx", tmx(unit, srclang="*all*"), DocumentOptions())
    assert sources(document) == ["Eins"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_stays(tmp_path: Path, encoding: str) -> None:
    text = "\ufeff" + tmx(UNIT).replace("utf-8", "utf-16")
    document = opened(tmp_path, "a.tmx", text.encode(encoding), EN_DE)
    assert output(document) == text.encode(encoding)
    new = filled(document, lambda content: ("猫", *content[1:])).decode(encoding)
    assert new.startswith("\ufeff<?xml")
    assert "<seg>猫<bpt" in new


@pytest.mark.parametrize(
    "data", [tmx("<tu>"), tmx("").replace("SYSTEM", "[<!ENTITY a 'b'>] SYSTEM"), tmx("")[:-8]]
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, data: str) -> None:
    with pytest.raises(DataError) as error:
        opened(tmp_path, "a.tmx", data)
    assert "\n" not in str(error.value)
