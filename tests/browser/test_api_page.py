"""What a new user tries on the page of the API: from signing in to a deleted client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Browser, Page

from app.auth.api_keys import create_api_key
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.browser.conftest import PASSWORD, RULES, opened

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]

Authorize = Callable[["ApiPage"], None]
CLIENTS = "/odata/Clients"
CLIENT = "/odata/Clients({id})"


class ApiPage:
    """The page, an operation at a time."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def authorize(self, scheme: str, value: str) -> None:
        """Enter ``value`` for ``scheme`` behind "Authorize"."""
        self.page.get_by_role("button", name="Authorize", exact=True).first.click()
        dialog = self.page.locator(".auth-container").filter(has_text=scheme)
        dialog.locator("input").fill(value)
        dialog.get_by_role("button", name="Apply credentials").click()
        self.page.get_by_role("button", name="Close", exact=True).last.click()

    def execute(
        self, method: str, path: str, body: object = None, **parameters: str
    ) -> tuple[int, Any]:
        """Open an operation, fill it, run it; returns the status and the body that are shown."""
        tag = self.tag(method, path)
        if tag.get_attribute("data-is-open") != "true":
            tag.click()
        found = self.page.locator(f".opblock-{method}:has([data-path='{path}'])")
        found.locator(".opblock-summary-control").click()
        for name, value in parameters.items():
            row = found.locator(f"tr[data-param-name='{name.replace('_', '$')}']")
            row.locator("input").fill(value)
        if body is not None:
            found.locator("textarea.body-param__text").fill(json.dumps(body))
        found.get_by_role("button", name="Execute").click()
        shown = found.locator(".live-responses-table tbody")
        status = int(shown.locator(".response-col_status").first.inner_text().split()[0])
        text = shown.locator(".highlight-code code").first
        answer = json.loads(text.inner_text()) if text.count() and status != 204 else None
        found.locator(".opblock-summary-control").click()
        return status, answer

    def tag(self, method: str, path: str) -> Any:
        """The heading under which an operation is."""
        document = self.page.request.get("/openapi.json").json()
        (tag,) = document["paths"][path][method]["tags"]
        return self.page.locator(f"h3.opblock-tag[data-tag='{tag}']")


@pytest.fixture
def api_page(browser: Browser, address: str) -> Iterator[ApiPage]:
    with opened(browser, address, []) as page:
        page.goto("/docs")
        yield ApiPage(page)


def as_user(api_page: ApiPage) -> None:
    """Sign in on the page itself and use the token that it shows."""
    status, answer = api_page.execute(
        "post", "/api/v1/auth/login", {"username": "admin", "password": PASSWORD}
    )
    assert status == 200
    api_page.authorize("bearerAuth", answer["accessToken"])


@pytest.fixture
def as_program(app: Flask) -> Authorize:
    """Use an API key."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        key = create_api_key(name="ERP", role="Admin").key

    def enter(api_page: ApiPage) -> None:
        api_page.authorize("apiKeyAuth", key)

    return enter


@pytest.mark.parametrize("caller", ["user", "program"])
def test_a_client_from_its_creation_to_its_end(
    api_page: ApiPage, as_program: Authorize, caller: str
) -> None:
    (as_user if caller == "user" else as_program)(api_page)
    body = {"name": "Acme GmbH", "email": "office@acme.example", "revenue": 120000}
    status, made = api_page.execute("post", CLIENTS, body)
    assert (status, made["name"]) == (201, "Acme GmbH")
    status, found = api_page.execute(
        "get", CLIENTS, _filter="revenue gt 1000", _expand="Contacts,Invoices", _select="id,name"
    )
    (client,) = found["value"]
    assert (status, client["name"], client["Contacts"]) == (200, "Acme GmbH", [])
    key = str(made["id"])
    status, changed = api_page.execute("patch", CLIENT, {"status": "Inactive"}, id=key)
    assert (status, changed["status"]) == (200, "Inactive")
    assert api_page.execute("delete", CLIENT, id=key) == (204, None)
    assert api_page.execute("get", CLIENT, id=key)[0] == 404


def test_axe_finds_nothing_on_the_page(api_page: ApiPage) -> None:
    api_page.page.locator("#servers").wait_for()
    found = Axe().run(api_page.page, options=RULES).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


def test_the_page_leads_to_the_guide(api_page: ApiPage) -> None:
    guide = api_page.page.get_by_role("link", name="guide", exact=True)
    with api_page.page.context.expect_page() as opened_page:
        guide.click()
    opened_page.value.wait_for_url("**/docs/guide**")
