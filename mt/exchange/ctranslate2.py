"""The library CTranslate2, an engine in C++: the only module that imports it.

Nothing here needs torch, nor does the library to translate; its `specs`, which convert models, load
torch where it is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from mt.errors import ConfigError, ModelFolderError
from mt.files.library_paths import library_path

Stored = Literal["float32", "float16", "bfloat16", "int8"]
"""Types in which the weights of matrices can be stored."""

INSTALL = "Install it: pip install 'mt-trainer[ctranslate2]'"


def is_installed() -> bool:
    """Whether the library can be loaded."""
    try:
        import ctranslate2  # noqa: F401
    except ImportError:
        return False
    return True


def library_version() -> str:
    """Its version; raises ConfigError when it cannot be loaded."""
    return str(_library().__version__)


def model_specs() -> Any:
    """What describes models to it; raises ConfigError when it cannot be loaded."""
    return _library().specs


def num_cuda_devices() -> int:
    """CUDA devices that it sees."""
    return int(_library().get_cuda_device_count())


def open_translator(folder: Path, *, precision: str, threads: int) -> Any:
    """Its translator of the model in `folder`, on the CPU: so many threads, each with a batch.

    Threads with a batch each are faster than threads that share one: they never wait for each
    other. Raises ModelFolderError for a folder that it cannot read.
    """
    library = _library()
    try:
        return library.Translator(
            str(library_path(folder)),
            device="cpu",
            compute_type=precision,
            inter_threads=threads,
            intra_threads=1,
        )
    except (RuntimeError, ValueError) as error:
        raise ModelFolderError(f"{folder} cannot be loaded by CTranslate2: {error}") from error


def _library() -> Any:
    try:
        import ctranslate2
    except ImportError as error:
        raise ConfigError(
            f"this needs the package ctranslate2, which cannot be loaded: {error}", hint=INSTALL
        ) from error
    return ctranslate2
