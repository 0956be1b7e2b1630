"""Lockout: five failed logins of one name within 15 minutes lock it, known or not.

An attempt is counted before its password is looked at, under the lock of the name's row, and in a
transaction of its own: however many guess at the same time, five are looked at. The lock doubles
each time, up to a day; a success forgets everything. Open sessions are not touched by it.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, text, update

from app.clock import utc_now
from app.db.types import UtcDateTime
from app.errors import AccountLockedError
from app.extensions import db
from app.models.user import LoginGuard
from app.writing.formats import fold_name

LIMIT = 5
WINDOW = timedelta(minutes=15)
FIRST_LOCK = timedelta(minutes=15)
LONGEST_LOCK = timedelta(hours=24)
# Without a failure for so long, the next lock is a first one again.
FORGOTTEN_AFTER = timedelta(hours=24)
# How long an attempt waits while five others of the same name are being looked at.
WAIT_SECONDS = 3.0
_POLL_SECONDS = 0.05

_ENSURE = text(
    "INSERT INTO login_guards (name_key, failures, window_started_at, lock_count)"
    " VALUES (:name_key, 0, :now, 0) ON CONFLICT (name_key) DO NOTHING"
).bindparams(bindparam("now", type_=UtcDateTime()))


@dataclass(frozen=True, slots=True)
class Guard:
    """The failures of a name; those of attempts that still run included."""

    failures: int
    window_started_at: datetime
    locked_until: datetime | None
    lock_count: int

    def is_locked(self, now: datetime) -> bool:
        """Whether nobody may sign in under the name."""
        return self.locked_until is not None and self.locked_until > now

    def opened(self, now: datetime) -> Guard:
        """The guard with a window that includes ``now``: a new one when the last is over."""
        # One that begins a little after now was opened at the same time, by a request that came
        # later and was quicker, or by a host whose clock is ahead; long after, by a clock that has
        # been set back since.
        if self.locked_until is None and abs(now - self.window_started_at) < WINDOW:
            return self
        forgotten = now - self.window_started_at >= FORGOTTEN_AFTER + LONGEST_LOCK
        return Guard(0, now, None, 0 if forgotten else self.lock_count)

    def locked(self, now: datetime) -> Guard:
        """The guard with its next lock, twice as long as the last."""
        duration = min(FIRST_LOCK * 2 ** min(self.lock_count, 10), LONGEST_LOCK)
        return replace(self, locked_until=now + duration, lock_count=self.lock_count + 1)


def count_attempt(name: str) -> None:
    """Count an attempt as failed until it succeeds; committed on return.

    Raises: AccountLockedError, with ``Retry-After``: the name is locked.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while not _try_to_count(name):
        if time.monotonic() > deadline:  # attempts that were cut off count as failed
            lock_if_due(name)
            db.session.commit()
        time.sleep(_POLL_SECONDS)


def _try_to_count(name: str) -> bool:
    """Whether there was room for one more; not while five others are being looked at."""
    now = utc_now()
    key = _name_key(name)
    db.session.execute(_ENSURE, {"name_key": key, "now": now})
    guard = _locked_row(key)
    if guard is None:  # removed between the two statements
        return False
    if guard.is_locked(now):
        db.session.rollback()
        raise _locked_error(guard, now)
    guard = guard.opened(now)
    has_room = guard.failures < LIMIT
    if has_room:
        _write(key, replace(guard, failures=guard.failures + 1))
    db.session.commit()
    return has_room


def lock_if_due(name: str) -> bool:
    """After a failure: lock the name when it was the fifth; returns whether it was.

    Part of the running transaction.
    """
    now = utc_now()
    key = _name_key(name)
    guard = _locked_row(key)
    if guard is None or guard.failures < LIMIT or guard.is_locked(now):
        return False
    _write(key, guard.locked(now))
    return True


def forget_failures(name: str) -> None:
    """After a success, or when an administrator unlocks: part of the running transaction."""
    _write(_name_key(name), Guard(0, utc_now(), None, 0))


def locks_of(connection: Connection, names: Collection[str]) -> dict[str, datetime]:
    """``{name: when its lock ends}``, for those of the names that are locked now."""
    by_key = {_name_key(name): name for name in names}
    locks = connection.execute(
        select(LoginGuard.name_key, LoginGuard.locked_until).where(
            LoginGuard.name_key.in_(by_key), LoginGuard.locked_until > utc_now()
        )
    )
    return {by_key[key]: until for key, until in locks if until is not None}


def _locked_row(key: str) -> Guard | None:
    columns = (LoginGuard.__table__.c[each.name] for each in fields(Guard))
    statement = select(*columns).where(LoginGuard.name_key == key).with_for_update()
    row = db.session.execute(statement).first()
    return None if row is None else Guard(*row)


def _write(key: str, guard: Guard) -> None:
    statement = update(LoginGuard).where(LoginGuard.name_key == key)
    db.session.execute(statement.values(**asdict(guard)))


def _locked_error(guard: Guard, now: datetime) -> AccountLockedError:
    assert guard.locked_until is not None
    seconds = max(1, math.ceil((guard.locked_until - now).total_seconds()))
    return AccountLockedError(
        f"Too many failed logins: try again in {seconds} s.",
        headers={"Retry-After": str(seconds)},
    )


def _name_key(name: str) -> str:
    # A digest: what people type here is now and then their password.
    return hashlib.sha256(fold_name(name).encode("utf-8", "surrogatepass")).hexdigest()
