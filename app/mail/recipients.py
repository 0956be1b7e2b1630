"""Whom a mail reached: an outcome for each of its recipients (docs/adr/0011).

What a server said of a recipient is kept in ``outcomes``, what came back later in ``bounces``; who
is in neither waits. The state of the mail follows from both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from app.clock import utc_now
from app.db import records
from app.db.types import iso_instant
from app.events import emit
from app.models.event import OutgoingMail
from app.models.invoice import Invoice
from app.writing.normal_forms import email_form

SETTLED = ("sent", "failed")
STATUSES = ("queued", "sent", "failed", "bounced")
# Outcomes of recipients by address as it is kept: {"status", "error", "at"}.
Outcomes = Mapping[str, Mapping[str, Any]]


def outcomes_of(mail: OutgoingMail) -> dict[str, Mapping[str, Any]]:
    """What servers said so far: ``queued`` (not now), ``sending``, ``sent`` or ``failed``."""
    return dict(mail.outcomes or {})


def waiting(mail: OutgoingMail, blind: Collection[str] = ()) -> list[str]:
    """The recipients that a server neither took nor refused for good, who waits longest first.

    Args:
        blind: recipients whom the message does not name.
    """
    outcomes = outcomes_of(mail)
    everybody = dict.fromkeys((*mail.to, *mail.cc, *blind))
    left = [
        address for address in everybody if outcomes.get(address, {}).get("status") not in SETTLED
    ]
    return sorted(left, key=lambda address: outcomes.get(address, {}).get("at", ""))


def with_outcome(
    outcomes: Outcomes, addresses: Collection[str], status: str, error: str | None = None
) -> dict[str, Mapping[str, Any]]:
    """The outcomes, with this one for addresses that are not settled."""
    at = iso_instant(utc_now())
    outcome = {"status": status, "error": error, "at": at}
    open_ones = [
        address for address in addresses if outcomes.get(address, {}).get("status") not in SETTLED
    ]
    return {**outcomes, **dict.fromkeys(open_ones, outcome)}


def shown_recipients(mail: OutgoingMail) -> list[dict[str, Any]]:
    """Each recipient whom the message names, and what became of the mail to him.

    Returns: ``{"address", "kind": "to" | "cc", "status": one of STATUSES, "error", "at"}``.
    """
    outcomes = outcomes_of(mail)
    bounces = {bounce["recipient"]: bounce for bounce in mail.bounces or ()}
    kinds = dict.fromkeys(mail.cc, "cc") | dict.fromkeys(mail.to, "to")
    return [
        {"address": address, "kind": kinds[address],
         **_outcome(outcomes.get(address), bounces.get(email_form(address)))}
        for address in dict.fromkeys((*mail.to, *mail.cc))
    ]  # fmt: skip


def has_missed(mail: OutgoingMail) -> bool:
    """Whether a recipient is given up: the mail can be sent to him again."""
    return any(recipient["status"] in ("failed", "bounced") for recipient in shown_recipients(mail))


def status_of(mail: OutgoingMail) -> str:
    """The state that follows: ``queued`` while one waits, ``sent`` when it reached one."""
    statuses = {recipient["status"] for recipient in shown_recipients(mail)}
    return next((status for status in ("queued", "sent") if status in statuses), "failed")


def _outcome(outcome: Mapping[str, Any] | None, bounce: Mapping[str, Any] | None) -> dict[str, Any]:
    if bounce is not None:
        return {"status": "bounced", "error": why_bounced(bounce), "at": bounce["at"]}
    if outcome is not None:
        status = outcome["status"]
        return {**outcome, "status": "queued" if status == "sending" else status}
    return {"status": "queued", "error": None, "at": None}


def why_bounced(bounce: Mapping[str, Any]) -> str:
    """``5.1.1 no such mailbox``."""
    return " ".join(filter(None, (bounce["status"], bounce["reason"]))) or "not delivered"


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
