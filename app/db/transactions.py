"""What belongs to the running transaction of ``db.session`` and ends with it: notes and locks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import event, text
from sqlalchemy.orm import Session, SessionTransaction

from app.extensions import db

_NOTES = "notes"
_KEPT = "kept"
_TRIAL = "trial"
T = TypeVar("T")
# In the order of the locks themselves, which two names may share.
_IN_ORDER = (
    "(SELECT DISTINCT hashtextextended(name, 0) AS key"
    " FROM unnest(CAST(:names AS text[])) AS name ORDER BY key) AS ordered"
)
_LOCK_IN_ORDER = text(f"SELECT pg_advisory_xact_lock(key) FROM {_IN_ORDER}")  # nosec B608  # fixed text
_SHARE_IN_ORDER = text(
    f"SELECT pg_advisory_xact_lock_shared(key) FROM {_IN_ORDER}"  # nosec B608  # fixed text
)


@contextmanager
def by_itself() -> Iterator[None]:
    """Commit at the end of the block, whatever the request does after it; roll back if it raises.

    Within a savepoint, as of a batch, the block has a savepoint of its own, which is committed with
    the rest. In a trial it is undone at once, with its locks.
    """
    if db.session.connection().in_nested_transaction():
        with db.session.begin_nested():
            yield
        return
    try:
        yield
        if _TRIAL in db.session.info:
            db.session.rollback()
        else:
            db.session.commit()
    except BaseException:
        db.session.rollback()
        raise


@contextmanager
def trial() -> Iterator[None]:
    """Do something and undo it; what it does by itself is undone one by one."""
    db.session.info[_TRIAL] = True
    try:
        yield
    finally:
        del db.session.info[_TRIAL]
        db.session.rollback()


def has_begun() -> bool:
    """Whether the running context has a transaction: a statement has run since its last end."""
    return db.session.registry.has() and db.session().in_transaction()


def note(name: str, value: Any) -> None:
    """Remember something until the transaction ends, or ``forget_notes``."""
    db.session.info.setdefault(_NOTES, {})[name] = value


def noted(name: str) -> Any:
    """What was noted and holds still, or None."""
    return db.session.info.get(_NOTES, {}).get(name)


def forget_notes() -> None:
    """Forget what was noted: from here on only what follows counts."""
    db.session.info.pop(_NOTES, None)


def once_per_transaction(name: str, make: Callable[[], T]) -> T:
    """What ``make`` gives: the same until the transaction or a savepoint ends, or ``forget``."""
    values = db.session.info.setdefault(_KEPT, {})
    if name not in values:
        values[name] = make()
    value: T = values[name]
    return value


def forget(name: str) -> None:
    """Let ``make`` be asked again for what is kept under ``name``."""
    db.session.info.get(_KEPT, {}).pop(name, None)


@event.listens_for(db.session, "after_commit")
@event.listens_for(db.session, "after_rollback")
def _end(session: Session) -> None:
    session.info.pop(_NOTES, None)
    session.info.pop(_KEPT, None)


@event.listens_for(db.session, "after_soft_rollback")
def _end_savepoint(session: Session, ended: SessionTransaction) -> None:
    session.info.pop(_KEPT, None)


def advisory_lock(name: str) -> None:
    """Wait until no other transaction has the lock ``name``; this one has it until its end.

    What is read afterwards is what the one before has committed. The lock belongs to the
    transaction, not to the connection, so a pooler between the service and the database may do as
    it likes. SQLite has one writer at a time anyway.
    """
    advisory_locks((name,))


def advisory_locks(names: Iterable[str], *, shared: bool = False) -> None:
    """As ``advisory_lock``, of several names: in one order for everybody.

    Two that take them one by one, each in an order of its own, wait for each other.

    Args:
        shared: with others who share them; only who wants them alone is kept out.
    """
    connection = db.session.connection()
    if connection.dialect.name == "postgresql":
        statement = _SHARE_IN_ORDER if shared else _LOCK_IN_ORDER
        connection.execute(statement, {"names": list(names)})
