"""A real browser before a real server: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.services import SERVICES

# What axe looks for: WCAG 2.2 AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
PASSWORD = "correct horse battery staple"
# Without these it looks for updates and mirrors that a closed network refuses one by one.
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


@pytest.fixture(scope="module")  # its event loop must not run beside other tests
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=SERVICES["chromium"].url, args=list(OPTIONS)
        )
        yield chromium
        chromium.close()


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """Where the service answers, with some records and an administrator."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username="admin", email=None, display_name="Admin", password=PASSWORD,
            roles=["Admin"],
        )  # fmt: skip
    with serving(app) as place:
        yield place


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """``with serving(app) as address:``, on a port of its own."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def sign_in(page: Page, name: str = "admin") -> None:
    """Fill the form of signing in, which any page of the console shows to a stranger."""
    page.locator("#username").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.locator("button.main").click()


@contextmanager
def opened(browser: Browser, address: str, problems: list[str]) -> Iterator[Page]:
    """A page of a fresh profile; a problem in its scripts, or one added by a listener, fails."""
    context = browser.new_context(base_url=address)
    made = context.new_page()
    made.on("pageerror", lambda error: problems.append(str(error)))
    yield made
    context.close()
    assert problems == []


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page of a fresh profile, signed in; a problem in its scripts fails the test."""
    problems: list[str] = []
    with opened(browser, address, problems) as made:
        made.on(
            "console", lambda line: problems.append(line.text) if line.type == "error" else None
        )
        made.goto("/admin/")
        sign_in(made)
        made.wait_for_url("**/admin/")
        yield made
