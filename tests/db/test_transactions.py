"""What is done by itself is committed at once, or within a savepoint with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import audit
from app.db.engines import primary_engine
from app.db.transactions import by_itself, has_begun, trial
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.models.event import AuditRecord


@pytest.fixture(autouse=True)
def context(app: Flask) -> Iterator[None]:
    with app.app_context(), acting_as(system_caller("test")):
        yield
        db.session.rollback()


def committed() -> int:
    """Records of what was tried, as others see them."""
    statement = select(func.count()).select_from(AuditRecord).where(AuditRecord.action == "tried")
    with primary_engine().connect() as connection:
        return connection.execute(statement).scalar_one()


def attempt(*, fails: bool) -> None:
    with by_itself():
        audit.record("tried")
        if fails:
            raise ValueError


def test_it_is_committed_at_once_and_what_fails_is_undone() -> None:
    attempt(fails=False)
    with pytest.raises(ValueError):
        attempt(fails=True)
    db.session.rollback()
    assert committed() == 1


def test_a_trial_undoes_each_at_once_and_ends_with_itself() -> None:
    with trial():
        for fails in (False, True):
            with suppress(ValueError):
                attempt(fails=fails)
            assert not has_begun()  # nor is a lock held
        audit.record("tried")
    assert committed() == 0
    with pytest.raises(ValueError), trial():
        raise ValueError
    attempt(fails=False)
    assert committed() == 1


@pytest.mark.parametrize("is_kept", [True, False])
def test_within_a_savepoint_it_is_committed_with_the_rest(is_kept: bool) -> None:
    savepoint = db.session.begin_nested()
    attempt(fails=False)
    with pytest.raises(ValueError):
        attempt(fails=True)
    if is_kept:
        savepoint.commit()
        db.session.commit()
    db.session.rollback()
    assert committed() == (1 if is_kept else 0)
