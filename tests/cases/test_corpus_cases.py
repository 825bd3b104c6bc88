"""Reading and cleaning a corpus: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import bz2
import gzip
import itertools
import lzma
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mt.config import Config
from mt.corpus.store import read_pairs as read_stored_pairs
from mt.errors import DataError
from mt.events import CorpusRead, Event, PairDropped, ignore
from mt.files.lines import split_lines
from mt.formats import open_corpora
from mt.preparation.pipeline import (
    PAIRS,
    TOKENS,
    store_texts,
    store_tokens,
)
from mt.text.tokenizer_pair import TokenizerPair
from tests.cases.model_files import learned_pieces, pieces, records, same_tensors
from tests.cases.runs import UNTRAINED, Run, command_line, run_here, run_process, variables
from tests.cases.toy import (
    WORDS,
    Files,
    Pair,
    Toy,
    as_bytes,
    sentence,
    target_of,
    toy_pairs,
    write_bytes,
    write_files,
)
from tests.cases.trouble import NOT_UTF_8, SEPARATORS

LONG = " ".join(WORDS * 32)
"""A sentence of 512 words."""

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
    ".bz2": bz2.compress,
}


def read_pairs(*paths: Path) -> list[tuple[str, str]]:
    """All pairs of a corpus as its readers give them."""
    readers = open_corpora([str(path) for path in paths]).readers
    return [(pair.source, pair.target) for reader in readers for pair in reader]


def cleaned(files: Files, folder: Path) -> tuple[CorpusRead, list[Pair]]:
    """What became of a corpus, and the pairs that cleaning left."""
    readers = open_corpora(files.arguments).readers
    cleaner = store_texts(readers, folder, Config(), listener=ignore)
    pairs = (pair for block in read_stored_pairs(folder / PAIRS) for pair in block)
    kept = [(pair.source, pair.target) for pair in itertools.compress(pairs, cleaner.kept)]
    return CorpusRead(origins=cleaner.summary()), kept


def train(
    arguments: Sequence[str | Path], dev: Files, folder: Path, *options: str, check: bool = True
) -> Run:
    """Train on a corpus for one update."""
    run = run_here("train", *arguments, *dev.as_dev, "-o", folder, *UNTRAINED, *options)
    return run.check() if check else run


# D01: lines


@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))),
    ends_in_lf=st.booleans(),
    block=st.integers(min_value=1, max_value=7),
)
def test_only_lf_ends_a_line(lines: list[str], ends_in_lf: bool, block: int) -> None:
    """D01 (huggingface/datasets#3729, #3804; Unbabel/COMET#139), D07 (mosesdecoder PR#201)."""
    data = "\n".join(lines).encode("utf-8") + (b"\n" if ends_in_lf and lines else b"")
    expected = [line.encode("utf-8").removesuffix(b"\r") for line in lines]
    if lines and not ends_in_lf and not lines[-1]:
        del expected[-1]  # an empty last line without an end is no line
    if data.startswith(b"\xef\xbb\xbf"):
        expected[0] = lines[0].encode("utf-8")[3:].removesuffix(b"\r")
        if not ends_in_lf and len(lines) == 1 and len(data) == 3:
            expected = []
    blocks = [data[start : start + block] for start in range(0, len(data), block)]
    assert list(split_lines(blocks)) == expected


@pytest.mark.parametrize("separator", SEPARATORS)
def test_separator_inside_a_sentence_shifts_no_pair(separator: str, tmp_path: Path) -> None:
    """D01: form feed, U+2028 and their like are text."""
    inner = f"{WORDS[0]}{separator}{WORDS[1]} ."
    files = write_bytes(
        tmp_path,
        "x",
        source=as_bytes([inner, sentence(2), sentence(3)]),
        target=as_bytes(["first", "second", "third"]),
    )
    assert read_pairs(files.source, files.target) == [
        (inner, "first"),
        (sentence(2), "second"),
        (sentence(3), "third"),
    ]


def test_training_counts_pairs_by_lf(toy: Toy, tmp_path: Path) -> None:
    """D01: 2,000 pairs and 3 for each of the separators are read."""
    added = [
        (source, target)
        for separator in SEPARATORS
        for source, target in (
            (f"{WORDS[0]}{separator}{WORDS[1]} .", target_of(sentence(0, 1))),
            (sentence(2), target_of(sentence(2))),
            (sentence(3), target_of(sentence(3))),
        )
    ]
    extra = write_files(tmp_path, "extra", added)
    run = train((*toy.train.arguments, *extra.arguments), toy.dev, tmp_path / "m")
    num = 2000 + 3 * len(SEPARATORS)
    assert f"{num} pairs read, {num - 3 * (len(SEPARATORS) - 1)} used, " in run.err
    assert f"(duplicate: {3 * (len(SEPARATORS) - 1)})" in run.err  # all but the first three
    assert not any(set(piece) & set(SEPARATORS) for piece in learned_pieces(tmp_path / "m"))


# D02, D07, D13: the same text in another form


@pytest.fixture(scope="module")
def plain_run(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained for one update on 100 plain pairs."""
    folder = tmp_path_factory.mktemp("plain")
    files = write_files(folder, "train", toy_pairs(100, seed="forms"))
    train(files.arguments, toy.dev, folder / "model")
    return folder / "model"


def _forms() -> dict[str, tuple[str, Callable[[bytes], bytes]]]:
    plain_text: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
        "CRLF": ("", lambda data: data.replace(b"\n", b"\r\n")),
        "no final LF": ("", lambda data: data.removesuffix(b"\n")),
        "no final LF after CR": ("", lambda d: d.replace(b"\n", b"\r\n").removesuffix(b"\n")),
        "byte order mark": ("", lambda data: b"\xef\xbb\xbf" + data),
        "several gzip members": (
            ".gz",
            lambda d: gzip.compress(d[:999]) + gzip.compress(d[999:]),
        ),
    }
    packed = {f"packed{suffix}": (suffix, pack) for suffix, pack in PACKINGS.items()}
    unnamed = {f"packed{suffix}, not named so": ("", pack) for suffix, pack in PACKINGS.items()}
    return plain_text | packed | unnamed


@pytest.mark.parametrize(("suffix", "convert"), _forms().values(), ids=_forms())
def test_form_of_a_corpus_changes_no_model(
    suffix: str, convert: Callable[[bytes], bytes], plain_run: Path, toy: Toy, tmp_path: Path
) -> None:
    """D02 (OpusCleaner#81; CTranslate2 PR#1192), D07 (mosesdecoder PR#201), D13 (datasets#6851).

    Line ends, a missing last one, a byte order mark and packing: same pieces, loss and weights.
    """
    plain = write_files(tmp_path, "plain", toy_pairs(100, seed="forms"))
    paths = []
    for path in (plain.source, plain.target):
        paths.append(tmp_path / f"train{path.suffix}{suffix}")
        paths[-1].write_bytes(convert(path.read_bytes()))
    run = train(paths, toy.dev, tmp_path / "model")
    assert "100 pairs read, 100 used, 0 dropped" in run.err
    assert pieces(tmp_path / "model") == pieces(plain_run)
    assert same_tensors(tmp_path / "model", plain_run)
    ours, theirs = (records(folder, "Validated") for folder in (tmp_path / "model", plain_run))
    assert [record["scores"] for record in ours] == [record["scores"] for record in theirs]


@pytest.mark.parametrize("suffix", PACKINGS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_packed_file_cut_short_is_no_short_corpus(
    suffix: str, share: float, toy: Toy, tmp_path: Path
) -> None:
    """D13 (huggingface/datasets#6851, #6908): refused by name, wherever it is cut."""
    whole = PACKINGS[suffix](toy.train.source.read_bytes())
    cut = tmp_path / f"cut.src{suffix}"
    cut.write_bytes(whole[: int(len(whole) * share)])
    run = run_here("train", cut, toy.train.target, "-o", tmp_path / "model", *UNTRAINED)
    assert f"{cut} is damaged or cut short" in run.check_refusal()
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("suffix", PACKINGS)
def test_packed_file_with_a_wrong_byte_is_refused_or_whole(
    suffix: str, toy: Toy, tmp_path: Path
) -> None:
    """D13: a damaged file raises DataError by name; only a wrong byte that says nothing passes."""
    plain = toy.dev.source.read_bytes()
    whole = PACKINGS[suffix](plain)
    damaged = tmp_path / f"damaged.src{suffix}"
    for place in range(6, len(whole)):  # the bytes before tell which packing it is
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            read_pairs(damaged, toy.dev.target)
        except DataError as error:
            assert str(damaged) in str(error)  # noqa: PT017 - a wrong header byte may do no harm


# D03, D04: bytes that are no text


def test_nul_in_a_corpus_is_a_space(toy: Toy, tmp_path: Path) -> None:
    """D03 (google/sentencepiece#156, #331, #1308; OpenNMT#489): no crash, no piece with NUL."""
    extra = write_bytes(
        tmp_path,
        "x",
        source=f"{WORDS[0]}\0{WORDS[1]} .\n{WORDS[2]} .\n\0\n".encode(),
        target=b"\0a\0\0b .\nc .\nd\n",
    )
    run = train((*toy.test.arguments, *extra.arguments), toy.dev, tmp_path / "m")
    assert "23 pairs read, 22 used, 1 dropped (blank side: 1)" in run.err
    assert not any("\0" in piece for piece in learned_pieces(tmp_path / "m"))


@pytest.mark.parametrize("wrong", NOT_UTF_8.values(), ids=NOT_UTF_8)
@pytest.mark.parametrize("side", ["source", "target"])
def test_byte_that_is_not_utf_8_is_refused_with_file_and_line(
    wrong: bytes, side: str, tmp_path: Path
) -> None:
    """D04 (OpenNMT-py#784; bert-nmt#2; fairseq#437): strict unless asked otherwise."""
    good = b"one .\ntwo .\nthree .\n"
    bad = b"one .\ntwo .\nth" + wrong + b"ree .\n"
    files = write_bytes(
        tmp_path,
        "x",
        source=bad if side == "source" else good,
        target=bad if side == "target" else good,
    )
    run = run_here("train", *files.arguments, "-o", tmp_path / "m", *UNTRAINED)
    message = run.check_refusal()
    assert f"{getattr(files, side)}:3: byte 0x{wrong[0]:02x} at position 3 " in message
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("wrong", NOT_UTF_8.values(), ids=NOT_UTF_8)
def test_pairs_that_are_not_utf_8_are_dropped_on_request(
    wrong: bytes, toy: Toy, tmp_path: Path
) -> None:
    """D04: the whole pair goes, on whichever side the byte is, and is counted."""
    files = write_bytes(
        tmp_path,
        "x",
        source=b"one .\nt" + wrong + b"wo .\nthree .\nfour .\n",
        target=b"uno .\ndue .\ntre .\nq" + wrong + b"uattro .\n",
    )
    run = train(files.arguments, toy.dev, tmp_path / "m", "--drop", "not_utf8")
    assert "4 pairs read, 2 used, 2 dropped (not UTF-8: 2)" in run.err


def test_tsv_line_that_is_not_utf_8_is_refused_with_file_and_line(tmp_path: Path) -> None:
    """D04: in a file with both columns as in two files."""
    path = tmp_path / "x.tsv"
    path.write_bytes(b"one\tuno\ntwo\tdu\xe9\n")
    run = run_here("train", path, "-o", tmp_path / "m", *UNTRAINED)
    assert f"{path}:2: byte 0xe9" in run.check_refusal()


# D06: unequal sides


@pytest.mark.parametrize(("num_source", "num_target"), [(2000, 1999), (3, 2000), (0, 20)])
@pytest.mark.parametrize("uneven", ["train", "dev"])
def test_unequal_sides_are_refused_before_training(
    num_source: int, num_target: int, uneven: str, toy: Toy, tmp_path: Path
) -> None:
    """D06 (modernmt#245; NTREX#3; marian-dev#310): both names, both counts, nothing left."""
    pairs = toy_pairs(2000, seed="train")
    files = write_bytes(
        tmp_path,
        "uneven",
        source=as_bytes([source for source, _ in pairs[:num_source]]),
        target=as_bytes([target for _, target in pairs[:num_target]]),
    )
    corpus, dev = (files, toy.dev) if uneven == "train" else (toy.train, files)
    begun = time.monotonic()
    run = train(corpus.arguments, dev, tmp_path / "m", check=False)
    message = run.check_refusal()
    assert time.monotonic() - begun < 30
    assert f"{files.source} has {num_source} lines" in message
    assert f"{files.target} has {num_target}" in message
    assert not (tmp_path / "m").exists()


# D08, D09, D11: tab-separated text

_CELL = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1)


@given(pairs=st.lists(st.tuples(_CELL, _CELL), min_size=1))
def test_tsv_gives_back_any_text(
    pairs: list[Pair], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """D08 (pytorch/text#612, #349): no quotes, no escapes. D09 (datasets#4467): all is text."""
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    path.write_bytes(as_bytes([f"{source}\t{target}" for source, target in pairs]))
    expected = list(pairs)
    if expected[0][0].startswith("\ufeff"):
        expected[0] = expected[0][0][1:], expected[0][1]
    assert read_pairs(path) == expected


def test_quote_in_a_tsv_joins_no_rows(tmp_path: Path) -> None:
    """D08: quotes at the start, in the middle and at the end of fields."""
    path = tmp_path / "q.tsv"
    path.write_bytes(b'"Go now\tva ya\nok\tbien\nsay "hi" x\tdi\nend"\tfin\n')
    assert read_pairs(path) == [
        ('"Go now', "va ya"),
        ("ok", "bien"),
        ('say "hi" x', "di"),
        ('end"', "fin"),
    ]


def test_words_for_nothing_are_words(toy: Toy, tmp_path: Path) -> None:
    """D09: null, NA, None and nan; numbers, truth values and dates stay as they are written."""
    cells = ["null", "NA", "None", "nan", "007", "True", "2020-01-02", "1e5", "-"]
    path = tmp_path / "n.tsv"
    path.write_bytes(as_bytes([f"{cell}\t{cell}" for cell in cells]))
    assert read_pairs(path) == [(cell, cell) for cell in cells]
    run = train([path], toy.dev, tmp_path / "m")
    assert f"{len(cells)} pairs read, {len(cells)} used" in run.err


@pytest.mark.parametrize(
    ("row", "found"), [("lema", "1 column,"), ("lema\tobel\textra", "3 columns"), ("\t\t\t", "4")]
)
def test_tsv_row_without_two_columns_is_refused_with_file_and_line(
    row: str, found: str, tmp_path: Path
) -> None:
    """D11 (thammegowda/mtdata#44): file, line and the number of columns."""
    path = tmp_path / "c.tsv"
    path.write_bytes(f"kilo\tadun\n{row}\n".encode())
    run = run_here("train", path, "-o", tmp_path / "m", *UNTRAINED)
    message = run.check_refusal()
    assert f"{path}:2: {found}" in message


# D10, D18, D19: forms that are not supported (those that are: tests/formats/test_forms.py)

_TMX = (
    '<?xml version="1.0" encoding="utf-16"?><tmx version="1.4"><header srclang="en"/><body><tu>'
    '<tuv xml:lang="en"><seg>one</seg></tuv><tuv xml:lang="it"><seg>uno</seg></tuv></tu></body>'
    "</tmx>"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("memory.xml", _TMX.encode("utf-16")),
        ("memory.xml.gz", gzip.compress(_TMX.encode("utf-16"))),
        ("table.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ("TEXT.DOCX", b"PK"),
        ("page.html", b"<html/>"),
    ],
)
@pytest.mark.parametrize("option", ["CORPUS", "--dev"])
def test_form_that_is_not_supported_is_called_so(
    name: str, content: bytes, option: str, toy: Toy, tmp_path: Path
) -> None:
    """D10 (mtdata#44), D18 (modernmt#293), D19 (mtdata PR#39): no training on markup."""
    path = tmp_path / name
    path.write_bytes(content)
    arguments = [path] if option == "CORPUS" else [*toy.dev.arguments, "--dev", path]
    run = run_here("train", *arguments, "-o", tmp_path / "m", *UNTRAINED)
    message = run.check_refusal(status=2)
    kind = name.removesuffix(".gz").rpartition(".")[2].upper()
    assert f"{path}: {kind} is not supported" in message
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_form_under_a_name_that_promises_plain_text_is_called_by_its_name(
    encoding: str, toy: Toy, tmp_path: Path
) -> None:
    """D18: better than training on its tags."""
    path = tmp_path / "memory.src"
    path.write_bytes(_TMX.encode(encoding))
    run = run_here("train", path, toy.train.target, "-o", tmp_path / "m", *UNTRAINED)
    assert f"{path} is TMX, not plain text. Name it .tmx" in run.check_refusal()


# D12: no network, no home


def test_training_writes_nothing_but_its_folder(toy: Toy, tmp_path: Path) -> None:
    """D12 (datasets#4589, #6750, PR#2887; huggingface_hub#2797).

    No home, no network (a proxy at a dead port), an input folder that may not be written.
    """
    folders = {name: tmp_path / name for name in ("in", "out", "work", "temporary")}
    for folder in folders.values():
        folder.mkdir()
    files = write_files(folders["in"], "train", toy_pairs(50, seed="offline"))
    dev = write_files(folders["in"], "dev", toy_pairs(5, seed="offline dev"))
    before = {path: path.stat().st_mtime_ns for path in folders["in"].rglob("*")}
    for path in (*before, folders["in"], folders["work"]):
        path.chmod(path.stat().st_mode & ~0o222)
    dead = "http://127.0.0.1:9"
    run = run_process(
        *("train", *files.arguments, *dev.as_dev, "-o", folders["out"] / "m", *UNTRAINED),
        environment={
            "HOME": str(tmp_path / "nonexistent"),
            "TMPDIR": str(folders["temporary"]),
            "PYTHONDONTWRITEBYTECODE": "1",
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), dead),
        },
        cwd=folders["work"],
    )
    folders["in"].chmod(0o755)
    folders["work"].chmod(0o755)
    run.check()
    assert {path: path.stat().st_mtime_ns for path in folders["in"].rglob("*")} == before
    assert sorted(tmp_path.iterdir()) == sorted(folders.values())
    assert [path.name for path in folders["out"].iterdir()] == ["m"]
    assert list(folders["work"].iterdir()) == []


# D14, D15, D16: what is dropped


@pytest.mark.parametrize("blank", ["", "   ", "\u3000\u200b", "\t", "\ufeff", "\0\x1f", "▁"])
def test_pair_with_a_blank_side_goes_whole(blank: str, tmp_path: Path) -> None:
    """D14 (sockeye#649, #1034; OpenNMT-py#252; nmt-en-vi#6): counted, and nothing shifts."""
    pairs = toy_pairs(100, seed="blank")
    wanted = [pair for number, pair in enumerate(pairs) if number not in (50, 70, 90)]
    pairs[50] = blank, pairs[50][1]
    pairs[70] = pairs[70][0], blank
    pairs[90] = blank, blank
    tally, kept = cleaned(write_files(tmp_path, "x", pairs), tmp_path)
    assert kept == wanted
    assert (tally.num_read, tally.num_used, dict(tally.dropped)) == (100, 97, {"blank side": 3})


def test_blank_sides_are_reported_with_read_and_used(toy: Toy, tmp_path: Path) -> None:
    """D14: in the log of a training run."""
    pairs = toy_pairs(2000, seed="train")
    pairs[499] = "", pairs[499][1]
    pairs[699] = pairs[699][0], "   "
    pairs[899] = "", ""
    pairs[949] = "\u3000\u200b", pairs[949][1]
    run = train(write_files(tmp_path, "x", pairs).arguments, toy.dev, tmp_path / "m")
    assert "2000 pairs read, 1996 used, 4 dropped (blank side: 4)" in run.err


@pytest.mark.parametrize("with_dev", [True, False])
@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([(LONG, f"{LONG} {n}") for n in range(3)], "3 read, 3 dropped (too long: 3)"),
        ([("", "uno"), ("two", "  ")], "2 read, 2 dropped (blank side: 2)"),
        ([], "0 read, 0 dropped"),
    ],
    ids=["too long", "blank", "empty files"],
)
def test_corpus_without_a_usable_pair_is_refused_with_counts(
    pairs: list[Pair], reason: str, with_dev: bool, toy: Toy, tmp_path: Path
) -> None:
    """D15 (OpenNMT-py#320; OpenNMT-tf PR#651; vall-e#86): no crash, no endless loop."""
    files = write_files(
        tmp_path, "x", [(f"{s} {n}" if s else s, t) for n, (s, t) in enumerate(pairs)]
    )
    dev = toy.dev.as_dev if with_dev else ()
    options = ("--set", "corpus.max_length=50")
    begun = time.monotonic()
    run = run_here("train", *files.arguments, *dev, "-o", tmp_path / "m", *UNTRAINED, *options)
    message = run.check_refusal()
    assert time.monotonic() - begun < 30
    assert "0 usable pairs" in message
    assert reason in message or not with_dev
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("longer_side", ["source", "target", "both"])
def test_pair_of_just_the_greatest_length_is_kept(
    longer_side: str, model: Path, tmp_path: Path
) -> None:
    """D16 (OpenNMT#18; OpenNMT-py#1883, #925; eole#241): the end symbol does not count."""
    tokenizers = TokenizerPair.load(model, joint=True)
    limit = 7
    fits = " ".join(WORDS[:limit])
    too_long = " ".join(WORDS[: limit + 1])
    assert len(tokenizers.source.encode(fits)) == limit
    assert len(tokenizers.source.encode(too_long)) == limit + 1
    source, target = (
        too_long if longer_side in (side, "both") else fits for side in ("source", "target")
    )
    files = write_files(tmp_path, "x", [(fits, fits), (source, target)] * 5)
    readers = open_corpora(files.arguments).readers
    config = Config().with_values({"corpus": {"drop": ("long",)}})
    events: list[Event] = []
    cleaner = store_texts(readers, tmp_path, config, listener=events.append)
    store_tokens(
        tmp_path,
        tokenizers,
        cleaner,
        max_length=limit,
        num_processes=1,
        listener=ignore,
    )
    (origin,) = cleaner.summary()
    assert (origin.num_read, origin.num_used, origin.dropped) == (10, 5, {"too long": 5})
    assert [event.line for event in events if isinstance(event, PairDropped)] == [2, 4, 6, 8, 10]
    assert (tmp_path / TOKENS).exists()


def test_pairs_too_long_are_reported(toy: Toy, tmp_path: Path) -> None:
    """D16: read, used and dropped stand in the log, each pair counted once."""
    long = " ".join(WORDS * 10)
    files = write_files(
        tmp_path, "x", [*toy_pairs(30, seed="long"), (long, f"{long} a"), (f"{long} a", long)]
    )
    run = train(files.arguments, toy.dev, tmp_path / "m", "--set", "corpus.max_length=60")
    assert "32 pairs read, 30 used, 2 dropped (too long: 2)" in run.err


# D17: memory


@pytest.mark.slow
def test_memory_grows_far_slower_than_the_corpus(toy: Toy, tmp_path: Path) -> None:
    """D17 (robertostling/hnmt#7; jiant#49): 1,000,000 pairs take under 600 MB more than 100,000."""
    peaks = []
    for times in (50, 500):
        files = write_bytes(
            tmp_path,
            f"times-{times}",
            source=toy.train.source.read_bytes() * times,
            target=toy.train.target.read_bytes() * times,
        )
        arguments = ("train", *files.arguments, *toy.dev.as_dev, "-o", tmp_path / f"m{times}")
        with subprocess.Popen(
            command_line(*arguments, *UNTRAINED), env=variables(), stderr=subprocess.DEVNULL
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        peaks.append(usage.ru_maxrss * 1024)
    assert peaks[1] - peaks[0] < 600e6
