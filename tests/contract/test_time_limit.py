"""The limit of time of a read is no limit of what its connection does next."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import text

from app.extensions import db
from app.odata.reading import statement
from tests.contract.conftest import Api

MANY_STEPS = text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)"
    " SELECT count(*) FROM n"
)


def test_long_work_after_a_read(app: Flask, admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement, "LONGEST_SECONDS", -1)
    created = admin.post("/odata/Clients", {"name": "Acme"})
    assert created.status_code == 201

    with app.app_context():
        assert db.session.execute(MANY_STEPS).scalar() == 400_000
