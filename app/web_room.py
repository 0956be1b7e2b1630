"""How many connections a web process takes, and which make room for others (docs/adr/0143)."""

from __future__ import annotations

import errno
import resource
import time
from collections import deque
from typing import Any

# What a process has open besides its callers: database, files, logs, the pages of the library ...
FILES_OF_OUR_OWN = 48
# ... and what each thread may: two connections to SQLite of three files each, or files under way.
FILES_OF_A_THREAD = 4
FEWEST_CONNECTIONS = 16
# Who has said nothing for so long makes room when there is none.
SILENT_SECONDS = 1.0
# After a refusal by the system nobody is let in for so long.
SHORTAGE_SECONDS = 1.0
# What the system answers when it, or this process, can open nothing more.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


def connections_for(wanted: int, threads: int) -> int:
    """How many connections leave enough open files for the work, at most ``wanted``.

    The limit is this process's own (``ulimit -n``), which most hosts set to 1024 and some lower.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    left = files - FILES_OF_OUR_OWN - FILES_OF_A_THREAD * threads
    return max(min(wanted, left), FEWEST_CONNECTIONS)


def longest_silent(silent: deque[Any], patience: float, count: int) -> list[Any]:
    """Up to ``count`` connections that have been silent for a second, the longest first.

    Args:
        silent: connections in the order in which they fell silent.
        patience: seconds from falling silent to the ``timeout`` that each carries (monotonic).
    """
    latest = time.monotonic() + patience - SILENT_SECONDS
    found: list[Any] = []
    for connection in silent:
        if len(found) >= count or connection.timeout > latest:
            break
        found.append(connection)
    return found
