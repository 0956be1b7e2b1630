"""Whoever may use an address without signing in is told which methods it takes; nobody else is."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Api


@pytest.mark.parametrize("method", ["TRACE", "PUT", "DELETE"])
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/v1/auth/login", {"POST", "OPTIONS"}),
        ("/api/auth/refresh", {"POST", "OPTIONS"}),
        ("/healthz", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_a_public_address_names_its_methods(
    anonymous: Api, method: str, path: str, allowed: set[str]
) -> None:
    answer = anonymous.send(method, path)

    assert answer.status_code == 405
    assert answer.json["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert {name.strip() for name in answer.headers["Allow"].split(",")} == allowed


@pytest.mark.parametrize("path", ["/api/v1/auth/me", "/api/v1/admin/users", "/odata/Clients", "/x"])
def test_any_other_address_asks_who_calls_first(anonymous: Api, path: str) -> None:
    assert anonymous.send("TRACE", path).status_code == 401
