"""What is noted of the running transaction of ``db.session``, and forgotten when it ends."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session

from app.extensions import db

_NOTES = "notes"


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


@event.listens_for(db.session, "after_commit")
@event.listens_for(db.session, "after_rollback")
def _end(session: Session) -> None:
    session.info.pop(_NOTES, None)
