"""The address that links begin with."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from app.http.links import service_root


def environ(host: str, scheme: str = "http", port: str = "8000", **more: str) -> dict[str, Any]:
    return {"wsgi.url_scheme": scheme, "HTTP_HOST": host, "SERVER_PORT": port, **more}


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "192.168.1.20:8000",
        "app.localhost", socket.gethostname(),
    ],
)  # fmt: skip
def test_a_host_that_is_this_machine_is_used(host: str) -> None:
    assert service_root(environ(host), None) == f"http://{host}"


@pytest.mark.requirement("SEC-78")
@pytest.mark.parametrize(
    "host",
    [
        "", "evil.example", "evil.example:8000", "localhost.evil.example", "localhost@evil.example",
        "localhost/evil", "localhost?x", "localhost#x", "localhost:x", "[::1", "localhost:99999",
        "127.0.0.1.evil.example", "localhost\\evil", "a b", "ü",
    ],
)  # fmt: skip
def test_any_other_host_is_left_out(host: str) -> None:
    assert service_root(environ(host), None) == "http://localhost:8000"
    assert service_root(environ(host, "https", "443"), None) == "https://localhost"


@pytest.mark.requirement("SEC-78")
def test_no_forwarding_header_is_looked_at() -> None:
    asked = environ("localhost:8000", HTTP_X_FORWARDED_HOST="evil.example", HTTP_FORWARDED="host=e")
    assert service_root(asked, None) == "http://localhost:8000"


def test_the_setting_decides() -> None:
    assert service_root(environ("evil.example"), "https://p.example.com") == "https://p.example.com"
