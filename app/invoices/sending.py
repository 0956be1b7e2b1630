"""Sending: a draft is issued, and the mail to the client is written in the same transaction.

What became of each mail is told later, and one that failed is sent again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.transactions import by_itself
from app.errors import InvalidStateError, NotFoundError, ValidationError
from app.events import emit
from app.http.error_answers import as_api_error
from app.http.idempotency import request_key
from app.http.lists import Page, each_of, read_page
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.invoices.chain import key_of
from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import refuse_incomplete
from app.invoices.files import PDF, XML, file_name, frozen_file, keep_file, write_ubl
from app.invoices.issuing import due_of_draft
from app.invoices.letters import LINK_PLACE, Letter, Written, write_letter
from app.invoices.public.links import link_for_mail
from app.invoices.reading import read_document
from app.invoices.schemas import MailedSchema
from app.invoices.service import INVOICES
from app.invoices.settlement import RECEIVABLE
from app.invoices.steps import issue_invoice, readable, sendable
from app.mail.outbox import (
    check_addresses,
    find_mail,
    find_same,
    queue_again,
    queue_mail,
    shown_delivery,
)
from app.mail.recipients import SETTLED, has_missed
from app.models.event import OutgoingMail
from app.models.invoice import Invoice
from app.settings import organisation
from app.settings.days import today
from app.writing.numbering import document_number_to_be
from app.writing.operations import require_operation

# The same letter asked for again so soon was asked for twice: a second click, a client in a hurry.
ONCE_WITHIN = timedelta(seconds=10)
# The kind of letter that is written about an overdue invoice.
REMINDER = "reminder"


def send_invoice(invoice_id: int, letter: Letter) -> dict[str, Any]:
    """Issue a draft and send it, or send an issued document again.

    The same letter within ``ONCE_WITHIN`` is the one that is on its way (docs/adr/0011).
    Returns: the body of contract 11.1; ``delivery`` is None where only marked.
    Raises: NotFoundError; ForbiddenError; InvalidStateError, it is void, or another document has
        taken the number meanwhile, or it is to be reminded of and is not overdue; ValidationError.
    """
    invoice = sendable(invoice_id)
    require_operation("Invoice", "invoice", "send", invoice)
    if letter.kind == REMINDER:
        _require_overdue(invoice)
    is_draft = invoice.status == "Draft"
    if is_draft:
        document, invoice = issue_invoice(invoice_id)
        _require_number(document.number, letter.number)
    else:
        document = read_document(invoice_id)
    mail = None if letter.mark_only else _mail_about(invoice, document, letter)
    twin = None
    if mail is not None and not is_draft and not letter.key:
        twin = find_same(mail, utc_now() - ONCE_WITHIN)
    delivery = None if mail is None else shown_delivery(twin or queue_mail(**mail))
    if delivery is not None and twin is None:
        _tell_sent(invoice, letter, delivery, is_draft=is_draft)
    return {
        "id": invoice_id,
        "number": invoice.number,
        "status": invoice.status,
        "sentAt": invoice.sent_at,
        "issued": is_draft,
        "delivery": delivery,
    }


def count_reminder(invoice: Invoice) -> None:
    """Say that the client was reminded, and when."""
    values = {"reminders_sent": invoice.reminders_sent + 1, "last_reminder_at": utc_now()}
    INVOICES.apply(invoice.id, values, "invoice.reminder_sent")


def _tell_sent(
    invoice: Invoice, letter: Letter, delivery: dict[str, Any], *, is_draft: bool
) -> None:
    if letter.kind == REMINDER:
        count_reminder(invoice)
        return
    audit.record("invoice.sent", "Invoice", invoice.id, after=delivery)
    if not is_draft:  # issue has said so already
        emit("invoice.sent", "Invoice", invoice.id, sequence=invoice.version)


def _require_overdue(invoice: Invoice) -> None:
    is_late = invoice.due_date is not None and invoice.due_date < today()
    if not (is_late and invoice.amount_due and invoice.status in RECEIVABLE):
        raise InvalidStateError("Only an invoice that is overdue is reminded of.")


def _require_number(number: str | None, expected: str | None) -> None:
    """Refuse a letter that names another number than the document has got."""
    if expected and number != expected:
        raise InvalidStateError(
            f"{expected} was given to another document meanwhile: look at the letter again.",
            [("number", f"would be {number}")],
        )


def number_to_be(invoice_id: int) -> str | None:
    """The number that a draft would get today; None for what has one."""
    invoice = INVOICES.stored(invoice_id)
    if invoice.status != "Draft":
        return None
    year = (invoice.issue_date or today()).year
    return document_number_to_be(invoice.series, year)


def letter_to_change(
    invoice_id: int, number: str | None, kind: str | None = None
) -> tuple[str, str]:
    """Subject and message as they would be written, to be changed before they are sent.

    ``{link}`` stays in its place: the address is made when the letter is.

    Args:
        kind: of the template; that of the document when left out.
    Raises: NotFoundError; ForbiddenError.
    """
    invoice = sendable(invoice_id)
    document = _to_be_sent(invoice, number)
    link = LINK_PLACE if link_for_mail(invoice) else None
    written = write_letter(document, organisation(), kind=kind, link=link, with_link=False)
    return written.subject, written.text


def write_mail(invoice_id: int, letter: Letter) -> None:
    """Put the mail about an issued document into the outbox; the worker sends it.

    Raises: ValidationError, there is no recipient, or an address is none.
    """
    invoice = records.get(Invoice, invoice_id)
    queue_mail(**_mail_about(invoice, read_document(invoice_id), letter))


def _mail_about(invoice: Invoice, document: InvoiceDocument, letter: Letter) -> dict[str, Any]:
    """What ``queue_mail`` takes."""
    recipients = _recipients(document, letter)
    copies = check_addresses("cc", letter.cc)
    written = _written(invoice, document, letter)
    return {
        "to": recipients, "cc": copies, "subject": written.subject, "text": written.text,
        "html": written.html, "attachments": _attachments(invoice, document, letter),
        "entity": "Invoice", "entity_id": invoice.id, "key": letter.key,
    }  # fmt: skip


def preview(invoice_id: int, letter: Letter) -> dict[str, Any]:
    """What ``send`` would write, a draft included; nothing is issued, kept or sent.

    A draft has the number that the letter expects, if it expects one.

    Raises: NotFoundError; ForbiddenError; ValidationError.
    """
    invoice = sendable(invoice_id)
    document = _to_be_sent(invoice, letter.number)
    written = _written(invoice, document, letter)
    name = file_name(document.number, invoice_id)
    ubl = file_name(document.number, invoice_id, "xml")
    return {
        "to": _recipients(document, letter),
        "cc": check_addresses("cc", letter.cc),
        "subject": written.subject,
        "text": written.text,
        "html": written.html,
        "attachments": [name] * letter.attach_pdf + [ubl] * letter.attach_e_invoice,
    }


def _to_be_sent(invoice: Invoice, number: str | None) -> InvoiceDocument:
    """The document; a draft with a number, and the dates that it would have if issued today."""
    document = read_document(invoice.id)
    issued = document.issue_date or today()
    due = document.due_date or due_of_draft(issued, invoice.client_id)
    number = document.number or number
    return replace(document, number=number, issue_date=issued, due_date=due)


def _written(invoice: Invoice, document: InvoiceDocument, letter: Letter) -> Written:
    return write_letter(
        document, organisation(), kind=letter.kind, subject=letter.subject,
        message=letter.message, link=link_for_mail(invoice),
    )  # fmt: skip


def _recipients(document: InvoiceDocument, letter: Letter) -> list[str]:
    addresses = letter.to or tuple(filter(None, (document.buyer.email,)))
    if not addresses:
        raise ValidationError([("to", "is required: the client has no e-mail address")])
    return check_addresses("to", addresses)


def _attachments(
    invoice: Invoice, document: InvoiceDocument, letter: Letter
) -> list[dict[str, str]]:
    """The files of the document, as it was issued."""
    attached: list[dict[str, str]] = []
    if letter.attach_pdf:
        name = file_name(document.number, invoice.id)
        attached.append(_attached(name, PDF, invoice.pdf_sha256 or frozen_file(invoice.id)))
    if letter.attach_e_invoice:
        refuse_incomplete(document)
        sha256 = keep_file(write_ubl(document), XML)
        attached.append(_attached(file_name(document.number, invoice.id, "xml"), XML, sha256))
    return attached


def _attached(name: str, content_type: str, sha256: str) -> dict[str, str]:
    return {"name": name, "contentType": content_type, "blobKey": key_of(sha256)}


def send_invoices(invoice_ids: Iterable[int], letter: Letter) -> dict[str, Any]:
    """Send each document; one that is refused, or fails, keeps no other from going out.

    What a request with the same ``Idempotency-Key`` has sent before it was cut off is not sent
    again, and is answered as it was.

    Returns: the body of contract 11.1, with a result for each id in the order given.
    """
    key = request_key()
    results = [
        _send_one(invoice_id, _marked(letter, invoice_id, key))
        for invoice_id in dict.fromkeys(invoice_ids)
    ]
    sent = sum(result["ok"] for result in results)
    return {"sent": sent, "failed": len(results) - sent, "results": results}


def _send_one(invoice_id: int, letter: Letter) -> dict[str, Any]:
    report: dict[str, Any] = {"invoiceId": invoice_id, "ok": False, "number": None, "status": None,
                             "delivery": None, "error": None}  # fmt: skip
    try:
        with by_itself():
            sent = _sent_before(invoice_id, letter) or send_invoice(invoice_id, letter)
    except Exception as error:  # whatever it is, the others are to go out; it is logged there
        refusal = as_api_error(error)
        return {**report, "error": {"code": refusal.code, "message": refusal.message}}
    return {**report, "ok": True, **{name: sent[name] for name in ("number", "status", "delivery")}}


def _marked(letter: Letter, invoice_id: int, key: str | None) -> Letter:
    """The letter of one document of a request, known again by the caller's key."""
    if key is None:
        return letter
    whole = f"{current_caller().principal}\n{key}\n{invoice_id}"
    return replace(letter, key=hashlib.sha256(whole.encode()).hexdigest()[:40])


def _sent_before(invoice_id: int, letter: Letter) -> dict[str, Any] | None:
    """What the same request has done with this document before it was cut off."""
    mail = find_mail(letter.key) if letter.key else None
    if mail is None:
        return None
    invoice = INVOICES.locked(invoice_id, current_caller())
    delivery = shown_delivery(mail)
    return {"number": invoice.number, "status": invoice.status, "delivery": delivery}


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
