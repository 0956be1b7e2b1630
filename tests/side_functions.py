"""Functions that tests call beside their own process (tests/test_side_process.py)."""

from __future__ import annotations

import os
import time
from pathlib import Path


def joined(first: str, second: str) -> str:
    """Both."""
    return first + second


def process_id() -> int:
    """Of the process that it runs in."""
    return os.getpid()


def environment() -> dict[str, str]:
    """All variables."""
    return dict(os.environ)


def talkative() -> str:
    """Prints before it answers, in Python and past it."""
    print("something that is no answer", flush=True)
    os.write(1, b"nor is this\n")
    return "answer"


def failing() -> float:
    """An error."""
    return 1 / 0


def slow_once(path: str) -> str:
    """Takes a minute unless it was begun before; ``path`` is made when it begins."""
    begun = Path(path)
    if not begun.exists():
        begun.touch()
        time.sleep(60)
    return "done"


def deadly(path: str) -> None:
    """Ends its process as the system would; a letter more in ``path`` each time."""
    with Path(path).open("a", encoding="ascii") as file:
        file.write("x")
    os._exit(9)


def endless(path: str) -> None:
    """Takes a minute; a letter more in ``path`` each time."""
    with Path(path).open("a", encoding="ascii") as file:
        file.write("x")
    time.sleep(60)
