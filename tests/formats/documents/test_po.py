"""Catalogues of gettext as documents, against polib and the programs of gettext."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.errors import DataError
from mt.formats.documents.plural_forms import plural_forms, plural_forms_of
from mt.formats.documents.po_strings import Lines, escaped
from mt.formats.documents.unit import Code, State
from mt.formats.po_entries import entries_of
from tests.formats.documents.filling import fill_all, opened, shown, sources, written

HEADER = r"""# Catalogue of tests
msgid ""
msgstr ""
"Project-Id-Version: test 1\n"
"PO-Revision-Date: 2024-01-01 10:00+0100\n"
"Last-Translator: A. Person <a@example.org>\n"
"Language-Team: none\n"
"Language: de\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"
"""
BODY = r"""
# of a person
#. of a developer
#: a.c:1
msgid "Open \"it\"\\now"
msgstr ""

#: a.c:2
#, c-format
msgctxt "menu"
msgid "%d <b>file</b>"
msgid_plural "%d <b>files</b>"
msgstr[0] ""
msgstr[1] ""

#, fuzzy, c-format
#| msgid "old %s"
msgid "new %s"
msgstr "alt %s"

#| msgid "previous"
msgid "kept"
msgstr "behalten"

msgid ""
"A long text that goes on over several lines, since it has more than the "
"usual width of them, and\n"
"a second one.\n"
msgstr ""

