"""Rates: which part of some records hits, or what part one sum is of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.bi.plans.entities import Ratio


@dataclass(frozen=True)
class Rate:
    """A share: records that ``hits`` among those that ``among``."""

    label: str
    hits: str
    among: str
    date: str | None = None
    low_is_good: bool = False
    decided: str | None = None  # among which, where the records of a period are meant
    ratio: Ratio | None = None  # instead of records that hit, two sums


def rates_of(data: Mapping[str, Any]) -> Iterator[tuple[str, Rate]]:
    """What the rates of an entity are called, by its part of the vocabulary."""
    for name, (hits, among, *words) in data.get("rates", {}).items():
        date, low = data.get("rate_dates", {}).get(name), name in data.get("bad_rates", ())
        decided = data.get("rate_decided", {}).get(name)
        label = words[0].capitalize()
        rate = Rate(label, hits, among, date, low_is_good=low, decided=decided)
        yield from ((one, rate) for one in words)
    for told in data.get("ratios", ()):
        ratio = Ratio(**{name: value for name, value in told.items() if name != "words"})
        rate = Rate(told["words"][0].capitalize(), "", "", ratio=ratio)
        yield from ((one, rate) for one in told["words"])
