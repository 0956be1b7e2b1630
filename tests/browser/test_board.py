"""The board in a browser: deals are dragged by mouse and moved by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]


def made(page: Page) -> None:
    """A deal of 1,000 in the first stage."""
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").fill("Acme")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="New opportunity").first.click()
    page.get_by_label("Name (required)").fill("Rollout")
    page.get_by_label("Amount").fill("1000")
    page.get_by_role("button", name="Save").click()


def stage(page: Page, name: str) -> Locator:
    return page.locator(f".stage[data-stage={name}]")


def test_a_deal_is_dragged_and_the_move_undone(page: Page) -> None:
    made(page)
    page.goto("/admin/opportunities/board")
    page.locator(".deal").drag_to(stage(page, "Proposal"))
    expect(stage(page, "Proposal").get_by_role("link", name="Rollout")).to_be_visible()
    expect(page.locator(".deal")).to_be_focused()
    page.get_by_role("button", name="Undo: Rollout back to Prospecting").click()
    expect(stage(page, "Prospecting").get_by_role("link", name="Rollout")).to_be_visible()


def test_a_deal_is_won_by_keyboard_alone(page: Page) -> None:
    made(page)
    page.goto("/admin/opportunities/board")
    page.locator(".deal").focus()
    for name in ("Qualification", "Proposal", "Negotiation"):
        page.keyboard.press("Alt+ArrowRight")
        expect(stage(page, name).get_by_role("link", name="Rollout")).to_be_visible()
    page.keyboard.press("Alt+ArrowRight")
    expect(page.get_by_role("heading", name="Mark as won")).to_be_visible()
    page.get_by_role("button", name="Mark as won").click()
    expect(
        page.get_by_role("status").filter(has_text="Rollout: Won, 1,000.00 EUR.")
    ).to_be_visible()


def test_a_drop_among_the_lost_asks_why(page: Page) -> None:
    made(page)
    page.goto("/admin/opportunities/board")
    page.locator(".deal").drag_to(stage(page, "ClosedLost"))
    page.get_by_label("Why it was lost").select_option("Price")
    page.get_by_role("button", name="Mark as lost").click()
    expect(stage(page, "ClosedLost").get_by_role("link", name="Rollout")).to_be_visible()
