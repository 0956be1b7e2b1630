"""One folder, one service: a second ``make run`` on the same DATA_DIR is refused."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import IO

from app.config import ConfigError

FILE = "service.lock"
# Between the lock and the name of its holder lies no work.
NAMED_WITHIN_SECONDS = 2.0


def hold_folder(folder: Path, address: str) -> IO[str]:
    """Lock ``folder`` for this process, which ``address`` belongs to.

    Returns: the open file: the lock ends with it, or with the process, however that ends.
    Raises: ConfigError, another process has the folder; its message names that.
    """
    file = (folder / FILE).open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = _holder(file)
        file.close()
        reason = f"in use by {holder}" if isinstance(error, BlockingIOError) else error.strerror
        raise ConfigError(
            f"DATA_DIR {folder} cannot be had ({reason}):"
            " stop that, or name another folder, as in DATA_DIR=/path/to/folder make run"
        ) from error
    file.truncate(0)
    file.write(f"process {os.getpid()} at {address}")
    file.flush()
    return file


def _holder(file: IO[str]) -> str:
    """Who has the lock; one that has just taken it writes its name in a moment."""
    until = time.monotonic() + NAMED_WITHIN_SECONDS
    while True:
        file.seek(0)
        if holder := file.read().strip():
            return holder
        if time.monotonic() > until:
            return "another process"
        time.sleep(0.02)
