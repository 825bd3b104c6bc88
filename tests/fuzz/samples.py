"""A valid file of each form that corpora come in, to be damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pyarrow as pa
import zstandard
from pyarrow import parquet

TEXT = (
    "Der Hund schläft.\nEine Katze – und noch eine.\n\n„Guten Tag!“\r\n猫が眠る。\nא ב ג\nEnde\n"
).encode()
OTHER = (
    "The dog is asleep.\nA cat – and another.\n\n“Good day!”\r\nThe cat sleeps.\na b g\nEnd\n"
).encode()

TMX = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="de" datatype="plaintext" segtype="sentence"/><body>
<tu tuid="1"><tuv xml:lang="de"><seg>Ein <bpt i="1">&lt;b&gt;</bpt>Satz<ept i="1"/>.</seg></tuv>
<tuv xml:lang="en"><seg>A <hi>sentence</hi> &amp; more&#233;.</seg></tuv></tu>
<tu srclang="en"><tuv xml:lang="en-GB"><seg>Two</seg></tuv>
<tuv xml:lang="de-AT"><seg>Zwei</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Allein</seg></tuv></tu>
</body></tmx>
"""

XLIFF_1 = b"""<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="de" target-language="en" original="a"><body>
<trans-unit id="1"><source>Eins <x id="1"/> mehr</source><target state="final">One</target>
</trans-unit><trans-unit id="2"><source>Zwei. Drei.</source>
<seg-source><mrk mtype="seg" mid="1">Zwei.</mrk> <mrk mtype="seg" mid="2">Drei.</mrk></seg-source>
<target><mrk mtype="seg" mid="1">Two.</mrk> <mrk mtype="seg" mid="2">Three.</mrk></target>
</trans-unit></body></file></xliff>
"""

XLIFF_2 = b"""<?xml version="1.0"?>
<xliff version="2.0" srcLang="de" trgLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0">
<file id="f"><unit id="1"><segment state="final"><source>Eins<cp hex="1"/></source>
<target>One</target></segment><segment><source>Zwei</source></segment></unit></file></xliff>
"""

PO = """# A catalogue
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#: file.c:12
msgid "Apfel"
msgstr "apple"

#, fuzzy
msgctxt "menu"
msgid "Öffnen\\n"
"…"
msgstr "open\\t\\"it\\""

msgid "%d Birne"
msgid_plural "%d Birnen"
msgstr[0] "%d pear"
msgstr[1] "%d pears"

#~ msgid "alt"
#~ msgstr "old"
""".encode()

JSON_LINES = b"""{"source": "Ein Satz", "target": "A sentence", "id": 1}
{"translation": {"de": "Zwei \\u00e4 \\ud83d\\ude00", "en": "Two"}}

{"source": null, "target": "lone"}
{"source": "Drei", "target": "Three", "score": 0.25}
"""

CSV = b"""source,target
Ein Satz,A sentence
"Mit ""Zitat"", und Komma","With ""quote"", and comma"
"Zwei
Zeilen",Two lines
"""
TSV = b"Ein Satz\tA sentence\nNoch einer\tAnother\n\nDrei\tThree\n"


def _parquet() -> bytes:
    table = pa.table(
        {"source": ["Eins", "Zwei", None] * 5, "target": ["One", "Two", "Three"] * 5, "n": [1] * 15}
    )
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


FORMS: dict[str, bytes] = {
    "a.tmx": TMX,
    "a.xlf": XLIFF_1,
    "b.xliff": XLIFF_2,
    "a.po": PO,
    "a.jsonl": JSON_LINES,
    "a.csv": CSV,
    "a.tsv": TSV,
    "a.parquet": _parquet(),
    "a.tmx.gz": gzip.compress(TMX),
    "a.csv.xz": lzma.compress(CSV),
    "a.po.bz2": bz2.compress(PO),
    "a.tsv.zst": zstandard.ZstdCompressor(write_checksum=True).compress(TSV),
}
"""Files that hold both sides, by name."""

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
"""Compressions that hold a checksum of what they pack."""
