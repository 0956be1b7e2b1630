"""Specification sections 7 to 9: errors, limits, versions."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import KeepApp
from tests.contract.conftest import Api


def test_a_validation_error_names_the_fields(admin: Api) -> None:
    answer = admin.post("/odata/Clients", {"email": "not an address", "revenue": -1})
    assert answer.status_code == 400
    error = answer.json["error"]
    assert error["code"] == "VALIDATION_ERROR"
    assert {detail["field"] for detail in error["details"]} == {"name", "email", "revenue"}
    assert all(detail["message"] for detail in error["details"])


def test_no_permission_403_and_unknown_404(admin: Api, sign_in: Callable[..., Api]) -> None:
    viewer = sign_in("Viewer")
    refused = viewer.post("/odata/Clients", {"name": "x"})
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "FORBIDDEN")
    missing = viewer.get("/odata/Clients(999999)")
    assert (missing.status_code, missing.json["error"]["code"]) == (404, "NOT_FOUND")


def test_a_bad_query_names_the_position(admin: Api) -> None:
    answer = admin.get("/odata/Clients?$filter=name eq")
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == "INVALID_QUERY"
    assert answer.json["error"]["position"] == 7


def test_exactly_100_requests_a_minute_for_a_user(
    keep_app: KeepApp, sign_in: Callable[..., Api]
) -> None:
    viewer = sign_in("Viewer", keep_app(RATE_LIMIT_USER="100/minute"))
    answers = [viewer.get("/api/auth/me") for _ in range(105)]
    assert [answer.status_code for answer in answers] == [200] * 100 + [429] * 5
    assert [answers[0].headers["RateLimit-Limit"], answers[0].headers["RateLimit-Remaining"]] == [
        "100", "99",
    ]  # fmt: skip
    refused = answers[-1]
    assert refused.json["error"]["code"] == "RATE_LIMITED"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_v1_and_the_bare_path_are_the_same(admin: Api) -> None:
    bare, versioned = admin.get("/api/auth/me"), admin.get("/api/v1/auth/me")
    assert bare.json == versioned.json
    assert bare.headers["API-Version"] == versioned.headers["API-Version"] == "v1"
    assert admin.get("/odata/v1/Clients").status_code == 200
