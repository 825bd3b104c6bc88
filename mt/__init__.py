"""mt: train, run and score neural machine translation from one command line.

`from mt import Translator` translates from Python (docs/api.md). torch is imported with the first
name that needs it, so that `import mt` is light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.config import SamplingConfig, SearchConfig
    from mt.errors import MtError
    from mt.text.glossary import Glossary
    from mt.translation.options import TranslationOptions
    from mt.translation.translation import TranslatedText, Translation
    from mt.translation.translator import Translator

__version__ = "0.1.0"

__all__ = [
    "Glossary",
    "MtError",
    "SamplingConfig",
    "SearchConfig",
    "TranslatedText",
    "Translation",
    "TranslationOptions",
    "Translator",
    "__version__",
]

_HOMES = {
    "Glossary": "mt.text.glossary",
    "MtError": "mt.errors",
    "SamplingConfig": "mt.config",
    "SearchConfig": "mt.config",
    "TranslatedText": "mt.translation.translation",
    "Translation": "mt.translation.translation",
    "TranslationOptions": "mt.translation.options",
    "Translator": "mt.translation.translator",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
