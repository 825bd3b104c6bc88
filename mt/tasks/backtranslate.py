"""Back-translation: text of the target language becomes pairs whose sources a model made.

Sennrich et al. 2016; by sampling, Edunov et al. 2018.
"""

from __future__ import annotations

from pathlib import Path

from mt.errors import ConfigError
from mt.events import Listener, ignore
from mt.synthetic.inputs import Inputs
from mt.tasks.synthetic_requests import BacktranslateRequest
from mt.tasks.synthetic_text import MadePairs, PairsRequest, made_pairs


def backtranslate(request: BacktranslateRequest, listener: Listener = ignore) -> MadePairs:
    """Translate text into the sources of pairs; a request that was interrupted goes on.

    Raises ConfigError for a request that cannot be, and for an output of another one; DataError
    for text at fault; ModelFolderError for a model folder at fault.
    """
    if not request.mono:
        raise ConfigError("there is no text to translate", hint="Give MONO")
    asked = PairsRequest(
        output=Path(request.output),
        inputs=Inputs(readers=(), paths=tuple(map(Path, request.mono))),
        is_backwards=True,
        models=[Path(request.model), *map(Path, request.others)],
        decoding=request.decoding,
        filtering=request.filtering,
        command=request.command,
    )
    return made_pairs(asked, listener)
