"""The outbox: mail is a row, written in the transaction of the change that wants it sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import make_msgid
from typing import Any

from sqlalchemy import func, select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine
from app.errors import Detail, InvalidStateError, refuse_any
from app.http.lists import Page, each_of, read_page
from app.http.request_context import running_app
from app.http.schema_fields import BadValueError
from app.http.security import current_caller
from app.jobs.leases import wake
from app.mail.address import server_form
from app.mail.recipients import has_missed, outcomes_of, shown_recipients
from app.models.event import OutgoingMail
from app.permissions import require
from app.settings import organisation
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
    now, settings = utc_now(), organisation()
    # The right side of the Message-ID: the sender's own domain where it is known.
    sender = settings.mail.sender_address or settings.seller.email or ""
    domain = server_form(sender).rpartition("@")[2] or "localhost"
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
    refuse_any(problems)
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


# --- as administrators look at it: what waits, what failed, and trying that again

STATUSES = ("queued", "sending", "sent", "failed")
_LISTED = [
    column for column in OutgoingMail.__table__.c if column.name not in ("text_body", "html_body")
]


def list_mail(status: str | None, *, limit: int, offset: int) -> Page:
    """The mails of the outbox, the newest first.

    Raises: ForbiddenError.
    """
    require(current_caller(), "settings:read")
    statement = select(*_LISTED).order_by(OutgoingMail.id.desc())
    if status is not None:
        statement = statement.where(OutgoingMail.status == status)
    return read_page(statement, each_of(OutgoingMail, _shape), limit=limit, offset=offset)


def count_mail() -> dict[str, int]:
    """State -> how many mails.

    Raises: ForbiddenError.
    """
    require(current_caller(), "settings:read")
    with primary_engine().connect() as connection:
        rows = connection.execute(
            select(OutgoingMail.status, func.count()).group_by(OutgoingMail.status)
        )
        counts: dict[str, int] = {row[0]: row[1] for row in rows}
    return {status: counts.get(status, 0) for status in STATUSES}


def show_mail(mail_id: int) -> dict[str, Any]:
    """One mail with its text.

    Raises: ForbiddenError; NotFoundError.
    """
    require(current_caller(), "settings:read")
    mail = records.look_up(OutgoingMail, mail_id, f"There is no mail {mail_id}.")
    return {**_shape(mail), "text": mail.text_body, "html": mail.html_body}


def retry_mail(mail_id: int) -> None:
    """Put a failed mail into the outbox again, or try at once one that waits for its next time.

    Raises: ForbiddenError; NotFoundError; InvalidStateError, it reached everybody or is being sent.
    """
    require(current_caller(), "settings:update")
    mail = records.get(OutgoingMail, mail_id, f"There is no mail {mail_id}.", lock=True)
    if mail.status == "queued":
        records.update(OutgoingMail, mail_id, {"next_attempt_at": utc_now()})
    elif mail.status != "sending" and has_missed(mail):
        queue_again(mail)
    else:
        raise InvalidStateError(
            "Only a mail that did not reach everybody is tried again.",
            [("status", f"is {mail.status}")],
        )
    wake(running_app(), LOOP)
    audit.record("mail.retried", mail.entity, mail.entity_id, after={"mail": mail_id})


def queue_again(mail: OutgoingMail) -> Mapping[str, Any]:
    """Send a mail to those whom it did not reach, the same message with the same Message-ID.

    Returns: what changed.
    """
    now = utc_now()
    lost = {
        recipient["address"]
        for recipient in shown_recipients(mail)
        if recipient["status"] != "sent"
    }
    outcomes = {
        address: outcome
        for address, outcome in outcomes_of(mail).items()
        if address not in lost and outcome["status"] == "sent"
    }
    changes = {
        "status": "queued", "next_attempt_at": now, "created_at": now, "error": None,
        "bounces": None, "outcomes": outcomes,
    }  # fmt: skip
    records.update(OutgoingMail, mail.id, changes)
    return changes


def _shape(mail: OutgoingMail) -> dict[str, Any]:
    return {
        **shown_delivery(mail),
        "messageId": mail.message_id,
        "attempts": mail.attempts,
        "createdAt": mail.created_at,
        "sentAt": mail.sent_at,
        "nextAttemptAt": mail.next_attempt_at if mail.status == "queued" else None,
        "entity": mail.entity,
        "entityId": mail.entity_id,
    }
