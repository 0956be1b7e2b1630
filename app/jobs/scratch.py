"""Folders for files that are needed for a moment, such as one that is being imported."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from flask import current_app

from app.errors import ServiceUnavailableError

# With so many bytes free a folder has room for every file that is written to one.
ENOUGH = 256 * 1024 * 1024


def scratch_folder(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """A folder that is gone after the block.

    It lies where the system has its temporary files or, when these have little room, in
    ``DATA_DIR`` if that has more.

    Raises: ServiceUnavailableError, neither can be written to.
    """
    folders = [Path(current_app.config["DATA_DIR"])]
    with suppress(FileNotFoundError):  # the system has no folder that can be written to
        folders.insert(0, Path(tempfile.gettempdir()))
    rooms = [min(_room(folder), ENOUGH) for folder in folders]
    if not any(rooms):
        raise ServiceUnavailableError(
            "There is no room for temporary files; try again later.", headers={"Retry-After": "5"}
        )
    return tempfile.TemporaryDirectory(prefix=prefix, dir=folders[rooms.index(max(rooms))])


def _room(folder: Path) -> int:
    """Bytes that fit into a folder; 0 where it is not, or cannot be written to."""
    return shutil.disk_usage(folder).free if os.access(folder, os.W_OK | os.X_OK) else 0
