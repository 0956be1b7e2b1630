"""Lists worked with in a real browser: conditions, saved views, many records at once, a phone."""

from __future__ import annotations

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.browser.conftest import opened, sign_in
from tests.factories import create, make_client

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]


@pytest.fixture
def tickets(app: Flask) -> list[int]:
    """Five tickets of Polaris."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        given = {"channel": "Web", "requester_email": "a@example.com",
                 "client_id": make_client(name="Polaris")}  # fmt: skip
        return [create("Ticket", {"subject": f"Printer {n}", **given}) for n in range(5)]


def test_a_condition_is_added_by_keyboard_kept_as_a_view_and_taken_away(
    page: Page, tickets: list[int]
) -> None:
    page.goto("/admin/tickets/")
    page.get_by_label("Filter by").select_option("clientId")
    page.get_by_role("button", name="Add", exact=True).press("Enter")
    page.get_by_label("Value").fill("Polaris")
    page.get_by_label("Value").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("of 5")
    page.get_by_role("link", name="Columns and views").press("Enter")
    page.get_by_label("Save this list as").fill("Of Polaris")
    page.get_by_role("button", name="Save view").press("Enter")
    expect(page.get_by_role("link", name="Of Polaris")).to_have_attribute("aria-current", "page")
    page.get_by_role("link", name="Remove: Client is Polaris").press("Enter")
    expect(page.get_by_role("link", name="Remove: ")).to_have_count(0)


def test_a_range_is_chosen_set_to_a_state_and_undone(page: Page, tickets: list[int]) -> None:
    page.goto("/admin/tickets/?sort=number")
    boxes = page.locator("input[name=key]")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(page.locator("[data-picked]")).to_have_text("3 chosen")
    page.locator("#action").select_option("me")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Assign to me: 3 tickets")
    page.get_by_role("button", name="Assign to me").click()
    expect(page.get_by_role("status")).to_contain_text("3 done, 0 refused")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undone")


def test_a_value_is_changed_in_its_place_by_keyboard(
    browser: Browser, address: str, tickets: list[int]
) -> None:
    with opened(browser, address, []) as page:
        page.goto("/admin/")
        sign_in(page)
        page.goto("/admin/tickets/?sort=number")
        row = page.locator("tr[data-key]").nth(1)
        row.get_by_role("link", name="T-000002").focus()
        page.keyboard.press("e")
        field = page.locator("td.open").get_by_label("Subject")
        expect(field).to_be_focused()
        field.fill("")
        field.press("Enter")
        expect(page.locator("td.open p.wrong")).to_have_text("is required")
        page.keyboard.press("Escape")
        cell = row.locator("[data-edit=subject]")
        expect(cell).to_be_focused()
        expect(cell).to_have_text("Printer 1")
        cell.press("Enter")
        field.fill("Scanner")
        field.press("Enter")
        expect(cell).to_have_text("Scanner")
        expect(cell).to_be_focused()
        expect(page.get_by_role("status").first).to_contain_text("Subject changed.")
        cell.press("ArrowRight")
        page.keyboard.press("Enter")
        client = page.locator("td.open").get_by_label("Client")
        expect(client).to_have_value("Polaris (C-000001)")


def test_a_value_is_changed_without_scripts_by_its_form(
    browser: Browser, address: str, tickets: list[int]
) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/admin/")
    sign_in(page)
    page.goto("/admin/tickets/")
    page.get_by_role("link", name="Change Printer 3").click()
    expect(page.get_by_label("Subject")).to_have_value("Printer 3")
    context.close()


def test_rows_are_cards_on_a_phone(page: Page, tickets: list[int]) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/admin/tickets/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    region = page.locator(".scroll").first
    assert region.evaluate("each => each.scrollWidth <= each.clientWidth")
    expect(page.get_by_role("link", name="Polaris").first).to_be_visible()
