"""The first steps: what is done is seen from what is there; only that they are closed is kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask

from app.auth.api_keys import create_api_key
from app.auth.users import create_user
from app.db.engines import transaction
from app.demo.load import SETTINGS
from app.http.security import acting_as, system_caller
from app.invoices.logo import save_logo
from app.settings import change_settings
from app.webhooks.endpoints import register_endpoint
from tests.admin.test_logo import picture
from tests.console.conftest import PASSWORD, Browser, SignIn
from tests.factories import make_invoice, make_issued_invoice

NAMES = ["Company", "Logo", "Bank", "Users", "First invoice", "API key", "Webhook"]


def steps(browser: Browser) -> dict[str, bool]:
    """Name -> whether it is done, as the first page lists them."""
    items = re.findall(r"<li( class=\"done\")?><span class=\"tick\".*?<a [^>]*>([^<]+)",
                       browser.get("").text)  # fmt: skip
    return {name: bool(done) for done, name in items}


def do(app: Flask, name: str) -> None:
    """What the step is about, by the service that does it everywhere."""
    work: dict[str, Callable[[], object]] = {
        "Company": lambda: change_settings("seller", SETTINGS["seller"]),
        "Logo": lambda: save_logo(picture()),
        "Bank": lambda: change_settings("bank", SETTINGS["bank"]),
        "Users": lambda: create_user(
            username="eva", email=None, display_name="Eva", password=PASSWORD, roles=["Sales"]
        ),
        "First invoice": make_issued_invoice,
        "API key": lambda: create_api_key(name="ERP", role="Viewer", scopes=["clients:read"]),
        "Webhook": lambda: register_endpoint(
            url="https://example.com/hook", patterns=["*"], description=None
        ),
    }
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        work[name]()


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_done_by_doing_it(app: Flask, sign_in: SignIn, name: str) -> None:
    browser = sign_in("Admin")
    before = steps(browser)
    assert before == dict.fromkeys(NAMES, False)
    do(app, name)
    assert steps(browser) == before | {name: True}


def test_the_list_goes_when_all_is_done(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    for name in NAMES:
        assert "First steps" in browser.get("").text
        do(app, name)
    assert "First steps" not in browser.get("").text


def test_a_draft_is_no_first_invoice(app: Flask, sign_in: SignIn) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_invoice()
    assert steps(sign_in("Admin"))["First invoice"] is False


def test_each_step_leads_to_where_it_is_done(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = browser.get("").text
    links = re.findall(r'<li><span class="tick".*?<a href="/admin/([^"]+)"', page)
    assert len(links) == len(NAMES)
    for link in links:
        assert browser.get(link).status_code == 200


def test_closed_they_stay_away_until_they_are_asked_for(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    assert browser.submit("first-steps").headers["Location"] == "/admin/"
    page = browser.get("").text
    assert "The first steps are closed." in page and 'id="first-steps"' not in page
    version = re.search(r'name="version" value="([^"]+)"', browser.get("settings/console").text)
    assert version is not None
    browser.submit("settings/console", firstSteps="true", version=version[1])
    assert steps(browser) == dict.fromkeys(NAMES, False)


@pytest.mark.parametrize("role", ["Manager", "Sales", "Accountant", "Support", "Viewer"])
def test_who_cannot_take_them_sees_none(sign_in: SignIn, role: str) -> None:
    browser = sign_in(role)
    assert 'id="first-steps"' not in browser.get("").text
    assert browser.submit("first-steps").status_code == 403
