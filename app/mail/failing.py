"""Telling that a mail did not arrive: whoever wants to know of its invoice hears of it."""

from __future__ import annotations

from app.db import records
from app.events import emit
from app.mail.recipients import shown_recipients
from app.models.event import OutgoingMail
from app.models.invoice import Invoice


def say_failed(mail: OutgoingMail) -> None:
    """Emit ``invoice.send_failed`` where the mail is about an invoice that is still there.

    The event tells of each recipient what became of the mail.
    """
    if mail.entity != "Invoice":
        return
    invoice = records.read(Invoice, mail.entity_id)
    if invoice is not None:
        delivery = {"id": mail.id, "recipients": shown_recipients(mail)}
        emit(
            "invoice.send_failed", "Invoice", invoice.id,
            sequence=invoice.version, details={"delivery": delivery},
        )  # fmt: skip
