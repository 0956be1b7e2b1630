"""The log of requests, with all that secrets can be found in."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import text

from app.db import records
from app.http.security import public
from app.logs import request_log
from tests.contract.conftest import PASSWORD, Api

SignIn = Callable[..., Api]


@pytest.mark.requirement("SEC-137")
@pytest.mark.only_on("sqlite")
def test_no_request_leaves_a_secret_in_the_log(
    make_app: Callable[..., Flask], sign_in: SignIn, capfd: pytest.CaptureFixture[str]
) -> None:
    app = make_app(LOG_FORMAT="json")
    lines: list[bytes] = []
    request_log.of(app).write_line = lines.append

    @public
    def share(token: str) -> dict[str, str]:
        return {}

    app.add_url_rule("/s/<token>", view_func=share)
    admin = sign_in("Admin", app)
    made = admin.post("/api/admin/api-keys", {"name": "ERP", "role": "Viewer"})
    client = app.test_client()
    key = made.json["key"]
    client.get("/api/auth/me", headers={"X-API-Key": key})
    client.get(f"/api/auth/me?api_key={key}")
    client.get("/api/auth/me", headers={"X-API-Key": key[:-1] + "_"})
    client.get("/s/very-secret-share-token")
    client.post("/api/auth/login", json={"username": "admin", "password": "wrong-" + PASSWORD})
    captured = capfd.readouterr()
    written = b"".join(lines).decode() + captured.err + captured.out
    token = admin.headers["Authorization"].split()[1]
    for secret in (PASSWORD, key, key[18:40], token, "very-secret-share-token"):
        assert secret not in written
    routes = [json.loads(line)["route"] for line in lines]
    assert "/s/<token>" in routes
    assert json.loads(lines[-1])["status"] == 401


def test_what_a_statement_was_given_is_not_logged_when_it_fails(
    make_app: Callable[..., Flask], sign_in: SignIn, capfd: pytest.CaptureFixture[str]
) -> None:
    app = make_app()
    secret = "hunter" + str(2)  # a traceback shows the lines of the source

    def through_sqlalchemy() -> None:
        statement = text("INSERT INTO no_such_table VALUES (:secret)")
        records.connection().execute(statement, {"secret": secret})

    def through_the_driver() -> None:
        records.connection().exec_driver_sql(
            "INSERT INTO no_such_table VALUES ('x')", {"secret": secret}
        )

    for view in (through_sqlalchemy, through_the_driver):
        app.add_url_rule(f"/api/{view.__name__}", view_func=view)
    user = sign_in("Viewer", app)
    for view in (through_sqlalchemy, through_the_driver):
        assert user.get(f"/api/{view.__name__}").status_code == 500
    logged = capfd.readouterr().err
    assert logged.count("no_such_table") >= 2
    assert secret not in logged
