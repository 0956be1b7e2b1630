"""The outbox: mail is a row, written in the transaction of the change that wants it sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import make_msgid
from typing import Any

from sqlalchemy import select

from app.clock import utc_now
from app.db import records
from app.errors import Detail, ValidationError
from app.http.request_context import running_app
from app.http.schema_fields import BadValueError
from app.jobs.leases import wake
from app.mail.address import server_form
from app.mail.recipients import shown_recipients
from app.models.event import OutgoingMail
from app.settings import Organisation, organisation
from app.writing.formats import email

LOOP = "mail"
MOST_RECIPIENTS = 50
# What the contract calls the states; that the dialogue runs is nobody's concern.
_SHOWN = {"sending": "queued"}


def queue_mail(
    *,
    to: Sequence[str],
    subject: str,
    text: str,
    html: str | None = None,
    cc: Sequence[str] = (),
    attachments: Sequence[Mapping[str, str]] = (),
    entity: str | None = None,
    entity_id: int | None = None,
    key: str | None = None,
) -> OutgoingMail:
    """Write a mail into the outbox; the worker sends it once the transaction is committed.

    Args:
        to, cc: checked addresses.
        subject: one line.
        attachments: ``{"name", "contentType", "blobKey"}``, files in the store.
        entity, entity_id: the record that the mail is about.
        key: what makes it the same mail when it is asked for again (``find_mail``).
    Returns: the mail.
    """
    now, domain = utc_now(), _domain(organisation())
    row = {
        "created_at": now,
        "message_id": f"<{key}@{domain}>" if key else make_msgid(domain=domain),
        "to": list(to),
        "cc": list(cc),
        "subject": subject,
        "text_body": text,
        "html_body": html,
        "attachments": [dict(attached) for attached in attachments],
        "entity": entity,
        "entity_id": entity_id,
        "next_attempt_at": now,
    }
    row = records.with_defaults(OutgoingMail, row)
    mail_id = records.insert(OutgoingMail, row)
    # Heard after the commit or not: the loop looks every second anyhow.
    wake(running_app(), LOOP)
    return OutgoingMail(id=mail_id, **row)


def find_mail(key: str) -> OutgoingMail | None:
    """The mail that was queued with this key, or None."""
    begins = OutgoingMail.message_id.startswith(f"<{key}@", autoescape=True)
    return records.find(select(OutgoingMail).where(begins))


def find_same(mail: Mapping[str, Any], since: datetime) -> OutgoingMail | None:
    """The mail of the same record, recipients and words that was queued after ``since``, or None.

    One that failed counts for nothing.

    Args:
        mail: what ``queue_mail`` would be given.
    """
    statement = (
        select(OutgoingMail)
        .where(
            OutgoingMail.entity == mail["entity"],
            OutgoingMail.entity_id == mail["entity_id"],
            OutgoingMail.created_at > since,
            OutgoingMail.status != "failed",
        )
        .order_by(OutgoingMail.id.desc())
    )
    content = [mail[name] for name in ("to", "cc", "subject", "text", "html", "attachments")]
    for known in records.read_all(statement):
        words = [known.subject, known.text_body, known.html_body]
        if [known.to, known.cc, *words, known.attachments] == content:
            return known
    return None


def check_addresses(field: str, addresses: Sequence[str]) -> list[str]:
    """Addresses as they are kept, each once.

    Raises: ValidationError, naming each that is none: ``to[1]``.
    """
    problems, checked = [], []
    for index, text in enumerate(addresses):
        try:
            checked.append(email(text))
        except BadValueError as problem:
            problems.append(Detail(f"{field}[{index}]", str(problem)))
    if problems:
        raise ValidationError(problems)
    return list(dict.fromkeys(checked))


def shown_delivery(mail: OutgoingMail) -> dict[str, Any]:
    """The ``delivery`` of contract 11.1."""
    return {
        "id": mail.id,
        "to": mail.to,
        "cc": mail.cc,
        "subject": mail.subject,
        "status": _SHOWN.get(mail.status, mail.status),
        "recipients": shown_recipients(mail),
        "attachments": [attached["name"] for attached in mail.attachments],
        "error": mail.error,
    }


def _domain(settings: Organisation) -> str:
    """The right side of the Message-ID: the sender's own domain where it is known."""
    address = settings.mail.sender_address or settings.seller.email or ""
    return server_form(address).rpartition("@")[2] or "localhost"
