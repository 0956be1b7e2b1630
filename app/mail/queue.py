"""The outbox as administrators look at it: what waits, what failed, and trying that again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine
from app.errors import InvalidStateError
from app.http.lists import Page, each_of, read_page
from app.http.request_context import running_app
from app.http.security import current_caller
from app.jobs.leases import wake
from app.mail.outbox import LOOP, shown_delivery
from app.mail.recipients import has_missed, outcomes_of, shown_recipients
from app.models.event import OutgoingMail
from app.permissions import require

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
    return read_page(
        statement,
        each_of(OutgoingMail, _shape),
        limit=limit,
        offset=offset,
    )


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
