"""The worker's loop over outgoing mail: each row is sent once, or said to have failed.

    queued --lease--> queued --"sending", committed just before the dot--> sent
                        ^  |                                    |
              back-off  |  +--> failed (refused, or too late)   +--> failed (outcome unknown)

A worker that dies before "sending" delays the mail by its lease. One that dies after it may have
sent it: the mail is not sent again by itself (docs/adr/0071).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from flask import current_app
from sqlalchemy import ColumnElement
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.clock import utc_now
from app.database import transaction
from app.errors import ApiError
from app.leases import finish, take
from app.loops import Loop, is_stopping
from app.mail.address import MailServer
from app.mail.failing import say_failed
from app.mail.files import write_file
from app.mail.message import Envelope, make_envelope
from app.mail.outbox import LOOP
from app.mail.smtp import (
    END_SECONDS,
    MailError,
    RefusedError,
    SmtpConnection,
    TryAgainError,
    UnknownOutcomeError,
)
from app.models.event import OutgoingMail
from app.security import acting_as, system_caller
from app.settings import organisation

_log = structlog.get_logger(__name__)
_TABLE: Any = OutgoingMail.__table__

BATCH = 5
LEASE_SECONDS = 60
# A dialogue begins only with this much of the lease left.
_NEEDED = timedelta(seconds=30)
# From the dot on, until its answer is written down.
_END_LEASE = timedelta(seconds=END_SECONDS + 30)
RETRY_SECONDS = (5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400)
GIVE_UP_AFTER = timedelta(days=3)
_JITTER_PERCENT = 20
# The database may be away for a moment after the server has taken the message.
_COMMIT_TRIES, _COMMIT_REST_SECONDS = 20, 1.5
_ERROR_LENGTH = 1000
UNKNOWN = (
    "outcome unknown: the worker ended while the mail server was taking the message;"
    " send again if it did not arrive"
)


class LeaseLostError(Exception):
    """Another worker has taken the row over; this one leaves it alone."""


def deliver_due() -> int:
    """Send some mails that are due; returns how many were worked on."""
    with acting_as(system_caller("job")):
        lost = _settle_unknown()
        now = utc_now()
        due: ColumnElement[bool] = (_TABLE.c.status == "queued") & (_TABLE.c.next_attempt_at <= now)
        rows = take(
            _TABLE, due, limit=BATCH, order=_TABLE.c.next_attempt_at, seconds=LEASE_SECONDS
        )  # fmt: skip
        if rows:
            target: MailServer | Path = current_app.extensions["mail"]
            if isinstance(target, Path):
                _write_files(rows, target)
            else:
                _send_all(rows, target)
        return lost + len(rows)


def _settle_unknown() -> int:
    """Say of mails whose worker died after the point of no return that nobody knows."""
    rows = take(_TABLE, _TABLE.c.status == "sending", limit=BATCH, seconds=LEASE_SECONDS)
    for row in rows:
        _fail(dict(row), UNKNOWN)
    return len(rows)


def _write_files(rows: list[Any], folder: Path) -> None:
    for row in rows:
        try:
            write_file(folder, row, _envelope(row).as_bytes())
        except RefusedError as error:
            _fail(row, str(error))
        except (OSError, TryAgainError) as error:
            _put_off(row, str(error))
        else:
            _note_sent(row, [])


def _send_all(rows: list[Any], server: MailServer) -> None:
    """Send over one connection, made anew after whatever went wrong with it."""
    connection: SmtpConnection | None = None
    for place, row in enumerate(rows):
        if row["leased_until"] - utc_now() < _NEEDED or is_stopping():
            _give_back(rows[place:])
            break
        try:
            if connection is None:
                connection = SmtpConnection(server)
        except TryAgainError as error:
            # The others would wait for the same server: they get their turn when it is back.
            for waiting in rows[place:]:
                _put_off(waiting, str(error))
            return
        if not _send(row, connection):
            connection.close()
            connection = None
    if connection is not None:
        connection.close()


def _send(row: Any, connection: SmtpConnection) -> bool:
    """Send one mail and write down what became of it; whether the connection is still good."""
    held: dict[str, Any] = dict(row)
    try:
        refused = connection.send(_envelope(row), lambda: _mark_sending(held))
    except RefusedError as error:
        _fail(held, str(error))
        return True
    except TryAgainError as error:
        _put_off(held, str(error))
    except UnknownOutcomeError as error:
        _fail(held, f"outcome unknown: {error}; send again if it did not arrive")
    except LeaseLostError:
        _log.warning("mail lease lost", mail=row["id"])
    else:
        _note_sent(held, refused)
        return True
    return False


def _envelope(row: Mapping[str, Any]) -> Envelope:
    try:
        with transaction():
            return make_envelope(row, organisation())
    except ApiError as error:  # the store of files is away
        raise TryAgainError(error.message) from error
    except (ValueError, UnicodeError) as error:
        raise RefusedError(f"no message can be made of it: {error}") from error


def _mark_sending(held: dict[str, Any]) -> None:
    """The point of no return: from here on only an answer says what became of the mail."""
    until = utc_now() + _END_LEASE
    with transaction():
        if not finish(_TABLE, held, {"status": "sending", "leased_until": until}):
            raise LeaseLostError
    held.update(status="sending", leased_until=until)


def _note_sent(row: Mapping[str, Any], refused: list[str]) -> None:
    values = {
        "status": "sent",
        "sent_at": utc_now(),
        "attempts": row["attempts"] + 1,
        "error": f"refused: {'; '.join(refused)}"[:_ERROR_LENGTH] if refused else None,
    }
    for left in reversed(range(_COMMIT_TRIES)):
        try:
            with transaction():
                if finish(_TABLE, row, values) and refused:
                    say_failed(row)
        except (DBAPIError, SQLAlchemyError):
            if not left:
                raise
            _log.warning("mail is sent, its row waits for the database", mail=row["id"])
            time.sleep(_COMMIT_REST_SECONDS)
        else:
            return


def _put_off(row: Mapping[str, Any], error: str) -> None:
    """Try again later; a mail that nobody took for days has failed."""
    now = utc_now()
    if now - row["created_at"] > GIVE_UP_AFTER:
        _fail(row, f"given up after {GIVE_UP_AFTER.days} days: {error}")
        return
    attempts = row["attempts"] + 1
    values = {
        "status": "queued",
        "attempts": attempts,
        "next_attempt_at": now + timedelta(seconds=pause_after(attempts)),
        "error": error[:_ERROR_LENGTH],
    }
    with transaction():
        finish(_TABLE, row, values)
    _log.info("mail put off", mail=row["id"], attempts=attempts, error=error)


def pause_after(attempts: int) -> float:
    """Seconds until the next attempt after this many, a fifth more or less."""
    seconds = RETRY_SECONDS[min(attempts, len(RETRY_SECONDS)) - 1]
    percent = 100 - _JITTER_PERCENT + secrets.randbelow(2 * _JITTER_PERCENT + 1)
    return seconds * percent / 100


def _fail(row: Mapping[str, Any], error: str) -> None:
    """The mail is not tried again; whoever wants to know of its invoice is told."""
    values = {"status": "failed", "attempts": row["attempts"] + 1, "error": error[:_ERROR_LENGTH]}
    with transaction():
        is_ours = finish(_TABLE, row, values)
        if is_ours:
            say_failed(row)
    _log.warning("mail failed", mail=row["id"], error=error)


def _give_back(rows: list[Any]) -> None:
    with suppress(SQLAlchemyError), transaction():
        for row in rows:
            finish(_TABLE, row, {})


MAIL_LOOP = Loop(LOOP, deliver_due, idle_seconds=1.0, threads=2)
__all__ = ["MAIL_LOOP", "MailError", "deliver_due", "pause_after"]
