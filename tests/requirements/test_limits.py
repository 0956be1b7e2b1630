"""What a refused request costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event

from app.db.engines import read_engine
from app.extensions import db
from tests.contract.conftest import Api

SignIn = Callable[..., Api]


@pytest.mark.requirement("RATE-04")
def test_a_refused_request_asks_the_database_for_nothing_but_its_epoch(
    make_app: Callable[..., Flask], sign_in: SignIn
) -> None:
    app = make_app(RATE_LIMIT_USER="3/minute")
    user = sign_in("Viewer", app)
    asked: list[Any] = []
    with app.app_context():
        engines = {db.engine, read_engine()}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert [user.get("/odata/Clients").status_code for _ in range(3)] == [200] * 3
    assert asked
    asked.clear()
    for _ in range(5):
        answer = user.get("/odata/Clients?$filter=contains(name,'x')&$expand=*")
        assert answer.status_code == 429
        assert answer.json["error"]["code"] == "RATE_LIMITED"
    # Whether the credential still holds is asked before who calls is counted (docs/adr/0003).
    assert [text for text in asked if "PRAGMA" not in text and "epoch" not in text] == []
