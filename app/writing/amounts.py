"""Amounts in a body have no more digits than their currency (docs/adr/0185)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.money import is_whole, too_fine
from app.writing.change import Change
from app.writing.rules import RowRules


def check_amounts(change: Change, currency: str) -> None:
    """Note the amounts that are given, or kept beside a new currency, and are too fine for it."""
    for name in change.rules.amounts:
        if not change.concerns(name, "currency"):
            continue
        amount = change.get(name)
        if amount is not None and not is_whole(amount, currency):
            change.refuse(name, too_fine(currency))


def fine_amounts(
    rules: RowRules, row: Mapping[str, Any], currency: str
) -> Iterator[tuple[str, str]]:
    """``(attribute, what is wrong)`` of the amounts of a row that are too fine for a currency."""
    for name in rules.amounts:
        amount = row.get(name)
        if amount is not None and not is_whole(amount, currency):
            yield name, too_fine(currency)
