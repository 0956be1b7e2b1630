"""Bounces: a mail that a server took comes back, and whoever sent it is told (docs/adr/0011)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import parseaddr
from typing import Any

from sqlalchemy import select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.types import iso_instant
from app.errors import ValidationError
from app.mail.recipients import SETTLED, say_failed, status_of, why_bounced
from app.models.event import OutgoingMail
from app.settings import organisation
from app.writing.normal_forms import email_form

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
    lines = [f"{bounce['recipient']}: {why_bounced(bounce)}" for bounce in bounces]
    is_done = mail.status in SETTLED
    values = {
        "bounces": bounces,
        "status": status_of(records.changed(mail, bounces=bounces)) if is_done else mail.status,
        "error": f"bounced: {'; '.join(lines)}"[:_ERROR_LENGTH],
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


def _bounces(mail: OutgoingMail, report: DeliveryReport) -> list[dict[str, Any]]:
    known = {email_form(address): address for address in (*mail.to, *mail.cc)}
    copy = organisation().mail.copy_to
    bounces: dict[str, dict[str, Any]] = {}
    for failed in report.failed:
        recipient = next((address for address in failed.addresses if address in known), None)
        is_copy = copy is not None and email_form(copy) in failed.addresses
        if recipient is None and len(known) == 1 and not is_copy:
            recipient = next(iter(known))  # it was forwarded: the end of the way has another name
        if recipient is not None:
            bounce = {"recipient": recipient, "status": failed.status, "reason": failed.reason}
            bounces.setdefault(recipient, bounce | {"at": iso_instant(utc_now())})
    return list(bounces.values())


def first_bytes(chunks: Iterable[bytes]) -> tuple[bytes, str]:
    """The first megabyte, and the SHA-256 of all in hex."""
    first, digest = bytearray(), hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        first += chunk[: KEPT_BYTES - len(first)]
    return bytes(first), digest.hexdigest()


# --- delivery reports: what a mail server writes back about a mail that it could not deliver. The
# form is RFC 3464. They come from anywhere, so nothing of one is believed beyond which of our
# mails it names, which recipients, and what the other server said.

_MESSAGE_ID = re.compile(r"<[^<>\s]{3,250}>")
_LONGEST_REASON = 500
_MOST_RECIPIENTS = 200
_MOST_IDS = 20


@dataclass(frozen=True, slots=True)
class FailedRecipient:
    """A recipient that a server gave up.

    ``addresses``: as we wrote it and as it was in the end, where both are told; lower case.
    ``status``: the enhanced code, ``5.1.1``; ``reason``: the other server's words.
    """

    addresses: tuple[str, ...]
    status: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """``message_ids``: of the mail that it is about, the likeliest first."""

    message_ids: tuple[str, ...]
    failed: tuple[FailedRecipient, ...]


def read_report(content: bytes) -> DeliveryReport | None:
    """The report in a message as it came in (RFC 5322); None where the message is no report.

    A message may be cut off at its end: the returned mail stands there.

    Raises: ValidationError, it is no message at all.
    """
    try:
        message = BytesParser(policy=compat32).parsebytes(content)
        parts = list(message.walk())
    except (RecursionError, ValueError) as error:
        raise ValidationError([("", "The body is no message that can be read.")]) from error
    if not message.keys():
        raise ValidationError([("", "The body is no message: it has no headers.")])
    statuses = [part for part in parts if part.get_content_type() == "message/delivery-status"]
    if not statuses:
        return None
    failed = [failed_recipient for part in statuses for failed_recipient in _failed(part)]
    return DeliveryReport(tuple(_message_ids(message, parts)), tuple(failed[:_MOST_RECIPIENTS]))


def _failed(part: Message) -> Iterator[FailedRecipient]:
    blocks = part.get_payload()
    # The first block is about the message, each other one about a recipient.
    for block in blocks[1:] if isinstance(blocks, list) else ():
        if not isinstance(block, Message) or _text(block, "Action").lower() != "failed":
            continue
        named = (_typed(block, name) for name in ("Original-Recipient", "Final-Recipient"))
        addresses = dict.fromkeys(email_form(parseaddr(text)[1]) for text in named if text)
        yield FailedRecipient(
            tuple(address for address in addresses if address),
            _text(block, "Status")[:20] or None,
            _typed(block, "Diagnostic-Code")[:_LONGEST_REASON] or None,
        )


def _message_ids(message: Message, parts: list[Message]) -> Iterator[str]:
    """That of the returned mail or of its headers, then those that the report answers to."""
    message_ids: dict[str, None] = {}
    for part in parts:
        if part is not message and part.get_content_type() == "text/rfc822-headers":
            message_ids |= dict.fromkeys(_MESSAGE_ID.findall(_headers_in(part)))
        elif part is not message and part["Message-ID"]:
            message_ids |= dict.fromkeys(_MESSAGE_ID.findall(_text(part, "Message-ID")))
    for name in ("In-Reply-To", "References"):
        message_ids |= dict.fromkeys(_MESSAGE_ID.findall(_text(message, name)))
    yield from list(message_ids)[:_MOST_IDS]


def _headers_in(part: Message) -> str:
    content = part.get_payload(decode=True)
    headers = content if isinstance(content, bytes) else b""
    return _text(BytesParser(policy=compat32).parsebytes(headers, headersonly=True), "Message-ID")


def _typed(block: Message, name: str) -> str:
    """A value without its type: ``rfc822; a@b.example`` -> ``a@b.example``."""
    text = _text(block, name)
    return text.partition(";")[2].strip() if ";" in text else text


def _text(block: Message, name: str) -> str:
    """A header as one printable line."""
    text = str(block.get(name, ""))
    return " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )
