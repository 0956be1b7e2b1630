"""The worker's loop over outgoing mail: each row is sent once, or said to have failed.

    queued --lease--> queued --"sending", committed just before the dot--> sent
                        ^  |                                    |
              back-off  |  +--> failed (refused, or too late)   +--> failed (outcome unknown)

Each recipient has an outcome; the mail waits while one of them does (docs/adr/0011).
A worker that dies before "sending" delays the mail by its lease. One that dies after it may have
sent it: the mail is not sent again by itself (docs/adr/0011).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import ColumnElement
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.engines import transaction
from app.errors import ApiError
from app.http.security import acting_as, system_caller
from app.jobs.leases import Loop, LostError, Order, finish, is_stopping, take
from app.mail import smtp
from app.mail.address import MailServer, mail_target
from app.mail.message import Envelope, blind_copies, make_envelope
from app.mail.outbox import LOOP
from app.mail.recipients import (
    SETTLED,
    Outcomes,
    outcomes_of,
    say_failed,
    shown_recipients,
    status_of,
    waiting,
    with_outcome,
)
from app.models.event import OutgoingMail
from app.output_file import OutputError, output_file
from app.settings import organisation

_log = structlog.get_logger(__name__)

BATCH = 5
LEASE_SECONDS = 60
# A dialogue begins only with this much of the lease left.
NEEDED = timedelta(seconds=30)
# From the dot on, until its answer is written down.
_END_LEASE = timedelta(seconds=smtp.END_SECONDS + 30)
RETRY_SECONDS = (5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400)
GIVE_UP_AFTER = timedelta(days=3)
_JITTER_PERCENT = 20
# The database may be away for a moment after the server has taken the message.
COMMIT_TRIES, COMMIT_REST_SECONDS = 20, 1.5
_ERROR_LENGTH = 1000
UNKNOWN = (
    "outcome unknown: the worker ended while the mail server was taking the message;"
    " send again if it did not arrive"
)

UNREACHABLE = "no mail server can be given this address"


def deliver_due() -> int:
    """Send some mails that are due; returns how many were worked on."""
    with acting_as(system_caller("job")):
        lost = _settle_unknown()
        now = utc_now()
        due: ColumnElement[bool] = (OutgoingMail.status == "queued") & (
            OutgoingMail.next_attempt_at <= now
        )
        rows = _take(due, OutgoingMail.next_attempt_at)
        if rows:
            target = mail_target.current
            if isinstance(target, Path):
                _write_files(rows, target)
            else:
                _send_all(rows, target)
        return lost + len(rows)


def _settle_unknown() -> int:
    """Say of mails whose worker died after the point of no return that nobody knows."""
    rows = _take(OutgoingMail.status == "sending", OutgoingMail.id)
    for row in rows:
        _fail(row, _in_flight(row), UNKNOWN)
    return len(rows)


def _take(due: ColumnElement[bool], order: Order) -> list[OutgoingMail]:
    table = OutgoingMail.__table__
    rows = take(table, due, limit=BATCH, order=(order,), seconds=LEASE_SECONDS)
    return [OutgoingMail(**row) for row in rows]


def _everybody(row: OutgoingMail) -> list[str]:
    """All who wait for a mail, blind copies too."""
    with transaction():
        return waiting(row, blind_copies(organisation()))


def _in_flight(row: OutgoingMail) -> list[str]:
    """For whom the server had the message when its end went out."""
    outcomes = outcomes_of(row)
    addresses = [address for address, outcome in outcomes.items() if outcome["status"] == "sending"]
    return addresses or _everybody(row)


def _write_files(rows: Sequence[OutgoingMail], folder: Path) -> None:
    """Write each mail as ``00000042.eml``; a second attempt writes the same file."""
    for row in rows:
        try:
            content = _envelope(row).as_bytes()
            folder.mkdir(parents=True, exist_ok=True)
            with output_file(folder / f"{row.id:08d}.eml") as file:
                file.write(content)
        except smtp.RefusedError as error:
            _fail(row, _everybody(row), str(error))
        except (OSError, OutputError, smtp.TryAgainError) as error:
            _put_off(row, _everybody(row), str(error))
        else:
            note_sent(row, with_outcome(outcomes_of(row), _everybody(row), "sent"))


def _send_all(rows: Sequence[OutgoingMail], server: MailServer) -> None:
    """Send over one connection, made anew after whatever went wrong with it."""
    connection: smtp.SmtpConnection | None = None
    for index, row in enumerate(rows):
        if row.leased_until is None or row.leased_until - utc_now() < NEEDED or is_stopping():
            _give_back(rows[index:])
            break
        try:
            if connection is None:
                connection = smtp.SmtpConnection(server)
        except smtp.TryAgainError as error:
            # The others would wait for the same server: they get their turn when it is back.
            for other in rows[index:]:
                _put_off(other, _everybody(other), str(error))
            return
        if not _send(row, connection):
            connection.close()
            connection = None
    if connection is not None:
        connection.close()


def _send(mail: OutgoingMail, connection: smtp.SmtpConnection) -> bool:
    """Send one mail and write down what became of it; whether the connection is still good."""
    addressed = _everybody(mail)
    outcomes = outcomes_of(mail)
    try:
        envelope = _envelope(mail)
        addressed = list(envelope.recipients.values())
        outcomes = with_outcome(outcomes, envelope.unreachable, "failed", UNREACHABLE)
        if not addressed:
            _conclude(mail, outcomes)
            return True

        def before_end(refusals: smtp.Refusals) -> None:
            nonlocal mail
            # Of those who are refused it is told with the rest, once.
            taken = [
                recipient for form, recipient in envelope.recipients.items() if form not in refusals
            ]
            mail = mark_sending(mail, with_outcome(outcomes_of(mail), taken, "sending"))

        refusals = connection.send(envelope, before_end)
    except smtp.RefusedError as error:
        _fail(mail, addressed, str(error))
        return True
    except smtp.TryAgainError as error:
        _put_off(mail, addressed, str(error))
    except smtp.UnknownOutcomeError as error:
        text = f"outcome unknown: {error}; send again if it did not arrive"
        _fail(mail, _in_flight(mail), text)
    except LostError:
        _log.warning("mail lease lost", mail=mail.id)
    else:
        note_sent(mail, _answered(outcomes, envelope, refusals))
        return True
    return False


def _answered(
    outcomes: Outcomes, envelope: Envelope, refusals: smtp.Refusals
) -> dict[str, Mapping[str, Any]]:
    """The outcomes after a server has answered to each recipient and to the message."""
    after = dict(outcomes)
    for form, address in envelope.recipients.items():
        refusal = refusals.get(form)
        if refusal is None:
            after = with_outcome(after, [address], "sent")
        else:
            status = "failed" if refusal.is_final else "queued"
            after = with_outcome(after, [address], status, refusal.text)
    return after


def _envelope(row: OutgoingMail) -> Envelope:
    try:
        with transaction():
            return make_envelope(row, organisation())
    except ApiError as error:  # the store of files is away
        raise smtp.TryAgainError(error.message) from error
    except (ValueError, UnicodeError) as error:
        raise smtp.RefusedError(f"no message can be made of it: {error}") from error


def mark_sending(mail: OutgoingMail, outcomes: Outcomes) -> OutgoingMail:
    """The point of no return: from here on only an answer says what became of the mail."""
    until = utc_now() + _END_LEASE
    values = {"status": "sending", "leased_until": until, "outcomes": outcomes}
    with transaction():
        if not _finish(mail, values):
            raise LostError
    return records.changed(mail, **values)


def note_sent(row: OutgoingMail, outcomes: Outcomes) -> None:
    """Write what became of a mail that a server has; again, where the database is away."""
    for left in reversed(range(COMMIT_TRIES)):
        try:
            _conclude(row, outcomes)
        except (DBAPIError, SQLAlchemyError):
            if not left:
                raise
            _log.warning("mail is sent, its row waits for the database", mail=row.id)
            time.sleep(COMMIT_REST_SECONDS)
        else:
            return


def _put_off(row: OutgoingMail, addressed: Sequence[str], error: str) -> None:
    _conclude(row, with_outcome(outcomes_of(row), addressed, "queued", error), error)


def _fail(row: OutgoingMail, addressed: Sequence[str], error: str) -> None:
    _conclude(row, with_outcome(outcomes_of(row), addressed, "failed", error), error)


def _conclude(row: OutgoingMail, outcomes: Outcomes, error: str | None = None) -> None:
    """Write down what became of an attempt; who waits is tried again, and others are told of.

    Args:
        row: as it was taken.
        outcomes: of all recipients, those of this attempt among them.
        error: what went wrong for all of them at once.
    """
    with transaction():
        values = _after_attempt(row, outcomes, error, blind_copies(organisation()))
        if _finish(row, values):
            _tell(records.changed(row, **values), _newly_settled(row, values["outcomes"]))
    _log.info("mail tried", mail=row.id, status=values["status"], error=values["error"])


def _after_attempt(
    row: OutgoingMail, outcomes: Outcomes, error: str | None, blind: Sequence[str]
) -> dict[str, Any]:
    """The columns that an attempt changes."""
    now, attempts = utc_now(), row.attempts + 1
    left = waiting(records.changed(row, outcomes=outcomes), blind)
    if left and now - row.created_at > GIVE_UP_AFTER:
        error = f"given up after {GIVE_UP_AFTER.days} days: {error or 'not taken'}"
        outcomes, left = with_outcome(outcomes, left, "failed", error), []
    # Those of another form of the message have their turn at once.
    untried = [address for address in left if address not in outcomes]
    values: dict[str, Any] = {
        "status": "queued" if left else status_of(records.changed(row, outcomes=outcomes)),
        "outcomes": outcomes,
        "attempts": row.attempts if untried else attempts,
        "error": _error_of(outcomes),
    }
    if left:
        pause = 0 if untried else pause_after(attempts)
        values["next_attempt_at"] = now + timedelta(seconds=pause)
    if row.sent_at is None and "sent" in _newly_settled(row, outcomes).values():
        values["sent_at"] = now
    return values


def _error_of(outcomes: Outcomes) -> str | None:
    """Why the mail has not reached everybody, on one line; None where it has."""
    missed = {
        recipient: outcome for recipient, outcome in outcomes.items() if outcome["status"] != "sent"
    }
    reasons = list(dict.fromkeys(outcome["error"] for outcome in missed.values()))
    if len(reasons) == 1 and len(missed) == len(outcomes):
        return str(reasons[0])[:_ERROR_LENGTH]
    lines = [f"{address}: {outcome['error']}" for address, outcome in missed.items()]
    return "; ".join(lines)[:_ERROR_LENGTH] or None


def _newly_settled(row: OutgoingMail, outcomes: Outcomes) -> dict[str, str]:
    """Recipients of whom it is known now, and was not, whether a server took the mail."""
    before = outcomes_of(row)
    return {
        address: outcome["status"]
        for address, outcome in outcomes.items()
        if outcome["status"] in SETTLED and before.get(address, {}).get("status") not in SETTLED
    }


def _tell(mail: OutgoingMail, settled: Mapping[str, str]) -> None:
    """Write into the audit log who got a mail and who did not; of the latter others hear too."""
    if not settled:
        return
    named = [recipient for recipient in shown_recipients(mail) if recipient["address"] in settled]
    is_lost = any(recipient["status"] == "failed" for recipient in named)
    after = {"delivery": mail.id, "recipients": named}
    action = "mail.failed" if is_lost else "mail.sent"
    audit.record(action, mail.entity, mail.entity_id, after=after)
    if is_lost:
        say_failed(mail)


def pause_after(attempts: int) -> float:
    """Seconds until the next attempt after this many, a fifth more or less."""
    seconds = RETRY_SECONDS[min(attempts, len(RETRY_SECONDS)) - 1]
    percent = 100 - _JITTER_PERCENT + secrets.randbelow(2 * _JITTER_PERCENT + 1)
    return seconds * percent / 100


def _finish(row: OutgoingMail, values: Mapping[str, Any]) -> bool:
    mail = {"id": row.id, "leased_until": row.leased_until}
    return finish(OutgoingMail.__table__, mail, values)


def _give_back(rows: Sequence[OutgoingMail]) -> None:
    with suppress(SQLAlchemyError), transaction():
        for row in rows:
            _finish(row, {})


MAIL_LOOP = Loop(LOOP, deliver_due, idle_seconds=1.0, threads=2)
