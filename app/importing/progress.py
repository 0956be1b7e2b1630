"""The progress of long work, drawn for whoever runs it at a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

_WIDEST = len("Exporting records")
# Called with what is done to what, how many so far, how many in all (0 where nobody knows).
Report = Callable[[str, int, int], None]


@contextmanager
def progress_bar() -> Iterator[Report]:
    """``with progress_bar() as report:`` draws what is reported, where that is a terminal."""
    bars: dict[str, tqdm[Any]] = {}

    def report(what: str, done: int, total: int) -> None:
        if what not in bars:
            for earlier in bars.values():
                earlier.close()
            name = what.ljust(_WIDEST)
            bars[what] = tqdm(total=total or None, desc=name, unit="", disable=None)
        bars[what].update(done - bars[what].n)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.close()
