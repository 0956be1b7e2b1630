"""Sending: a draft is issued, and the mail to the client is written in the same transaction."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import make_msgid
from typing import Any

from app import audit, records
from app.clock import utc_now
from app.errors import InvalidStateError, ValidationError
from app.events import emit
from app.invoices.document import InvoiceDocument
from app.invoices.drawing import file_name
from app.invoices.einvoice.preflight import preflight
from app.invoices.operations import issue_invoice
from app.invoices.plain_text import one_line
from app.invoices.reading import read_document
from app.invoices.service import INVOICES
from app.invoices.wording import title_of
from app.models.event import OutgoingMail
from app.odata.payload_values import BadValueError
from app.permissions import require
from app.security import current_caller
from app.writing.formats import email

MOST_RECIPIENTS = 50


@dataclass(frozen=True, kw_only=True)
class Letter:
    """How a document is sent; ``to``, ``subject`` and ``message`` are made up when left out.

    ``mark_only`` issues the document and counts it as sent without a mail.
    """

    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    subject: str | None = None
    message: str | None = None
    attach_pdf: bool = True
    attach_e_invoice: bool = False
    mark_only: bool = False


def send_invoice(invoice_id: int, letter: Letter) -> dict[str, Any]:
    """Issue a draft and send it, or send an issued document again.

    Returns: the body of contract 11.1; ``delivery`` is None where only marked.
    Raises: NotFoundError; ForbiddenError; InvalidStateError, it is void; ValidationError.
    """
    caller = current_caller()
    invoice = INVOICES.locked(invoice_id, caller)
    require(caller, "invoices:send", invoice)
    if invoice["status"] == "Void":
        raise InvalidStateError("A void document is not sent.", [("status", "is Void")])
    is_draft = invoice["status"] == "Draft"
    if is_draft:
        issue_invoice(invoice_id)
    delivery = None if letter.mark_only else _queue(invoice_id, read_document(invoice_id), letter)
    after = INVOICES.stored(invoice_id)
    if delivery is not None:
        audit.record("invoice.sent", "Invoice", invoice_id, after=delivery)
        if not is_draft:  # issue has said so already
            emit("invoice.sent", "Invoice", invoice_id, sequence=after["version"])
    return {
        "id": invoice_id,
        "number": after["number"],
        "status": after["status"],
        "sentAt": after["sent_at"],
        "issued": is_draft,
        "delivery": delivery,
    }


def _queue(invoice_id: int, document: InvoiceDocument, letter: Letter) -> dict[str, Any]:
    """Write the mail down; the worker sends it after the transaction."""
    recipients = _addresses("to", letter.to or tuple(filter(None, (document.buyer.email,))))
    copies = _addresses("cc", letter.cc)
    if not recipients:
        raise ValidationError([("to", "is required: the client has no e-mail address")])
    seller = document.seller.legal_name or document.seller.name
    subject = one_line(letter.subject or "") or f"{title_of(document)} · {one_line(seller)}"
    attachments = _attachments(invoice_id, document, letter)
    row = {
        "created_at": utc_now(),
        "message_id": make_msgid(domain=_domain(document)),
        "to": recipients,
        "cc": copies,
        "subject": subject,
        "text_body": letter.message or f"{title_of(document)}\n\n{one_line(seller)}\n",
        "attachments": attachments,
        "entity": "Invoice",
        "entity_id": invoice_id,
        "next_attempt_at": utc_now(),
    }
    mail_id = records.insert(OutgoingMail.__table__, row)
    return {
        "id": mail_id,
        "to": recipients,
        "cc": copies,
        "subject": subject,
        "status": "queued",
        "attachments": [attached["name"] for attached in attachments],
        "error": None,
    }


def _addresses(field: str, given: tuple[str, ...]) -> list[str]:
    problems, found = [], []
    for place, text in enumerate(given):
        try:
            found.append(email(text))
        except BadValueError as problem:
            problems.append((f"{field}[{place}]", str(problem)))
    if problems:
        raise ValidationError(problems)
    return list(dict.fromkeys(found))


def _attachments(
    invoice_id: int, document: InvoiceDocument, letter: Letter
) -> list[dict[str, str]]:
    """What to attach; the files are drawn when the mail goes out (docs/adr/0040)."""
    name = file_name(document.number, invoice_id)
    attached: list[dict[str, str]] = []
    if letter.attach_pdf:
        attached.append({"name": name, "contentType": "application/pdf", "form": "pdf"})
    if letter.attach_e_invoice:
        problems = preflight(document)
        if problems:
            raise ValidationError(
                [(problem.field, f"{problem.message} ({problem.rule})") for problem in problems]
            )
        xml = f"{name.removesuffix('.pdf')}.xml"
        attached.append({"name": xml, "contentType": "application/xml", "form": "ubl"})
    return attached


def _domain(document: InvoiceDocument) -> str:
    """The right side of the Message-ID: the seller's own domain where it is known."""
    return (document.seller.email or "").rpartition("@")[2] or "localhost"
