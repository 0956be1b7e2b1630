"""The trash shows what can still be restored, to those who may."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.clock import utc_now
from app.db.engines import transaction
from app.documents.service import DOCUMENTS, TRASH_DAYS, list_trash
from app.errors import ForbiddenError
from app.http.security import Caller, acting_as, system_caller
from tests.factories import make_document, make_user, put


def deleted(days: float, name: str) -> int:
    """A document that was deleted so many days ago."""
    key = make_document(name=name)
    DOCUMENTS.delete(key)
    put("Document", key, deleted_at=utc_now() - timedelta(days=days))
    return key


def test_the_last_deleted_is_first_and_what_is_too_old_is_not_there(app: Flask) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        with transaction():
            kept = make_document()
            older, newer = deleted(TRASH_DAYS - 0.1, "older.pdf"), deleted(1, "newer.pdf")
            gone = deleted(TRASH_DAYS + 0.1, "gone.pdf")
        page, second = list_trash(limit=10, offset=0), list_trash(limit=1, offset=1)
    shown = page["items"]
    assert [item["id"] for item in shown] == [newer, older]
    assert not {kept, gone} & {item["id"] for item in shown}
    assert [item["name"] for item in shown] == ["newer.pdf", "older.pdf"]
    for item in shown:
        assert item["until"] - item["deletedAt"] == timedelta(days=TRASH_DAYS)
        assert item["until"] > utc_now()
    assert page["total"] == 2
    assert [item["id"] for item in second["items"]] == [older]


@pytest.mark.parametrize("role", ["Manager", "Sales", "Viewer"])
def test_it_is_shown_to_those_who_may_restore(admin: Caller, role: str) -> None:
    with acting_as(make_user(role)), pytest.raises(ForbiddenError):
        list_trash(limit=10, offset=0)
