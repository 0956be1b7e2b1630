"""What stands beside the amounts between the lines of a document and its total."""

from __future__ import annotations

from decimal import Decimal

from app.invoices.document import InvoiceDocument, TaxSubtotal
from app.invoices.formats import Formats
from app.invoices.texts import Texts


def total_label(texts: Texts, document: InvoiceDocument) -> str:
    """What the total of a document is called."""
    return texts("totals.total_credit" if document.is_credit_note else "totals.total")


def discount_label(texts: Texts, formats: Formats, percent: Decimal | None) -> str:
    """What stands beside the discount of a document: of how many percent it is."""
    label = texts("totals.discount")
    return f"{label} {formats.percent(percent)}" if percent else label


def tax_label(texts: Texts, formats: Formats, group: TaxSubtotal, name: str) -> str:
    """What stands beside the tax of a group: its rate or why there is none, and of what."""
    taxable = formats.money(group.taxable)
    if group.tax_category == "S":
        return texts(name, rate=formats.percent(group.tax_rate), taxable=taxable)
    return f"{texts(f'categories.{group.tax_category}')}: {taxable}"
