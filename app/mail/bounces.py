"""Bounces: a mail that a server took comes back, and whoever sent it is told (docs/adr/0011)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.types import iso_instant
from app.mail.recipients import SETTLED, say_failed, status_of
from app.mail.reports import DeliveryReport, FailedRecipient, read_report
from app.models.event import OutgoingMail
from app.settings import organisation
from app.writing.equivalence import email_form

KEPT_BYTES = 1_000_000
_ERROR_LENGTH = 1000
NO_REPORT = "The message is no delivery report."
NOT_OURS = "The report names no mail of this service."
NO_FAILURE = "The report says of no recipient that delivery failed."


@dataclass(frozen=True, slots=True)
class Bounced:
    """What a report came to: the mail that it is about, or why there is none."""

    mail: OutgoingMail | None = None
    recipients: tuple[str, ...] = ()
    reason: str | None = None


def note_bounce(content: bytes) -> Bounced:
    """Write down what a message that came back says of a mail of ours; the same twice is once.

    Where no recipient of a mail is left it has failed, else it stays sent; both are told.

    Raises: ValidationError, it is no message.
    """
    report = read_report(content)
    if report is None:
        return Bounced(reason=NO_REPORT)
    mail = _find_mail(report)
    if mail is None:
        return Bounced(reason=NOT_OURS)
    known = {bounce["recipient"] for bounce in mail.bounces or ()}
    fresh = [bounce for bounce in _bounces(mail, report) if bounce["recipient"] not in known]
    if not fresh:
        return Bounced(mail, tuple(sorted(known)), None if known else NO_FAILURE)
    bounces = [*(mail.bounces or ()), *fresh]
    lost = {bounce["recipient"] for bounce in bounces}
    is_done = mail.status in SETTLED
    values = {
        "bounces": bounces,
        "status": status_of(records.changed(mail, bounces=bounces)) if is_done else mail.status,
        "error": f"bounced: {'; '.join(map(_line, bounces))}"[:_ERROR_LENGTH],
    }
    records.update(OutgoingMail, mail.id, values)
    after = {"delivery": mail.id, "bounces": fresh}
    audit.record("mail.bounced", mail.entity, mail.entity_id, after=after)
    mail = records.changed(mail, **values)
    say_failed(mail)
    return Bounced(mail, tuple(sorted(lost)))


def _find_mail(report: DeliveryReport) -> OutgoingMail | None:
    if not report.message_ids:
        return None
    statement = select(OutgoingMail).where(OutgoingMail.message_id.in_(report.message_ids)).limit(1)
    return records.find(statement.with_for_update())


def _recipients(mail: OutgoingMail) -> dict[str, str]:
    """Normal form of an address -> as it is kept."""
    return {email_form(address): address for address in (*mail.to, *mail.cc)}


def _bounces(mail: OutgoingMail, report: DeliveryReport) -> list[dict[str, Any]]:
    known = _recipients(mail)
    copy = organisation().mail.copy_to
    bounces: dict[str, dict[str, Any]] = {}
    for failed in report.failed:
        recipient = next((address for address in failed.addresses if address in known), None)
        is_copy = copy is not None and email_form(copy) in failed.addresses
        if recipient is None and len(known) == 1 and not is_copy:
            recipient = next(iter(known))  # it was forwarded: the end of the way has another name
        if recipient is not None:
            bounces.setdefault(recipient, _described(recipient, failed))
    return list(bounces.values())


def _described(recipient: str, failed: FailedRecipient) -> dict[str, Any]:
    return {
        "recipient": recipient,
        "status": failed.status,
        "reason": failed.reason,
        "at": iso_instant(utc_now()),
    }


def _line(bounce: Mapping[str, Any]) -> str:
    reason = " ".join(filter(None, (bounce["status"], bounce["reason"])))
    return f"{bounce['recipient']}: {reason or 'not delivered'}"


def first_bytes(chunks: Iterable[bytes]) -> tuple[bytes, str]:
    """The first megabyte, and the SHA-256 of all in hex."""
    first, digest = bytearray(), hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        first += chunk[: KEPT_BYTES - len(first)]
    return bytes(first), digest.hexdigest()
