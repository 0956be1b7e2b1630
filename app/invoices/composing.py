"""A document from its lines: the amounts are worked out and put where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.invoices.document import DocumentLine, InvoiceDocument, TaxSubtotal
from app.invoices.totals import Line, compute_totals


def compose(lines: Sequence[DocumentLine], **values: Any) -> InvoiceDocument:
    """An ``InvoiceDocument`` with these lines, whose own amounts do not count.

    ``values`` are its other fields; ``amount_due`` is the total less payments and credits unless
    it is given.
    """
    totals = compute_totals(
        [
            Line(
                quantity=line.quantity, unit_price=line.unit_price, tax_rate=line.tax_rate,
                discount_percent=line.discount_percent, tax_category=line.tax_category,
            )
            for line in lines
        ],
        currency=values.get("currency", InvoiceDocument.currency),
        discount_percent=values.get("discount_percent", InvoiceDocument.discount_percent),
        prices_include_tax=values.get("prices_include_tax", False),
    )  # fmt: skip
    paid = sum((payment.amount for payment in values.get("payments", ())), totals.total * 0)
    computed: dict[str, Any] = {
        "lines": tuple(
            replace(line, line_net=amounts.line_net, line_total=amounts.line_total)
            for line, amounts in zip(lines, totals.lines, strict=True)
        ),
        "tax_breakdown": tuple(
            TaxSubtotal(
                tax_category=group.tax_category, tax_rate=group.tax_rate,
                taxable=group.taxable, tax=group.tax,
            )
            for group in totals.groups
        ),
        "subtotal": totals.subtotal,
        "discount_total": totals.discount_total,
        "tax_total": totals.tax_total,
        "total": totals.total,
        "amount_due": totals.total - paid - values.get("amount_credited", 0),
    }  # fmt: skip
    return InvoiceDocument(**{**computed, **values})
