"""What a document is called, what it says of the invoice that it corrects, and of its totals."""

from __future__ import annotations

from decimal import Decimal

from app.invoices.document import InvoiceDocument, TaxSubtotal
from app.invoices.formats import Formats
from app.invoices.plain_text import one_line
from app.invoices.texts import Texts, texts_for


def kind_of(document: InvoiceDocument) -> str:
    """``Invoice`` or ``Credit note``, in the language of the document."""
    name = "titles.credit_note" if document.is_credit_note else "titles.invoice"
    return texts_for(document.language)(name)


def title_of(document: InvoiceDocument) -> str:
    """``Invoice INV-2026-00007``; a draft has no number yet."""
    return f"{kind_of(document)} {one_line(document.number)}".strip()


def correction_of(document: InvoiceDocument) -> str:
    """The sentence that names the credited invoice; "" if there is none."""
    credited = document.credited
    if credited is None:
        return ""
    texts, number = texts_for(document.language), one_line(credited.number)
    if credited.issue_date is None:
        return texts("payment.correction", number=number)
    day = Formats(document).day(credited.issue_date)
    return end_once(texts("payment.correction_dated", number=number, date=day))


def end_once(sentence: str) -> str:
    """A sentence whose last word, as Russian dates do, brings its own full stop."""
    return sentence.replace("..", ".")


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
