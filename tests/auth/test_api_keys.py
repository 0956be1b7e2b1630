"""When and from where a key was last used: noted after the answer, and never in its way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.auth import api_keys as noting
from app.auth.api_keys import NEW_USE_AFTER, KeyUse, key_use
from app.clock import utc_now
from app.db.engines import transaction
from app.models.event import AuditRecord
from app.models.user import ApiKey
from tests.conftest import KeepApp
from tests.contract.conftest import Api
from tests.databases import AWAY
from tests.factories import put_row, rows


@pytest.fixture(autouse=True)
def nothing_noted(app: Flask) -> Iterator[None]:
    """The keys of a test have the numbers of those of the one before."""
    before = key_use.of(app)
    key_use.bind(app, KeyUse(app))
    yield
    key_use.bind(app, before)


@pytest.fixture
def key(admin: Api) -> dict[str, Any]:
    made = admin.post("/api/admin/api-keys", {"name": "ERP", "role": "Viewer"})
    assert made.status_code == 201, made.text
    return dict(made.json)


def use(admin: Api, key: dict[str, Any], address: str = "192.0.2.7") -> None:
    headers, environ = {"X-API-Key": key["key"]}, {"REMOTE_ADDR": address}
    with admin.client.get(
        "/api/auth/me", headers=headers, environ_base=environ, buffered=True
    ) as answer:
        assert answer.status_code == 200


def last_use(admin: Api, key: dict[str, Any]) -> tuple[str | None, str | None]:
    shown = admin.get(f"/api/admin/api-keys/{key['id']}").json
    return shown["lastUsedAt"], shown["lastUsedIp"]


def test_use_is_written_once_a_minute(
    admin: Api, key: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert last_use(admin, key) == (None, None)
    use(admin, key)
    first = last_use(admin, key)
    assert first[0] is not None and first[1] == "192.0.2.7"
    use(admin, key, "192.0.2.8")
    assert last_use(admin, key) == first
    monkeypatch.setattr(noting, "WRITE_EVERY_SECONDS", 0)
    use(admin, key, "192.0.2.8")
    later = last_use(admin, key)
    assert later[0] is not None and later[0] >= first[0] and later[1] == "192.0.2.8"


def test_the_audit_log_has_the_first_use_and_one_after_a_long_silence(
    admin: Api, app: Flask, key: dict[str, Any], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noting, "WRITE_EVERY_SECONDS", 0)
    for _ in range(2):
        use(admin, key)
    with app.app_context(), transaction():
        put_row(ApiKey, key["id"], last_used_at=utc_now() - NEW_USE_AFTER - timedelta(seconds=1))
    for _ in range(2):
        use(admin, key)
    noted = select(AuditRecord).where(AuditRecord.action == "api_key.used")
    uses = session.connection().execute(noted).all()
    assert [(row.entity_id, row.via, row.ip) for row in uses] == [
        (key["id"], "apiKey", "192.0.2.7")
    ] * 2  # fmt: skip


def test_a_use_that_cannot_be_written_harms_nobody(
    admin: Api, app: Flask, key: dict[str, Any], keep_app: KeepApp
) -> None:
    key_use.bind(app, KeyUse(keep_app(SQLALCHEMY_DATABASE_URI=AWAY)))
    use(admin, key)
    with app.app_context():
        (row,) = rows(ApiKey, id=key["id"])
    assert row["last_used_at"] is None
