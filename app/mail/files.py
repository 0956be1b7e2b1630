"""Mail as ``.eml`` files, where there is no mail server: to be opened and looked at."""

from __future__ import annotations

import os
from pathlib import Path

from app.models.event import OutgoingMail


def write_file(folder: Path, row: OutgoingMail, content: bytes) -> Path:
    """Write a mail as ``00000042.eml``; a second attempt writes the same file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row.id:08d}.eml"
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return path
