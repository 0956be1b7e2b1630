"""Whether a process runs, also one that is not a child of the test."""

from __future__ import annotations

from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended is listed as a zombie until its parent asks for it.

    The command line does not tell: it is empty for a moment while one program replaces another.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")
