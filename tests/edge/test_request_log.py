"""The log of requests, with all that secrets can be found in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.security import public
from tests.contract.conftest import PASSWORD, Api

SignIn = Callable[..., Api]


@pytest.mark.only_on("sqlite")
def test_no_request_leaves_a_secret_in_the_log(
    make_app: Callable[..., Flask], sign_in: SignIn, capfd: pytest.CaptureFixture[str]
) -> None:
    app = make_app(LOG_FORMAT="json")
    log: Any = app.extensions["request_log"]
    lines: list[bytes] = []
    log._write = lines.append

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
