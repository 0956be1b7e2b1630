"""Functions that tests call in a process of their own (tests/jobs/test_processes.py)."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path


def joined(first: bytes, second: bytes) -> bytes:
    """Both."""
    return first + second


def shown(*values: object) -> bytes:
    """The values as Python writes them."""
    return ascii(values).encode()


def process_id() -> bytes:
    """Of the process that it runs in."""
    return str(os.getpid()).encode()


def environment() -> bytes:
    """All variables, as JSON."""
    return json.dumps(dict(os.environ)).encode()


def talkative() -> bytes:
    """Prints before it answers, in Python and past it."""
    print("something that is no answer", flush=True)
    os.write(1, b"nor is this\n")
    return b"answer"


def nothing() -> None:
    """No answer is none."""


def pickled() -> bytes:
    """What would be a value, were it unpickled."""
    return pickle.dumps("value")


def failing(divisor: int = 0) -> float:
    """An error; with another divisor an answer that is not bytes."""
    return 1 / divisor


def slow_once(path: str) -> bytes:
    """Takes a minute unless it was begun before; ``path`` is made when it begins."""
    begun = Path(path)
    if not begun.exists():
        begun.touch()
        time.sleep(60)
    return b"done"


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
