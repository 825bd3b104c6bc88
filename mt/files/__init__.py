"""Files: written whole or not at all, locked, sealed, hashed, and cut into lines."""

from mt.files.temporaries import clean, remove_temporaries
from mt.files.writing import (
    OpenFile,
    append_text,
    new_folder,
    replaced_file,
    require_writable,
    write_bytes,
    write_text,
    written_file,
)

__all__ = [
    "OpenFile",
    "append_text",
    "clean",
    "new_folder",
    "remove_temporaries",
    "replaced_file",
    "require_writable",
    "write_bytes",
    "write_text",
    "written_file",
]
