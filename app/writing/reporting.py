"""Values in wire spelling, as events (``previous``) and the audit log show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.writing.rules import STAMPS, RowRules


def reported(rules: RowRules, values: Mapping[str, Any]) -> dict[str, Any]:
    """``{"billing_city": "Ulm"}`` -> ``{"billingAddress": {"city": "Ulm"}}``, stamps left out."""
    report: dict[str, Any] = {}
    names = rules.names
    derived = rules.derived
    for attribute, value in values.items():
        if attribute in STAMPS or attribute in derived or attribute not in names:
            continue
        name = names[attribute]
        if attribute in rules.children:
            report[name] = _rows(rules.children[attribute], value)
        elif "." in name:
            outer, _, inner = name.partition(".")
            report.setdefault(outer, {})[inner] = value
        else:
            report[name] = value
    return report


def _rows(rules: RowRules, rows: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    return [
        {rules.wire(name): row[name] for name in rules.writable if row.get(name) is not None}
        for row in rows or ()
    ]
