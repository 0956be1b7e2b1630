"""Telling that a mail did not arrive: whoever wants to know of its invoice hears of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.db import records
from app.events import emit
from app.mail.recipients import shown_recipients
from app.models.invoice import Invoice


def say_failed(mail: Mapping[str, Any]) -> None:
    """Emit ``invoice.send_failed`` where the mail is about an invoice that is still there.

    The event tells of each recipient what became of the mail.
    """
    if mail["entity"] != "Invoice":
        return
    invoice_id: int = mail["entity_id"]
    invoice = records.read(Invoice, invoice_id)
    if invoice is not None:
        delivery = {"id": mail["id"], "recipients": shown_recipients(mail)}
        emit(
            "invoice.send_failed", "Invoice", invoice_id,
            sequence=invoice.version, details={"delivery": delivery},
        )  # fmt: skip
