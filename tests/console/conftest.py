"""Browsers for the console: a client that is signed in, and sends the forms of its pages."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.auth.users import create_user
from app.console.session import ROOT, TOKEN
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.conftest import Once
from tests.kb.conftest import index

__all__ = ["index"]

PASSWORD = "correct horse battery staple"
COOKIE = "console"


class Browser:
    """A signed-in client; ``submit`` sends a form as the page that it was on would."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def get(self, path: str) -> TestResponse:
        return self.client.get(f"/admin/{path}")

    def token(self) -> str:
        """What a form of this session sends along, without asking for a page that has one."""
        with self.client.session_transaction(f"{ROOT}/") as session:
            token: str = session[TOKEN]
            return token

    def submit(self, path: str, **fields: Any) -> TestResponse:
        return self.client.post(f"/admin/{path}", data={"csrf": self.token(), **fields})

    def make(self, path: str, **fields: Any) -> int:
        """Make a record by its form; returns its key."""
        answer = self.submit(f"{path}/new", **fields)
        assert answer.status_code == 303, answer.text
        return int(answer.headers["Location"].rpartition("/")[2])


class SignIn(Protocol):
    """``sign_in("Sales")``, and into another application where one is given."""

    def __call__(self, role: str, into: Flask | None = None) -> Browser: ...


@pytest.fixture
def sign_in(app: Flask, once: Once) -> SignIn:
    """``sign_in("Sales")``: a browser in which a new user with this role is signed in."""

    def begin(role: str, into: Flask | None = None) -> Browser:
        cookie = once(("sign in to the console", role), partial(_sign_in, app, role))
        client = (into or app).test_client()
        client.set_cookie(COOKIE, cookie, path=ROOT)
        return Browser(client)

    return begin


def _sign_in(app: Flask, role: str) -> str:
    """The cookie of a new user."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username=role.lower(), email=None, display_name=role, password=PASSWORD, roles=[role]
        )
    client = app.test_client()
    form = {"username": role.lower(), "password": PASSWORD}
    answer = client.post(f"{ROOT}/sign-in", data=form)
    assert answer.status_code == 303, answer.text
    cookie = client.get_cookie(COOKIE, path=ROOT)
    assert cookie is not None
    return cookie.value
