"""Amounts in a body have no more digits than their currency (docs/adr/0014)."""

from __future__ import annotations

from app.models.columns import Entity
from app.money import is_whole, too_fine
from app.writing.change import Change


def check_amounts(change: Change[Entity], currency: str) -> None:
    """Note the amounts that are given, or kept beside a new currency, and are too fine for it."""
    for name in change.rules.amounts:
        if not change.concerns(name, "currency"):
            continue
        amount = change.get(name)
        if amount is not None and not is_whole(amount, currency):
            change.refuse(name, too_fine(currency))
    for attribute, rules in change.rules.children.items():
        for index, row in enumerate(change.values.get(attribute) or () if rules.amounts else ()):
            for name in rules.amounts:
                if row.get(name) is not None and not is_whole(row[name], currency):
                    path = f"{change.rules.wire(attribute)}[{index}].{rules.wire(name)}"
                    change.refuse_field(path, too_fine(currency))
