"""Sample documents, one of each kind that people ask about: the files beside this one, read.

A file says what it has of a document; what it leaves out is that of ``common.toml``, or not there
where ``without`` names it. Amounts follow from the lines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from app.invoices.document import (
    Address,
    BankAccount,
    CreditedInvoice,
    DocumentLine,
    InvoiceDocument,
    Party,
    PaymentEntry,
    TaxSubtotal,
    of_same_names,
)
from app.invoices.totals import Line, compute_totals

_FOLDER = Path(__file__).parent
_COMMON = "common"
NAMES = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem != _COMMON))


def sample(name: str) -> InvoiceDocument:
    """Read from its file."""
    return sample_of(_read(name))


def sample_of(members: Mapping[str, Any]) -> InvoiceDocument:
    """A document of what a file could say: ``lines`` and whatever else it has."""
    values = {**_read(_COMMON), **members}
    for left_out in values.pop("without", ()):
        del values[left_out]
    lines = [_line(line) for line in values.pop("lines")]
    if values.pop("logo", False):
        values["logo"] = logo()
    for party in ("seller", "buyer"):
        values[party] = _party(values[party])
    if "bank" in values:
        values["bank"] = BankAccount(**values["bank"])
    if "credited" in values:
        values["credited"] = CreditedInvoice(**values["credited"])
    values["payments"] = tuple(PaymentEntry(**payment) for payment in values.get("payments", ()))
    return compose(lines, **values)


def logo() -> bytes:
    """A wordmark of plain shapes, as a PNG with transparency."""
    return (_FOLDER / "logo.png").read_bytes()


def _line(values: Mapping[str, Any]) -> DocumentLine:
    nothing = Decimal(0)
    return DocumentLine(
        **{"tax_rate": Decimal(19), "line_net": nothing, "line_total": nothing, **values}
    )


def _party(values: Mapping[str, Any]) -> Party:
    party = {**values, "address": Address(**values.get("address", {}))}
    return Party(**party)


@cache
def _read(name: str) -> dict[str, Any]:
    content = (_FOLDER / f"{name}.toml").read_text("utf-8")
    return {
        key: _exact(value) for key, value in tomllib.loads(content, parse_float=Decimal).items()
    }


def _exact(value: Any) -> Any:
    """Numbers as decimals, at any depth: a document has no others."""
    if isinstance(value, dict):
        return {key: _exact(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_exact(member) for member in value]
    return Decimal(value) if type(value) is int else value


def compose(lines: Sequence[DocumentLine], **values: Any) -> InvoiceDocument:
    """An ``InvoiceDocument`` with these lines, whose own amounts do not count.

    ``values`` are its other fields; ``amount_due`` is the total less payments and credits unless
    it is given.
    """
    totals = compute_totals(
        [of_same_names(Line, line) for line in lines],
        currency=values.get("currency", InvoiceDocument.currency),
        discount_percent=values.get("discount_percent", InvoiceDocument.discount_percent),
        prices_include_tax=values.get("prices_include_tax", False),
    )
    paid = sum((payment.amount for payment in values.get("payments", ())), totals.total * 0)
    computed: dict[str, Any] = {
        "lines": tuple(
            replace(line, line_net=amounts.line_net, line_total=amounts.line_total)
            for line, amounts in zip(lines, totals.lines, strict=True)
        ),
        "tax_breakdown": tuple(of_same_names(TaxSubtotal, group) for group in totals.groups),
        "subtotal": totals.subtotal,
        "discount_total": totals.discount_total,
        "tax_total": totals.tax_total,
        "total": totals.total,
        "amount_due": totals.total - paid - values.get("amount_credited", 0),
    }
    return InvoiceDocument(**{**computed, **values})
