"""A file that a command writes: it appears when all of it is there, for its owner's eyes only."""

from __future__ import annotations

import fcntl
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Any


class OutputError(Exception):
    """A file that cannot be written; the message is one line for the operator."""


@contextmanager
def output_file(path: Path, encoding: str | None = None) -> Iterator[IO[Any]]:
    """A file beside ``path`` to write to, which becomes ``path`` after the block, or is no more.

    A link stays, and what it leads to is replaced. What is no regular file, such as a pipe, is
    written to as it is.

    Args:
        encoding: of text; bytes are written when left out.
    Raises: OutputError. What else the block raises is passed on.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with _explained(path):
            raw = _Output(path, path)
        with _stream(raw, encoding) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    with _explained(path):
        descriptor, part = _part_beside(target)
    try:
        with _stream(_Output(descriptor, path), encoding) as out:
            yield out
            out.flush()
            with _explained(path):
                os.fsync(descriptor)
                part.rename(target)
    finally:
        part.unlink(missing_ok=True)


class _Output(io.FileIO):
    """Tells a full disk from an OSError of what is written: rows and files come by network."""

    def __init__(self, file: int | Path, path: Path) -> None:
        super().__init__(file, "wb")
        self._path = path

    def write(self, data: Any, /) -> int:
        with _explained(self._path):
            return super().write(data)


def _stream(raw: _Output, encoding: str | None) -> IO[Any]:
    out = io.BufferedWriter(raw)
    return out if encoding is None else io.TextIOWrapper(out, encoding)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def _part_beside(target: Path) -> tuple[int, Path]:
    """The descriptor of a new file in the same folder, and its path.

    Its name is its own: of two that write at the same time each is whole. It is locked while its
    process lives; those that nobody holds were left by runs that were killed, and are removed.
    """
    for abandoned in target.parent.glob(f".{escape(target.name)}.{'?' * 8}.part"):
        with suppress(OSError), abandoned.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            abandoned.unlink()
    while True:
        descriptor, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
        with suppress(OSError):  # some network drives have no locks; nothing is removed there
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)  # another run removed it before it was locked
