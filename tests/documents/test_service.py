"""Documents: metadata, the trash, retention, and links that stop."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.clock import utc_now
from app.db import records
from app.documents.service import DOCUMENTS
from app.errors import (
    ForbiddenError,
    InUseError,
    InvalidStateError,
    NotFoundError,
    ValidationError,
)
from app.http.security import Caller, acting_as
from app.models.document import DocumentShare
from tests.factories import (
    audit_actions,
    create,
    event_names,
    make_document,
    make_user,
    put,
    rows,
    stored,
    today,
    update,
)


@pytest.fixture
def shared(admin: Caller) -> int:
    """An active document with a live link."""
    key = make_document()
    put("Document", key, status="Active", is_shared=True)
    records.insert(
        DocumentShare.__table__,
        {
            "created_at": utc_now(), "document_id": key, "token_hash": f"hash {key}",
            "expires_at": utc_now() + timedelta(days=7),
        },
    )  # fmt: skip
    return key


def is_revoked(key: int) -> bool:
    return rows(DocumentShare, document_id=key)[0]["revoked_at"] is not None


def test_metadata_comes_before_the_file(admin: Caller) -> None:
    key = make_document()
    row = stored("Document", key)
    assert (row["status"], row["file_version"], row["size"]) == ("Pending", 0, None)
    assert event_names("Document", key) == []
    assert audit_actions("Document", key) == ["document.created"]


def test_a_deleted_document_lies_in_the_trash(shared: int) -> None:
    DOCUMENTS.delete(shared)
    row = stored("Document", shared)
    assert (row["status"], row["status_before_deletion"], row["is_shared"]) == (
        "Deleted", "Active", False,
    )  # fmt: skip
    assert row["deleted_at"] is not None
    assert is_revoked(shared)
    assert event_names("Document", shared) == ["document.share_revoked", "document.deleted"]
    for write in (
        lambda: update("Document", shared, name="A"),
        lambda: DOCUMENTS.delete(shared),
    ):
        with pytest.raises(NotFoundError):
            write()
    with pytest.raises(ValidationError):
        create("Task", {"title": "A", "related_type": "Document", "related_id": shared})


def test_an_administrator_restores_it_as_it_was(shared: int) -> None:
    DOCUMENTS.delete(shared)
    with acting_as(make_user("Manager")), pytest.raises(ForbiddenError):
        DOCUMENTS.restore(shared)
    DOCUMENTS.restore(shared)
    row = stored("Document", shared)
    assert (row["status"], row["deleted_at"], row["status_before_deletion"]) == (
        "Active", None, None,
    )  # fmt: skip
    assert event_names("Document", shared)[-2:] == ["document.restored", "document.updated"]
    assert is_revoked(shared)
    with pytest.raises(InvalidStateError):
        DOCUMENTS.restore(shared)
    with pytest.raises(NotFoundError):
        DOCUMENTS.restore(987_654)


def test_after_thirty_days_it_is_too_late(shared: int) -> None:
    DOCUMENTS.delete(shared)
    put("Document", shared, deleted_at=utc_now() - timedelta(days=30, minutes=1))
    with pytest.raises(InvalidStateError, match="30 days"):
        DOCUMENTS.restore(shared)


def test_a_retained_document_stays(admin: Caller) -> None:
    key = make_document(retain_until=today())
    with pytest.raises(InUseError) as refused:
        DOCUMENTS.delete(key)
    assert refused.value.details[0].field == "retainUntil"
    update("Document", key, retain_until=today() + timedelta(days=5))
    for earlier in (None, today()):
        with pytest.raises(ValidationError):
            update("Document", key, retain_until=earlier)
    put("Document", key, retain_until=today() - timedelta(days=1))
    DOCUMENTS.delete(key)


def test_links_of_what_is_archived_stop(shared: int) -> None:
    update("Document", shared, status="Archived")
    assert is_revoked(shared)
    assert stored("Document", shared)["is_shared"] is False
    update("Document", shared, status="Active")
    assert is_revoked(shared)


@pytest.mark.parametrize("status", ["Pending", "Archived", "Quarantined"])
def test_any_state_can_be_deleted_and_comes_back(admin: Caller, status: str) -> None:
    key = make_document()
    put("Document", key, status=status)
    DOCUMENTS.delete(key)
    DOCUMENTS.restore(key)
    assert stored("Document", key)["status"] == status


@pytest.mark.parametrize("values", [{"status": "Deleted"}, {"status": "Active"}])
def test_states_of_files_are_not_set_by_hand(admin: Caller, values: dict[str, Any]) -> None:
    with pytest.raises(InvalidStateError, match=r"Only the operation (DELETE|upload)"):
        update("Document", make_document(), **values)
