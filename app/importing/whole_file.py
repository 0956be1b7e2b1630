"""A file that a command writes: it appears when all of it is there, for its owner's eyes only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click


@contextmanager
def whole_file(path: Path, encoding: str | None = None) -> Iterator[IO[Any]]:
    """A file beside ``path`` to write to, which becomes ``path`` after the block, or is no more.

    Args:
        encoding: of text; bytes are written when left out.
    Raises: click.ClickException, it cannot be written.
    """
    try:
        # A name of its own: of two that write at the same time each is whole.
        descriptor, name = tempfile.mkstemp(".part", f"{path.name}.", path.parent)
        try:
            with os.fdopen(descriptor, "w" if encoding else "wb", encoding=encoding) as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            Path(name).rename(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
