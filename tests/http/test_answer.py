"""What every answer carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, Response, request
from flask.testing import FlaskClient

from app.http.security import public
from tests.contract.conftest import Api

pytestmark = pytest.mark.only_on("sqlite")
SignIn = Callable[..., Api]


@pytest.mark.requirement("SEC-130", "SEC-131")
@pytest.mark.parametrize("path", ["/healthz", "/api/auth/me", "/nothing", "/odata/nothing"])
def test_security_headers_are_on_every_answer(client: FlaskClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert headers["API-Version"] == "v1"
    assert "Strict-Transport-Security" not in headers
    assert not {"Server", "X-Powered-By", "Set-Cookie"} & set(headers.keys())
    assert not [name for name in headers.keys() if name.startswith("Access-Control-")]  # noqa: SIM118


@pytest.mark.requirement("SEC-130")
def test_behind_tls_browsers_are_told_to_stay_there(client: FlaskClient) -> None:
    answer = client.get("/healthz", base_url="https://localhost")
    assert answer.headers["Strict-Transport-Security"].startswith("max-age=31536000")


@pytest.mark.requirement("SEC-132")
def test_no_origin_is_let_in(client: FlaskClient) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "GET"):
        answer = client.open("/api/auth/login", method=method, headers=headers)
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control-")]


def test_a_page_keeps_its_own_policy_and_an_etag_may_be_kept(
    make_app: Callable[..., Flask], sign_in: SignIn
) -> None:
    app = make_app()

    @public
    def page() -> Response:
        headers = {"Content-Security-Policy": "default-src 'self'", "X-Frame-Options": "SAMEORIGIN"}
        return Response("page", headers=headers)

    app.add_url_rule("/page", view_func=page)
    app.add_url_rule("/api/etag", view_func=lambda: Response("x", headers={"ETag": '"1"'}))
    answer = app.test_client().get("/page")
    assert answer.headers.getlist("Content-Security-Policy") == ["default-src 'self'"]
    assert answer.headers.getlist("X-Frame-Options") == ["SAMEORIGIN"]
    answer = sign_in("Viewer", app).get("/api/etag")
    assert answer.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.requirement("SEC-133")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("abc-123_X.7", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("two words", False),
        ("line\tbreak", False),
        ("ü", False),
        ("<script>", False),
    ],
)
def test_a_harmless_request_id_is_kept_and_another_replaced(
    client: FlaskClient, given: str, kept: bool
) -> None:
    answer = client.get("/healthz", headers={"X-Request-ID": given})
    assert (answer.headers["X-Request-ID"] == given) is kept
    assert len(answer.headers.getlist("X-Request-ID")) == 1


def test_the_api_sets_and_reads_no_cookie(admin: Api) -> None:
    assert "Set-Cookie" not in admin.get("/api/auth/me").headers
    cookie = {"Cookie": f"session={admin.headers['Authorization']}"}
    assert admin.client.get("/api/auth/me", headers=cookie).status_code == 401


@pytest.mark.requirement("INS-08")
def test_forwarding_headers_count_only_behind_a_trusted_proxy(
    make_app: Callable[..., Flask], sign_in: SignIn
) -> None:
    headers = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    for proxies, address, secure in ((0, "127.0.0.1", False), (1, "192.0.2.7", True)):
        app = make_app(TRUSTED_PROXIES=proxies)
        seen: list[Any] = []
        app.before_request(lambda seen=seen: seen.append(request.remote_addr))
        answer = app.test_client().get("/healthz", headers=headers)
        assert seen == [address]
        assert ("Strict-Transport-Security" in answer.headers) is secure
