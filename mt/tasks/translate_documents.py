"""Documents translated with a model, or an ensemble, as a request asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.documents.report import TranslatedDocument
from mt.documents.sentence_translator import ModelTranslator
from mt.documents.translate_document import Filling, translate_document
from mt.documents.written import RecordedDocument, first_difference
from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Event, Listener, Notice, ignore
from mt.files import replaced_file, require_writable
from mt.formats.compressed import read_start
from mt.formats.documents import is_document, open_document
from mt.formats.documents.unit import Document, DocumentOptions
from mt.formats.kind import HEAD, PACKED, Kind, kind_of, suffixes_of
from mt.formats.standard_input import is_standard_input
from mt.model_folder.files import read_config, read_dev_pairs
from mt.tasks.requests import PARAGRAPHS, DocumentsRequest, TranslateRequest
from mt.tasks.translate import Translating
from mt.translation.flags import usual_proportion


@dataclass(frozen=True, kw_only=True)
class _Job:
    path: Path
    output: Path
    kind: Kind


def translate_documents(
    request: DocumentsRequest, listener: Listener = ignore
) -> list[TranslatedDocument]:
    """Translate documents one after the other; each is written when it is done and read again.

    Raises DataError for a file that is no document or is at fault, and for one that is not read
    again as it was written; it is not written then.
    """
    return list(DocumentTranslating(request, listener).results())


class DocumentTranslating:
    """A loaded model that translates the documents of a request."""

    def __init__(self, request: DocumentsRequest, listener: Listener) -> None:
        """Load the model; raises MtError for a request, a first file or a folder at fault."""
        decoding = request.decoding
        if (decoding.search.n_best or 1) > 1 or decoding.sampling is not None:
            raise ConfigError("a document has one translation: --n-best and --sample are for lines")
        self._request = request
        self._jobs = _planned(request)
        config = read_config(Path(request.model))
        if config.tokenizer.takes_symbols:
            raise ConfigError(f"{request.model} takes symbols: it translates no documents")
        self._options = DocumentOptions(
            source_language=config.source_language,
            target_language=config.target_language,
            columns=request.columns,
        )
        self._filling = Filling(
            source_language=config.source_language,
            target_language=config.target_language,
            overwrites=request.overwrite,
            marks=request.mark,
            whole=not request.decoding.split,
            usual=usual_proportion(read_dev_pairs(Path(request.model))),
        )
        self._first: Document | None = self._opened(self._jobs[0])
        self._translating = Translating(
            TranslateRequest(
                model=request.model,
                others=request.others,
                decoding=request.decoding,
                protects=True,
            ),
            _of_whole_texts(listener),
        )
        self._translator = ModelTranslator(
            self._translating.translator, scorer=self._translating.scorer
        )
        self._num_files = self._num_units = self._num_done = 0

    def share(self) -> float:
        """How much of the work is done, from 0 to 1, as if files were of one size."""
        of_file = self._num_done / self._num_units if self._num_units else 0.0
        return (self._num_files + of_file) / len(self._jobs)

    def results(
        self, done: Callable[[int], object] = lambda count: None
    ) -> Iterator[TranslatedDocument]:
        """Translate the documents; `done` is called with the number of units just done."""

        def counted(count: int) -> None:
            self._num_done += count
            done(count)

        for job in self._jobs:
            document = self._first or self._opened(job)
            self._first = None
            self._num_units, self._num_done = len(document.units), 0
            yield self._translated(job, document, counted)
            self._num_files += 1
            self._num_units = 0

    def _opened(self, job: _Job) -> Document:
        return open_document(job.path, job.kind, self._options)

    def _translated(
        self, job: _Job, document: Document, done: Callable[[int], object]
    ) -> TranslatedDocument:
        recorded = RecordedDocument(document)
        report = translate_document(recorded, self._translator, self._filling, done)
        if not report.filled and report.reasons.get("an empty translation") == report.left > 0:
            raise ModelFolderError(
                f"{self._request.model} translates all units of {job.path} by nothing",
                hint="Its training went wrong or has hardly begun, or its files are damaged",
            )
        with replaced_file(job.output) as temporary:
            with temporary.open("wb") as file:
                recorded.write(file)
            self._require_same(job, recorded, temporary)
        return TranslatedDocument(
            path=job.path, output=job.output, form=str(job.kind), report=report
        )

    def _require_same(self, job: _Job, recorded: RecordedDocument, written: Path) -> None:
        """Raise DataError for a file that is not read again as it was meant."""
        try:
            again = open_document(written, job.kind, self._options)
            difference = first_difference(recorded, again.units)
        except DataError as error:
            difference = error.message.replace(str(written), str(job.output))
        if difference is not None:
            raise DataError(
                f"{job.path}: its translation would be damaged ({difference}); {job.output} is "
                "not written",
                hint="Please report it with the file",
            )


def document_kind(path: Path, form: str | None = None) -> Kind | None:
    """The kind of a file that is translated as a document, by a suffix or by the file; or None.

    Raises ConfigError for a suffix that names no such kind.
    """
    if form == PARAGRAPHS:
        return Kind.PARAGRAPHS
    if form is not None:
        names = {name: kind for kind in Kind if is_document(kind) for name in suffixes_of(kind)}
        if form not in names:
            raise ConfigError(f"--format {form!r} is none of {', '.join(['text', *sorted(names)])}")
        return names[form]
    if is_standard_input(path) or not path.is_file():
        return None
    kind = kind_of(path, read_start(path, HEAD))
    return kind if is_document(kind) else None


def _planned(request: DocumentsRequest) -> list[_Job]:
    """What is read and written; raises MtError for what cannot be."""
    paths = [Path(file) for file in request.files]
    kinds = [_required_kind(path, request.form) for path in paths]
    output = Path(request.output)
    into_folder = len(paths) > 1 or output.is_dir()
    if into_folder and output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file: several documents need a folder (-o FOLDER)")
    targets = [output / path.name if into_folder else output for path in paths]
    for path, target in zip(paths, targets, strict=True):
        if target.suffix.lower() in PACKED:
            raise ConfigError(f"{target} would not be packed: documents are written as they are")
        if targets.count(target) > 1:
            raise ConfigError(f"two documents would be written to {target}")
        if target.exists() and path.samefile(target):
            raise ConfigError(f"{target} is the document itself: name another file with -o")
    if into_folder:
        output.mkdir(parents=True, exist_ok=True)
    for target in targets:
        require_writable(target)
    return [
        _Job(path=path, output=target, kind=kind)
        for path, target, kind in zip(paths, targets, kinds, strict=True)
    ]


def _required_kind(path: Path, form: str | None) -> Kind:
    """The kind of a document; raises MtError for what is none."""
    if is_standard_input(path):
        raise ConfigError("a document is read from a file, not from standard input")
    path.stat()  # what is not there is said at once
    kind = document_kind(path, form)
    if kind is None:
        what = kind_of(path, read_start(path, HEAD))
        raise DataError(
            f"{path} is {what}, which is not translated as a document",
            hint="--format says what a file is; lines of text are translated by themselves",
        )
    if path.suffix.lower() in PACKED:
        raise DataError(f"{path} is packed", hint="Unpack the document first")
    return kind


def _of_whole_texts(listener: Listener) -> Listener:
    """Without notices of single lines: sentences have no numbers, and the report counts units."""

    def listen(event: Event) -> None:
        if not (isinstance(event, Notice) and event.text.startswith("line ")):
            listener(event)

    return listen