#~ msgid "gone"
#~ msgstr "weg"
"""


def msgfmt(data: bytes, path: Path) -> str:
    """What msgfmt says against a catalogue."""
    if shutil.which("msgfmt") is None:
        pytest.skip("msgfmt is not installed")
    path.write_bytes(data)
    command = ["msgfmt", "--check", "--output-file=/dev/null", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.decode()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_is_not_filled_stays_byte_for_byte(
    tmp_path: Path, newline: str, encoding: str
) -> None:
    data = (HEADER + BODY).replace("\n", newline).encode(encoding)
    document = opened(tmp_path / "a.po", data)
    assert written(document) == data
    assert len(document.units) == 6
    assert document.skipped == {"obsolete entry": 1}


def test_units_have_names_states_and_codes(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.po", (HEADER + BODY).encode())
    assert [(unit.name, unit.state) for unit in document.units] == [
        ("line 17", State.EMPTY),
        ("line 22, msgctxt 'menu', msgstr[0]", State.EMPTY),
        ("line 22, msgctxt 'menu', msgstr[1]", State.EMPTY),
        ("line 30", State.DOUBTFUL),
        ("line 34", State.FILLED),
        ("line 37", State.EMPTY),
    ]
    assert sources(document)[:4] == [
        'Open "it"\\now',
        "%d ⟦<b>⟧file⟦</b>⟧",
        "%d ⟦<b>⟧files⟦</b>⟧",
        "new %s",
    ]
    assert document.units[3].target == ("alt %s",)
    # The line end between the lines is a space to translate; that at the end is no part of it.
    assert sources(document)[5].endswith("width of them, and a second one.")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_polib_and_msgfmt_read_what_was_filled(tmp_path: Path, newline: str) -> None:
    data = (HEADER + BODY).replace("\n", newline).encode()
    document = opened(tmp_path / "a.po", data)
    result = fill_all(
        document,
        lambda content: tuple(f'Ü "\\{p}' if isinstance(p, str) else p for p in content),
        marked=True,
    )
    assert result.count(b"\r\n") == (result.count(b"\n") if newline == "\r\n" else 0)
    path = tmp_path / "b.po"
    path.write_bytes(result.replace(b"\r\n", b"\n"))
    first, plural, fuzzy, kept, long, gone = polib.pofile(path)
    assert first.msgstr == 'Ü "\\Open "it"\\now'
    assert (first.tcomment, first.comment, first.occurrences) == (
        "of a person",
        "of a developer",
        [("a.c", "1")],
    )
    assert plural.msgstr_plural == {
        0: 'Ü "\\%d <b>Ü "\\file</b>',
        1: 'Ü "\\%d <b>Ü "\\files</b>',
    }
    assert plural.flags == ["fuzzy", "c-format"]
    assert (fuzzy.flags, fuzzy.previous_msgid) == (["fuzzy", "c-format"], "old %s")
    assert (kept.flags, kept.previous_msgid) == (["fuzzy"], "previous")
    assert long.msgstr.endswith("second one.\n")
    assert long.msgstr.count("\n") == 2
    assert gone.obsolete
    assert msgfmt(result, path) == ""


def test_a_flag_is_taken_away_from_what_is_translated_anew(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.po", (HEADER + BODY).encode())
    document.fill(3, ("neu %s",), marked=False)
    text = written(document).decode()
    assert '#, c-format\n#| msgid "old %s"\nmsgid "new %s"\nmsgstr "neu %s"\n' in text
    assert text.count("fuzzy") == 0


@pytest.mark.parametrize(
    ("language", "number", "header"),
    [("pl", 3, "nplurals=3;"), ("ja", 1, "nplurals=1;"), ("ar", 6, "nplurals=6;")],
)
def test_a_template_gets_language_charset_and_plural_forms(
    tmp_path: Path, language: str, number: int, header: str
) -> None:
    head = HEADER.replace("Language: de", "Language: ").replace("UTF-8", "CHARSET")
    head = head.replace("nplurals=2; plural=(n != 1);", "nplurals=INTEGER; plural=EXPRESSION;")
    head = head.replace('msgid ""\nmsgstr', '#, fuzzy\nmsgid ""\nmsgstr', 1)
    body = BODY.replace('"alt %s"', '""').replace('"behalten"', '""').replace("fuzzy, ", "")
    document = opened(tmp_path / "a.pot", (head + body).encode(), target=language)
    assert written(document) == (head + body).encode()
    result = fill_all(document, lambda content: (*content, " ż"))
    assert msgfmt(result, tmp_path / "b.po") == ""
    catalogue = polib.pofile(tmp_path / "b.po")
    assert catalogue.metadata["Language"] == language
    assert catalogue.metadata["Content-Type"] == "text/plain; charset=UTF-8"
    assert catalogue.metadata["Plural-Forms"].startswith(header)
    assert not catalogue.metadata_is_fuzzy
    plural = catalogue.find("%d <b>file</b>", msgctxt="menu")
    assert len(plural.msgstr_plural) == number
    singular = "%d <b>files</b> ż" if number == 1 else "%d <b>file</b> ż"
    assert plural.msgstr_plural[1 if language == "ar" else 0] == singular
    assert plural.msgstr_plural[number - 1] == "%d <b>files</b> ż"


def test_forms_that_have_translations_are_those_of_the_header(tmp_path: Path) -> None:
    # An order that is not the usual one: the form of one thing is the second.
    order = "nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0);"
    head = HEADER.replace("nplurals=2; plural=(n != 1);", order)
    plural = 'msgid "a"\nmsgid_plural "b"\n' + "".join(f'msgstr[{i}] "x"\n' for i in range(4))
    empty = plural.replace('"x"', '""').replace('"a"', '"one"').replace('"b"', '"many"')
    data = f"{head}\n{plural}\n{empty}".encode()
    document = opened(tmp_path / "a.po", data, target="sl")
    assert sources(document)[4:] == ["many", "one", "many", "many"]
    assert order.encode() in fill_all(document)


def test_forms_of_another_number_give_way_where_nothing_is_translated(tmp_path: Path) -> None:
    data = f'{HEADER}\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""\n'.encode()
    document = opened(tmp_path / "a.po", data, target="pl")
    assert sources(document) == ["a", "b", "b"]
    result = fill_all(document)
    assert b"nplurals=3" in result
    assert msgfmt(result, tmp_path / "b.po") == ""


def test_a_charset_is_kept_until_it_lacks_a_character(tmp_path: Path) -> None:
    head = HEADER.replace("UTF-8", "ISO-8859-1").replace("A. Person", "Á. Person")
    data = (head + BODY).encode("iso-8859-1")
    document = opened(tmp_path / "a.po", data)
    document.fill(0, ("Öffnen",), marked=False)
    result = written(document)
    assert '"Öffnen"' in result.decode("iso-8859-1")
    assert b"charset=ISO-8859-1" in result
    document.fill(0, ("Otwórz ż",), marked=False)
    result = written(document)
    assert '"Otwórz ż"' in result.decode("utf-8")
    assert b"charset=UTF-8" in result
    assert "Á. Person" in result.decode("utf-8")
    assert msgfmt(result, tmp_path / "b.po") == ""


def test_a_header_that_names_the_wrong_charset_is_put_right(tmp_path: Path) -> None:
    data = (HEADER.replace("UTF-8", "CP1251") + BODY + '\nmsgid "x"\nmsgstr "ж"\n').encode()
    document = opened(tmp_path / "a.po", data)
    assert written(document) == data
    assert b"charset=UTF-8" in fill_all(document)


def test_strings_wrap_as_msgcat_wraps_them(tmp_path: Path) -> None:
    if shutil.which("msgcat") is None:
        pytest.skip("msgcat is not installed")
    document = opened(tmp_path / "a.po", (HEADER + BODY).encode())
    words = "Ein langer Text mit vielen Worten, die auf mehrere Zeilen gehen müssen; "
    result = fill_all(document, lambda content: (words * 3, *(p for p in content if p != "")))
    (tmp_path / "b.po").write_bytes(result)
    command = ["msgcat", str(tmp_path / "b.po")]
    assert subprocess.run(command, capture_output=True, check=True).stdout == result


def test_strings_wrap_at_the_width_of_their_file(tmp_path: Path) -> None:
    wrapped = '"a line that could have been wrapped at any width at all by a "\n"w"'
    narrow = '"one that says that lines are narrow "\n"here"'
    data = f'{HEADER}\nmsgid ""\n{wrapped}\nmsgstr ""\n\nmsgid ""\n{narrow}\nmsgstr ""\n'
    document = opened(tmp_path / "a.po", data.encode())
    result = fill_all(document, lambda content: ("Wort " * 40,)).decode()
    assert max(len(line) for line in result.split("\n") if "Wort" in line) <= 65


def test_a_file_that_does_not_wrap_stays_so(tmp_path: Path) -> None:
    long = "word " * 40 + "end"
    data = f'{HEADER}\nmsgid "{long}"\nmsgstr ""\n\nmsgid "short"\nmsgstr ""\n'.encode()
    document = opened(tmp_path / "a.po", data)
    result = fill_all(document, lambda content: (long.upper(),))
    assert result.count(f'msgstr "{long.upper()}"'.encode()) == 2


def test_codes_must_be_those_of_the_source(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.po", (HEADER + BODY).encode())
    opening, closing = (p for p in document.units[1].source if isinstance(p, Code))
    for wrong in (("x",), (opening, "x"), (closing, "x", opening), (opening, closing, opening)):
        with pytest.raises(ValueError, match="codes"):
            document.fill(1, wrong, marked=False)
    document.fill(1, ("x ", opening, closing), marked=False)
    assert 'msgstr[0] "x <b></b>"' in written(document).decode()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('msgid "a"\n', ":1: "),
        ('msgid "a"\nmsgstr\n', ":1: "),
        ('msgid "a"\nmsgstr "b\n', ":2: "),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[12345678901] ""\n', ":3: "),
        ('msgid ""\nmsgstr "charset=nonsense-8\\n"\n\nmsgid "\udcff"\nmsgstr ""\n', "nonsense-8"),
    ],
)
def test_broken_catalogues_are_one_line(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(DataError) as caught:
        opened(tmp_path / "a.po", text.encode("utf-8", "surrogateescape"))
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "language", ["cs", "fr", "ga", "ja", "lt", "lv", "pl", "pt-br", "ro", "sl"]
)
def test_plural_forms_are_those_of_msginit(tmp_path: Path, language: str) -> None:
    if shutil.which("msginit") is None:
        pytest.skip("msginit is not installed")
    (tmp_path / "a.pot").write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n\n'
        'msgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    )
    locale = language.replace("-br", "_BR")
    command = ["msginit", "-l", locale, "--no-translator", "-i", str(tmp_path / "a.pot"), "-o", "-"]
    made = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    field = re.search(r"Plural-Forms: (.*?)\\n", made.replace('"\n"', ""))
    assert field is not None
    theirs, ours = plural_forms(field[1]), plural_forms_of(language)
    assert theirs is not None
    assert ours is not None
    assert (ours.number, ours.singular) == (theirs.number, theirs.singular)


def test_every_plural_expression_gives_a_form_of_its_language() -> None:
    for language in ("en", "fr", "ru", "cs", "gd", "cy", "mt", "ar", "mk", "se", "zh", "pt-BR"):
        forms = plural_forms_of(language)
        assert forms is not None
        assert (forms.singular is None) == (forms.number == 1)
    assert plural_forms_of("qqq") is None
    assert plural_forms("nplurals=2; plural=n/0;") is None
    assert plural_forms("nplurals=2; plural=__import__('os');") is None


@settings(max_examples=200)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.sampled_from([30, 79]))
def test_any_text_comes_back_from_its_strings(text: str, width: int) -> None:
    lines = Lines(width=width, newline="\n")
    strings = lines.written(text, keyword="msgstr", one_line=False)
    entry = next(entries_of(f'msgid "a"\nmsgstr {strings}\n', "test"))
    assert entry.msgstr[0] == text
    assert escaped(text).count("\n") == 0


def test_shown_tells_codes_from_text() -> None:
    assert shown(("a",)) == "a"
