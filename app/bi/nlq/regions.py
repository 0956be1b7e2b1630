"""Groups of countries, and countries as clients may be said to be in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.bi.words.tokens import phrase


@dataclass(frozen=True)
class Region:
    """What it is called, and the codes of its countries."""

    name: str
    codes: tuple[str, ...]


def regions(data: Mapping[str, Any]) -> Mapping[tuple[str, ...], Region]:
    """What is said -> the countries: ``EU``, ``EU countries``, ``nordic``."""
    told = data["regions"]
    suffixes: Sequence[str] = told["suffixes"]
    found: dict[tuple[str, ...], Region] = {}
    for name, called in told["names"].items():
        region = Region(name, tuple(told["members"][name]))
        for words in called:
            for text in (words, *(f"{words} {suffix}" for suffix in suffixes)):
                found[phrase(text)] = region
    return found
