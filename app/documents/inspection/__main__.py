"""The program that looks into one file, with little memory and time, and may die of it.

    python -m app.documents.inspection FILE MEDIA_TYPE PICTURE

It writes the text of the file to its output and a picture of the first page into PICTURE. Readers
of PDF and of pictures are large, and files are made by strangers: what goes wrong goes wrong here.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from app.documents.inspection.pictures import draw_picture
from app.documents.inspection.texts import extract_text

MEMORY_BYTES = 1024 * 1024 * 1024
CPU_SECONDS = 20
LARGEST_FILE_BYTES = 32 * 1024 * 1024


def main(path: Path, media_type: str, picture: Path) -> None:
    """Look into the file at ``path``."""
    for what, limit in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, LARGEST_FILE_BYTES),
    ):
        resource.setrlimit(what, (limit, limit))
    # The picture first: reading the text of a long file may take the rest of the time.
    problems = []
    try:
        draw_picture(path, media_type, picture)
    except Exception as error:
        problems.append(f"no picture: {error!r}")
    try:
        sys.stdout.buffer.write(extract_text(path, media_type).encode("utf-8", "ignore"))
        sys.stdout.flush()
    except Exception as error:
        problems.append(f"no text: {error!r}")
    if problems:
        sys.exit("; ".join(problems)[:1000])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
