"""Delivery reports: what a mail server writes back about a mail that it could not deliver.

The form is RFC 3464. Reports come from anywhere, so nothing of one is believed beyond which of our
mails it names, which recipients, and what the other server said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import parseaddr

from app.errors import ValidationError
from app.writing.equivalence import email_form

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
            message_ids |= dict.fromkeys(_ids(_headers_in(part)))
        elif part is not message and part["Message-ID"]:
            message_ids |= dict.fromkeys(_ids(_text(part, "Message-ID")))
    for name in ("In-Reply-To", "References"):
        message_ids |= dict.fromkeys(_ids(_text(message, name)))
    yield from list(message_ids)[:_MOST_IDS]


def _headers_in(part: Message) -> str:
    content = part.get_payload(decode=True)
    headers = content if isinstance(content, bytes) else b""
    return _text(BytesParser(policy=compat32).parsebytes(headers, headersonly=True), "Message-ID")


def _ids(text: str) -> list[str]:
    return _MESSAGE_ID.findall(text)


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
