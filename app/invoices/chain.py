"""The chain of issued documents: each link holds the hash of the one before.

Whoever changes an issued document, its file, its place or a link breaks the chain from there on;
``flask invoices verify`` says where. A link is added in the issuing transaction; a counter row is
its lock, so links follow one another as their transactions end. A link says with which date the
document was issued on which day, and behind which date of its series (docs/adr/0030).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import bindparam, select

from app.clock import utc_now
from app.db import records
from app.db.types import iso_instant
from app.models.invoice import Invoice, IssueRecord, LineItem
from app.writing.numbering import next_number

FIRST_HASH = "0" * 64
_LOCK = "issue-chain"

# What issue freezes; the buyer's copy, not its key, because clients are merged. Lines are frozen
# whole but for their key and the task or product they came from.
FROZEN = (
    "type", "issue_date", "due_date", "service_date", "currency", "reference",
    "purchase_order", "buyer_reference", "prices_include_tax", "discount_percent", "notes",
    "terms", "series", "credited_invoice_id", "e_invoice_format", "number", "subtotal",
    "discount_total", "tax_total", "total", "tax_breakdown", "exchange_rate", "base_total",
    "seller", "buyer",
)  # fmt: skip
# What the hash of a link is over, by the form of the link.
_FIRST_FORM = (
    "created_at", "invoice_id", "number", "total", "currency", "pdf_sha256", "content_sha256",
    "previous_hash",
)  # fmt: skip
_FORMS = {
    None: _FIRST_FORM,
    2: (*_FIRST_FORM, "form", "issue_date", "issued_on", "backdated_from"),
}
_NOT_PRINTED = ("id", "created_at", "invoice_id", "task_id", "product_id")
_LAST = select(IssueRecord.hash).order_by(IssueRecord.id.desc()).limit(1)
_LINES_OF = (
    select(LineItem.__table__)
    .where(LineItem.invoice_id == bindparam("invoice_id"))
    .order_by(LineItem.position, LineItem.id)
)


def lock_chain() -> None:
    """Let no other document be issued until this transaction ends."""
    next_number(_LOCK)


def add_link(
    invoice_id: int, *, issued_on: date | None = None, backdated_from: date | None = None
) -> None:
    """Add the document, as it stands in this transaction; the chain is locked before.

    Args:
        issued_on: the organisation's day; None for a document that was moved in.
        backdated_from: the date of the last document of its series, where it is after the
            document's own.
    """
    invoice = records.get(Invoice, invoice_id)
    previous = records.connection().execute(_LAST).scalar_one_or_none()
    link = {
        "created_at": utc_now(),
        "invoice_id": invoice_id,
        "number": invoice.number,
        "total": invoice.total,
        "currency": invoice.currency,
        "pdf_sha256": invoice.pdf_sha256,
        "content_sha256": content_hash(invoice),
        "previous_hash": previous or FIRST_HASH,
        "form": 2,
        "issue_date": invoice.issue_date,
        "issued_on": issued_on,
        "backdated_from": backdated_from,
    }
    records.insert(IssueRecord, {**link, "hash": hash_of(link)})


def hash_of(link: Mapping[str, Any]) -> str:
    """SHA-256 over everything that a link holds, the hash of the one before among it.

    Raises: KeyError, there is no such form of a link.
    """
    return _digest({name: link[name] for name in _FORMS[link["form"]]})


def content_hash(invoice: Invoice) -> str:
    """SHA-256 over what issue froze of a document: its row and its lines."""
    lines = records.connection().execute(_LINES_OF, {"invoice_id": invoice.id}).mappings()
    return _digest(
        {
            **{name: getattr(invoice, name) for name in FROZEN},
            "lines": [
                {name: value for name, value in line.items() if name not in _NOT_PRINTED}
                for line in lines
            ],
        }
    )


def _digest(value: Any) -> str:
    text = orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    """Values in the one spelling that both databases give."""
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, bool | None):
        return value
    if isinstance(value, Decimal | int | float):
        return _number(value)
    if isinstance(value, date) and not hasattr(value, "hour"):
        return value.isoformat()
    return iso_instant(value) if hasattr(value, "hour") else str(value)


def _number(value: Decimal | int | float) -> str:
    """``19`` for 19, 19.0 and 19.00."""
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    text = format(exact, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
