"""Sizes of files as people read them, the same on every page."""

from __future__ import annotations

_UNITS = ("KB", "MB", "GB")


def readable_size(count: int, decimal: str = ".") -> str:
    """``1536`` bytes -> ``1.5 KB``: by 1000, as drives and browsers count.

    Args:
        decimal: the sign before decimals.
    """
    if count < 1000:
        return f"{count} bytes"
    size = float(count)
    for unit in _UNITS:
        size /= 1000
        if size < 999.5 or unit == _UNITS[-1]:
            break
    return f"{size:.1f} {unit}".replace(".", decimal) if size < 9.95 else f"{size:.0f} {unit}"
