"""Reading the business's own sets as any caller, inside one transaction that is rolled back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.container.model import container
from app.db import records
from app.errors import ApiError
from app.http.security import Caller, make_caller
from app.odata.protocol.request import ReadRequest
from app.odata.reading.reader import Reader
from tests.business import admin
from tests.contract.conftest import sign_in

__all__ = ["admin", "sign_in"]

Read = Callable[..., tuple[int, Any]]


@pytest.fixture
def read(app: Flask, admin: Caller) -> Read:
    """``read("Clients?$top=1", caller)`` gives the status and what the JSON says."""
    reader = Reader(container(), "a key for the tokens of these tests only")

    def answer(address: str, caller: Caller = admin) -> tuple[int, Any]:
        path, _, query = address.partition("?")
        try:
            found = reader.read(
                ReadRequest(path, query, "http://x/odata/"), caller, records.connection()
            )
        except ApiError as error:
            return error.status, error.to_odata()["error"]
        if not found.body:
            return found.status, None
        is_json = dict(found.headers)["Content-Type"].startswith("application/json")
        return found.status, json.loads(found.body) if is_json else found.body.decode()

    return answer


def with_rights(user_id: int = 7, **rights: str) -> Caller:
    """A caller with these rights: ``with_rights(clients_read="own")``."""
    named = {name.replace("_", ":", 1): scope for name, scope in rights.items()}
    return make_caller(user_id, "someone", "jwt", named)
