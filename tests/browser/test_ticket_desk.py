"""A ticket in a browser: taken, answered with a canned text, kept as a draft, solved."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import sign_in

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]


def make_ticket(page: Page, subject: str = "Broken pump") -> str:
    page.goto("/admin/tickets/new")
    page.get_by_label("Subject (required)").fill(subject)
    page.get_by_label("Description").fill("It hums, and nothing comes.")
    page.get_by_label("Requester e-mail").fill("eva@example.com")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(subject)
    return page.url


def test_a_ticket_is_taken_and_solved_with_a_canned_answer(page: Page) -> None:
    address = make_ticket(page)
    page.get_by_role("button", name="Assign to me").click()
    expect(page.get_by_text("The ticket is yours.")).to_be_visible()
    page.get_by_label("Canned answer").select_option("Solved")
    expect(page.get_by_label("Answer or note")).to_have_value(
        "Hello eva@example.com,\n\n\u201cBroken pump\u201d should be solved now. If it is not,"
        " simply answer to this message.\n\nAdmin"
    )
    page.goto("/admin/queue")  # the draft stays
    page.get_by_role("link", name="Broken pump").click()
    expect(page.get_by_label("Answer or note")).not_to_have_value("")
    page.get_by_role("button", name="Answer and solve").click()
    expect(page.get_by_text("Answered, and set to Solved.")).to_be_visible()
    expect(page.get_by_label("Answer or note")).to_have_value("")
    page.goto(address)
    expect(page.get_by_label("Answer or note")).to_have_value("")
    expect(page.locator(".talk")).to_contain_text("It hums, and nothing comes.")


def test_a_draft_is_nobody_elses(page: Page) -> None:
    address = make_ticket(page)
    page.get_by_label("Answer or note").fill("Not finished")
    page.get_by_role("button", name="Sign out").click()
    page.goto(address)
    sign_in(page)
    expect(page.get_by_label("Answer or note")).to_have_value("")


def test_a_ticket_is_answered_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/admin/tickets/new")
    sign_in(page)
    make_ticket(page)
    page.get_by_label("Canned answer").select_option("Received")
    page.get_by_role("button", name="Take").click()
    expect(page.get_by_label("Answer or note")).to_have_value("""Hello eva@example.com,

thank you for your message. We are looking into it and will come back to you.

Admin""")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.get_by_text("Answered.")).to_be_visible()
    page.get_by_role("link", name="Show articles and tickets like it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("What may help")
    context.close()
