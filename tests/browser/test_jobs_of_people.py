"""What people come for, from the first click to the last: a lead that pays in the end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PASSWORD, sign_in
from tests.browser.tasks import TASKS, Hands, counts_said, prepare
from tests.kb.conftest import index

__all__ = ["index"]

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]


def said(page: Page, text: str) -> None:
    """The page tells what was done."""
    expect(page.get_by_role("status").filter(has_text=text)).to_be_visible()


def save(page: Page) -> None:
    page.get_by_role("button", name="Save").click()


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
@pytest.mark.parametrize("role", ["Sales", "Accountant", "Support"])
def test_a_task_takes_as_many_clicks_and_keys_as_the_guide_says(
    browser: Browser, app: Flask, address: str, index: Callable[[], None], role: str, language: str
) -> None:
    with app.app_context():
        prepare(role)
    index()
    context = browser.new_context(base_url=address, locale=language)
    context.set_default_timeout(9_000)
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/admin/")
    sign_in(page, role.lower())
    taken = {}
    for each in TASKS:
        if each.role == role:
            page.goto("/admin/")
            hands = Hands(page)
            each.do(hands)
            expect(page.locator("html")).to_have_attribute("lang", language[:2])
            taken[each.name] = (hands.clicks, hands.keys, hands.letters)
    context.close()
    said = counts_said()
    assert said.keys() == {each.name for each in TASKS}
    assert taken == {name: said.get(name) for name in taken}


def test_a_lead_becomes_a_client_who_pays_an_invoice(page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/admin/leads/")
    page.get_by_role("link", name="New lead").click()
    page.get_by_label("Last name").fill("Berg")
    page.get_by_label("Company").fill("Acme GmbH")
    page.get_by_label("E-mail", exact=True).fill("office@acme.example")
    save(page)
    said(page, "Lead saved.")
    page.get_by_role("button", name="Qualified", exact=True).click()
    said(page, "Lead: Qualified.")
    page.get_by_role("link", name="Convert to client").click()
    page.get_by_role("button", name=re.compile("Convert")).click()
    page.goto("/admin/clients/")
    page.get_by_role("link", name="Acme GmbH", exact=True).click()
    page.get_by_role("link", name="New opportunity").first.click()
    page.get_by_label("Name (required)").fill("Rollout")
    page.get_by_label("Amount").fill("12.000,50")
    save(page)
    page.get_by_role("button", name="Proposal", exact=True).click()
    said(page, "Opportunity: Proposal.")
    page.get_by_role("link", name="Acme GmbH", exact=True).click()
    page.get_by_role("link", name="New invoice").click()
    page.get_by_label("Description of line 1").fill("Consulting")
    page.get_by_label("Quantity of line 1").fill("2")
    page.get_by_label("Unit price of line 1").fill("100")
    page.get_by_role("button", name="Add a line").click()
    page.get_by_label("Description of line 4").fill("Travel")
    page.get_by_label("Unit price of line 4").fill("50")
    save(page)
    said(page, "Invoice saved: total 297.50 EUR.")
    expect(page.get_by_role("img", name="First page of")).to_be_visible()
    page.get_by_role("link", name="Send by e-mail").click()
    page.get_by_role("button", name="Issue and send").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sent")
    page.locator("summary", has_text="Register payment").click()
    expect(page.get_by_label("Amount")).to_have_value("297.50")
    page.get_by_role("button", name="Register payment").click()
    said(page, "Payment registered: 297.50 EUR.")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Paid")


def test_a_client_is_chosen_from_what_is_suggested(page: Page) -> None:
    for name in ("Acme", "Beta"):
        page.goto("/admin/clients/new")
        page.get_by_label("Name (required)").fill(name)
        save(page)
    page.goto("/admin/contacts/new")
    page.get_by_label("Last name").fill("Berg")
    field = page.get_by_label("Client", exact=True)
    field.press_sequentially("bet")
    expect(page.locator("datalist option[value='Beta (C-000002)']")).to_have_count(1)
    field.fill("Beta (C-000002)")
    save(page)
    expect(page.get_by_role("link", name="Beta")).to_be_visible()


def test_a_ticket_is_answered_and_an_article_published(page: Page) -> None:
    page.goto("/admin/tickets/new")
    page.get_by_label("Subject").fill("Printer is silent")
    save(page)
    page.get_by_label("Answer or note").fill("Have you tried the switch?")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.get_by_role("article").get_by_text("Have you tried the switch?")).to_be_visible()
    page.goto("/admin/kbarticles/new")
    page.get_by_label("Title").fill("A silent printer")
    page.get_by_label("Body (required)").fill("Press **the switch**.")
    save(page)
    for state in ("In Review", "Published"):
        page.get_by_role("button", name=f"Set to {state}", exact=True).click()
        said(page, f"Article: {state}.")
    expect(page.locator("article strong")).to_have_text("the switch")


def test_a_key_is_shown_once_and_works(page: Page) -> None:
    page.goto("/admin/api-keys")
    page.get_by_text("New key").click()
    page.get_by_label("Name (required)").fill("ERP")
    page.get_by_label("Role").select_option("Viewer")
    page.get_by_label("clients:read").locator("visible=true").check()
    page.get_by_role("button", name="Create").click()
    key = page.locator(".secret").inner_text()
    answer = page.request.get("/odata/Clients", headers={"X-API-Key": key})
    assert answer.status == 200
    page.goto("/admin/api-keys")
    expect(page.locator(".secret")).to_have_count(0)
    assert key not in page.content()


def test_a_user_is_made_and_signs_in(page: Page, browser: Browser) -> None:
    page.goto("/admin/users")
    page.get_by_text("New user").click()
    page.get_by_label("User name").fill("eva")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Viewer").check()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("link", name="eva")).to_be_visible()
    other = browser.new_context(base_url=page.url.partition("/admin")[0]).new_page()
    other.goto("/admin/")
    sign_in(other, "eva")
    expect(other.get_by_role("heading", name="Overview")).to_be_visible()
    expect(other.get_by_role("link", name="Users")).to_have_count(0)
    other.context.close()


def test_leaving_a_changed_form_asks_first(page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").press_sequentially("Acme")
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/admin/clients/")
    assert asked == ["beforeunload"]


@pytest.mark.parametrize(
    ("language", "amount", "day", "button"),
    [
        ("de-DE", "1.234,50", "01.03.2026", "Speichern"),
        ("en-GB", "1,234.50", "1 Mar 2026", "Save"),
    ],
)
def test_money_and_days_are_written_as_the_reader_does(
    browser: Browser, address: str, language: str, amount: str, day: str, button: str
) -> None:
    context = browser.new_context(base_url=address, locale=language)
    page = context.new_page()
    page.goto("/admin/clients/new")
    sign_in(page)
    page.locator("[name=name]").fill("Acme")
    page.get_by_role("button", name=button).click()
    page.goto("/admin/opportunities/new?clientId=1")
    page.locator("[name=name]").fill("Deal")
    page.locator("[name=amount]").fill(amount)
    page.locator("[name=closeDate]").fill("2026-03-01")
    page.get_by_role("button", name=button).click()
    expect(page.locator("dd", has_text=amount).first).to_be_visible()
    expect(page.locator("time", has_text=day).first).to_be_visible()
    context.close()
