"""What the C library keeps of memory that was given back to it (docs/adr/0002).

By itself glibc gives each thread a heap of its own, and learns from the first large piece that is
freed to keep larger ones: sixteen threads that each wrote a large answer once hold what all of them
needed. Elsewhere than with glibc nothing is done.
"""

from __future__ import annotations

import ctypes
from typing import Any

# Of malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
HEAPS = 2
# Pieces from here on are mapped by themselves, and unmapped when they are freed.
LARGE_BYTES = 256 * 1024
KEPT_BYTES = 512 * 1024
_library: Any = ctypes.CDLL(None)


def bound() -> None:
    """Let the threads of this process share two heaps, and return what is large at once.

    To be called before threads run; processes that are forked later are bound as well.
    """
    if not hasattr(_library, "mallopt"):
        return
    for what, value in (
        (_ARENA_MAX, HEAPS),
        (_MMAP_THRESHOLD, LARGE_BYTES),
        (_TRIM_THRESHOLD, KEPT_BYTES),
    ):
        _library.mallopt(what, value)


def give_back() -> None:
    """Return to the system what was used once and is free."""
    if hasattr(_library, "malloc_trim"):
        _library.malloc_trim(0)
