"""Every route of the service, one after the other: its headers, its cookies, its policy."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.architecture.test_routes import address, rules
from tests.contract.conftest import PASSWORD, Api

pytestmark = pytest.mark.only_on("sqlite")

# Whatever ends the session or the account that asks.
ENDS = re.compile(r"logout|sign-out|/auth/password")
INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)[^>]*>|\son\w+\s*=\s*[\"']|javascript:|<style[ >]", re.I
)
# The pages for strangers have their own style in them, named by its hash or nonce in the policy.
HASHED = re.compile(r"style-src [^;]*'(sha256|nonce)-")


@pytest.fixture
def console(app: Flask, admin: Api) -> FlaskClient:
    """A browser in which an administrator is signed in."""
    browser = app.test_client()
    form = browser.get("/admin/sign-in").text
    token = re.search(r'name="csrf" value="([^"]+)"', form)
    body = {"username": "admin", "password": PASSWORD, "csrf": token[1] if token else ""}
    answer = browser.post("/admin/sign-in", data=body)
    assert answer.status_code == 303, answer.text
    return browser


@pytest.fixture(scope="module")
def kept_answers() -> list[tuple[str, TestResponse]]:
    return []


@pytest.fixture
def answers(
    app: Flask, admin: Api, console: FlaskClient, made: dict[str, int],
    kept_answers: list[tuple[str, TestResponse]],
) -> list[tuple[str, TestResponse]]:  # fmt: skip
    """Of all routes that read, each with its path, asked once for all tests."""
    if not kept_answers:
        kept_answers += everything(app, admin, console)
    return kept_answers


def everything(app: Flask, api: Api, console: FlaskClient) -> Iterator[tuple[str, TestResponse]]:
    """An answer of each route that reads: with a token, with none, and in the console."""
    for rule in rules(app):
        if "GET" not in (rule.methods or ()) or ENDS.search(rule.rule) or "stream" in rule.rule:
            continue
        path = address(rule)
        yield path, api.get(path, buffered=True)
        yield path, api.client.get(path, headers={"Accept": "text/html"}, buffered=True)
        if path.startswith("/admin"):
            yield path, console.get(path, buffered=True)


@pytest.mark.requirement("SEC-130", "SEC-131", "SEC-132", "SEC-133", "SEC-191")
def test_every_answer_has_the_headers_and_lets_no_origin_in(
    answers: list[tuple[str, TestResponse]],
) -> None:
    for path, answer in answers:
        headers = answer.headers
        assert answer.status_code < 500, (path, answer.text[:200])
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] in ("no-referrer", "same-origin"), path
        assert headers["X-Request-ID"], path
        assert headers.get("Cache-Control"), path
        assert not [name for name, _ in headers if name.startswith("Access-Control-")], path
        assert not {"Server", "X-Powered-By"} & {name for name, _ in headers}, path
        assert len(headers.getlist("Content-Security-Policy")) == 1, path
    assert len(answers) > 300


@pytest.mark.requirement("SEC-130")
def test_every_page_runs_the_services_own_files_alone(
    answers: list[tuple[str, TestResponse]],
) -> None:
    pages = 0
    for path, answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        directives = {words[0]: words[1:] for part in policy.split(";") if (words := part.split())}
        assert "frame-ancestors" in directives or "sandbox" in directives, (path, policy)
        script = directives.get("script-src", directives.get("default-src", ["missing"]))
        assert set(script) <= {"'self'", "'none'"}, (path, policy)
        assert "'unsafe-inline'" not in policy and "'unsafe-eval'" not in policy, (path, policy)
        assert not re.search(r"https?:|\*|data:(?![^;]*img)", re.sub(r"img-src[^;]*", "", policy))
        if not answer.content_type.startswith("text/html"):
            continue
        pages += 1
        found = INLINE.findall(answer.text)
        if HASHED.search(policy):
            found = [one for one in found if not one.lower().startswith("<style")]
        assert found == [], (path, found)
        for name in re.findall(r"(?:src|<link[^>]*href)=\"([^\"]+)\"", answer.text):
            assert not name.startswith(("http:", "https:", "//")), (path, name)
    assert pages > 20


@pytest.mark.requirement("SEC-130")
def test_cookies_are_for_the_console_and_for_no_script(
    app: Flask, answers: list[tuple[str, TestResponse]]
) -> None:
    for path, answer in answers:
        for cookie in answer.headers.getlist("Set-Cookie"):
            assert path.startswith("/admin"), path
            assert "HttpOnly" in cookie and "SameSite=" in cookie and "Path=/admin" in cookie
    secure = app.test_client().get("/admin/sign-in", base_url="https://localhost")
    for cookie in secure.headers.getlist("Set-Cookie"):
        assert "Secure" in cookie
