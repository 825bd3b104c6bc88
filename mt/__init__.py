"""mt: train, run and score neural machine translation from one command line.

The same tasks from Python (docs/api.md): `mt.train`, `mt.evaluate`, `mt.check` … take a request and
give a typed result, and `mt.Translator` translates. torch is imported with the first name that
needs it, so that `import mt` is light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.config import SamplingConfig, SearchConfig
    from mt.corpus.checks.finding import CheckReport
    from mt.documents.report import DocumentReport, TranslatedDocument
    from mt.errors import MtError
    from mt.tasks.average import average
    from mt.tasks.backtranslate import backtranslate
    from mt.tasks.check import check
    from mt.tasks.compare import Comparison, compare
    from mt.tasks.distil import Distillation, distil
    from mt.tasks.engine import load_translator
    from mt.tasks.evaluate import Evaluation, evaluate
    from mt.tasks.export import export
    from mt.tasks.import_model import ImportResult, import_model
    from mt.tasks.report import report
    from mt.tasks.requests import (
        AverageRequest,
        Budget,
        CheckRequest,
        CompareRequest,
        Decoding,
        DocumentsRequest,
        EvaluateRequest,
        ExportRequest,
        ImportRequest,
        Machine,
        ReportRequest,
        Resampling,
        Scoring,
        SearchOverrides,
        TrainRequest,
    )
    from mt.tasks.synthetic_requests import BacktranslateRequest, DistilRequest, Filtering
    from mt.tasks.synthetic_text import MadePairs
    from mt.tasks.train import train
    from mt.tasks.training_run import TrainResult
    from mt.tasks.translate_documents import translate_documents
    from mt.text.glossary import Glossary
    from mt.translation.options import TranslationOptions
    from mt.translation.translation import TranslatedText, Translation
    from mt.translation.translator import Translator

__version__ = "0.1.0"

_HOMES = {
    "mt.config": ("SamplingConfig", "SearchConfig"),
    "mt.corpus.checks.finding": ("CheckReport",),
    "mt.documents.report": ("DocumentReport", "TranslatedDocument"),
    "mt.errors": ("MtError",),
    "mt.tasks.average": ("average",),
    "mt.tasks.backtranslate": ("backtranslate",),
    "mt.tasks.check": ("check",),
    "mt.tasks.compare": ("Comparison", "compare"),
    "mt.tasks.distil": ("Distillation", "distil"),
    "mt.tasks.evaluate": ("Evaluation", "evaluate"),
    "mt.tasks.engine": ("load_translator",),
    "mt.tasks.export": ("export",),
    "mt.tasks.import_model": ("ImportResult", "import_model"),
    "mt.tasks.report": ("report",),
    "mt.tasks.requests": (
        "AverageRequest",
        "Budget",
        "CheckRequest",
        "CompareRequest",
        "Decoding",
        "DocumentsRequest",
        "EvaluateRequest",
        "ExportRequest",
        "ImportRequest",
        "Machine",
        "ReportRequest",
        "Resampling",
        "Scoring",
        "SearchOverrides",
        "TrainRequest",
    ),
    "mt.tasks.synthetic_requests": ("BacktranslateRequest", "DistilRequest", "Filtering"),
    "mt.tasks.synthetic_text": ("MadePairs",),
    "mt.tasks.train": ("train",),
    "mt.tasks.training_run": ("TrainResult",),
    "mt.tasks.translate_documents": ("translate_documents",),
    "mt.text.glossary": ("Glossary",),
    "mt.translation.options": ("TranslationOptions",),
    "mt.translation.translation": ("TranslatedText", "Translation"),
    "mt.translation.translator": ("Translator",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AverageRequest",
    "BacktranslateRequest",
    "Budget",
    "CheckReport",
    "CheckRequest",
    "CompareRequest",
    "Comparison",
    "Decoding",
    "DistilRequest",
    "Distillation",
    "DocumentReport",
    "DocumentsRequest",
    "EvaluateRequest",
    "Evaluation",
    "ExportRequest",
    "Filtering",
    "Glossary",
    "ImportRequest",
    "ImportResult",
    "Machine",
    "MadePairs",
    "MtError",
    "ReportRequest",
    "Resampling",
    "SamplingConfig",
    "Scoring",
    "SearchConfig",
    "SearchOverrides",
    "TrainRequest",
    "TrainResult",
    "TranslatedDocument",
    "TranslatedText",
    "Translation",
    "TranslationOptions",
    "Translator",
    "__version__",
    "average",
    "backtranslate",
    "check",
    "compare",
    "distil",
    "evaluate",
    "export",
    "import_model",
    "load_translator",
    "report",
    "train",
    "translate_documents",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
