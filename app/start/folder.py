"""One folder, one service: a second ``make run`` on the same DATA_DIR is refused."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from app.config import ConfigError

FILE = "service.lock"


def hold_folder(folder: Path, address: str) -> IO[str]:
    """Lock ``folder`` for this process, which ``address`` belongs to.

    Returns: the open file: the lock ends with it, or with the process, however that ends.
    Raises: ConfigError, another process has the folder; its message names that.
    """
    file = (folder / FILE).open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        holder = file.read().strip() or "another process"
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
