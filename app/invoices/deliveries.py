"""The mails about an invoice: what became of each, and sending a failed one again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select

from app import audit
from app.db import records
from app.errors import InvalidStateError, NotFoundError
from app.http.lists import Page, each_of, read_page
from app.http.schema_parts import answer_body
from app.invoices.schemas import MailedSchema
from app.invoices.steps import readable, sendable
from app.mail.outbox import queue_again, shown_delivery
from app.mail.recipients import SETTLED, has_missed
from app.models.event import OutgoingMail


def list_deliveries(invoice_id: int, *, limit: int, offset: int) -> Page:
    """The mails about an invoice that the caller may read, the newest first.

    Raises: NotFoundError.
    """
    statement = _of(readable(invoice_id).id).order_by(OutgoingMail.id.desc())
    return read_page(
        statement,
        each_of(OutgoingMail, _delivery_shape),
        limit=limit,
        offset=offset,
    )


def resend(invoice_id: int, delivery_id: int) -> dict[str, Any]:
    """Put a mail into the outbox again for whom it did not reach: the same, with its Message-ID.

    Raises: NotFoundError; ForbiddenError; InvalidStateError, it waits or reached everybody.
    """
    invoice = sendable(invoice_id)
    statement = _of(invoice.id).where(OutgoingMail.id == delivery_id).with_for_update()
    mail = records.find(statement)
    if mail is None:
        raise NotFoundError(f"There is no delivery {delivery_id} of invoice {invoice_id}.")
    if mail.status not in SETTLED or not has_missed(mail):
        raise InvalidStateError(
            "Only a mail that failed for a recipient is sent again; send the invoice for another.",
            [("status", f"is {shown_delivery(mail)['status']}")],
        )
    changes = queue_again(mail)
    audit.record("invoice.sent", "Invoice", invoice_id, after={"delivery": delivery_id})
    return _delivery_shape(records.changed(mail, **changes))


def _of(invoice_id: int) -> Select[OutgoingMail]:
    about = (OutgoingMail.entity == "Invoice") & (OutgoingMail.entity_id == invoice_id)
    return select(OutgoingMail).where(about)


def _delivery_shape(mail: OutgoingMail) -> dict[str, Any]:
    return answer_body(
        MailedSchema, mail, **shown_delivery(mail), bounces=mail.bounces or [],
        next_attempt_at=mail.next_attempt_at if mail.status == "queued" else None,
    )  # fmt: skip
