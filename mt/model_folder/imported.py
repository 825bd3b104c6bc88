"""Where an imported model comes from, and what came of comparing it."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from mt.files import write_text

IMPORTED = "imported.json"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A model that another program has trained."""

    source: str
    """The file or folder it was read from."""
    program: str
    """Whose form that has."""
    num_parameters: int
    command: str
    compared_with: str = ""
    """The program that computed the same, with its version; empty where none was installed."""
    difference: float = 0.0
    """The largest difference of a logit between the two."""

    @property
    def sentence(self) -> str:
        """All of it in words."""
        text = f"{self.source} ({self.program})"
        if not self.compared_with:
            return f"{text}, not compared with it"
        return f"{text}; logits differ from those of {self.compared_with} by {self.difference:.1e}"

    def save(self, folder: Path) -> None:
        """Write `imported.json` into a model folder."""
        text = json.dumps(dataclasses.asdict(self), indent=1)
        write_text(folder / IMPORTED, f"{text}\n")

    @staticmethod
    def load(folder: Path) -> Imported | None:
        """Read what `save` wrote; None where there is none, or it is of another version."""
        try:
            found = json.loads((folder / IMPORTED).read_text("utf-8"))
            return Imported(**found)
        except (OSError, ValueError, TypeError):
            return None
