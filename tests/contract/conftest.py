"""Callers for the contract tests: an administrator, a role's user, an API key, all over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_jwt_extended import decode_token
from werkzeug.test import TestResponse

from app.auth.tokens import make_access_token
from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.conftest import Once

PASSWORD = "correct horse battery staple"
THREADS = 8


@dataclass
class Api:
    """A signed-in caller: ``api.get("/odata/Clients")``."""

    client: FlaskClient
    headers: dict[str, str]

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.send("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.send("POST", path, json=body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> TestResponse:
        return self.send("PATCH", path, json=body, **options)

    def put(self, path: str, body: Any, **options: Any) -> TestResponse:
        return self.send("PUT", path, json=body, **options)

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self.send("DELETE", path, **options)

    def send(self, method: str, path: str, **options: Any) -> TestResponse:
        headers = {**self.headers, **options.pop("headers", {})}
        if options.get("json", ...) is None:
            del options["json"]
        answer = self.client.open(path, method=method, headers=headers, **options)
        if answer.status_code in (204, 304):  # a client that goes by the type reads no body
            assert "Content-Type" not in answer.headers, (method, path)
        return answer


@pytest.fixture
def sign_in(app: Flask, once: Once) -> Callable[..., Api]:
    """Make a user with a role and log in: ``sign_in("Sales")``, to another ``app`` if given."""

    def make(role: str, app: Flask = app) -> Api:
        claims = once(("sign in", role), partial(_log_in, app, role))
        with app.app_context():
            token = make_access_token(int(claims["sub"]), claims["sid"])
        return Api(app.test_client(), {"Authorization": f"Bearer {token}"})

    return make


def _log_in(app: Flask, role: str) -> dict[str, str]:
    """The claims of the token of a new user."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username=role.lower(),
            email=f"{role.lower()}@example.com",
            display_name=role,
            password=PASSWORD,
            roles=[role],
        )
    answer = app.test_client().post(
        "/api/auth/login", json={"username": role.lower(), "password": PASSWORD}
    )
    assert answer.status_code == 200, answer.text
    with app.app_context():
        claims: dict[str, str] = decode_token(answer.json["accessToken"])
    return claims


@pytest.fixture
def admin(sign_in: Callable[..., Api]) -> Api:
    """A signed-in administrator."""
    return sign_in("Admin")


@pytest.fixture
def at_once(app: Flask, admin: Api) -> Callable[..., list[Any]]:
    """``at_once(lambda api, number: ..., 20)`` gives the answers of as many callers."""

    def run(ask: Callable[[Api, int], Any], count: int) -> list[Any]:
        def one(number: int) -> Any:
            return ask(Api(app.test_client(), admin.headers), number)

        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(one, range(count)))

    return run


def statuses(answers: list[Any]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


@pytest.fixture
def anonymous(app: Flask) -> Api:
    """Nobody."""
    return Api(app.test_client(), {})
