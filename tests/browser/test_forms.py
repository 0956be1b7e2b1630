"""Forms in a browser: totals while lines are typed, two people at one record, an ended session."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import opened, sign_in
from tests.browser.test_console import make_client

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page that is signed in; a refusal is no noise here."""
    with opened(browser, address, []) as made:
        made.goto("/admin/")
        sign_in(made)
        made.wait_for_url("**/admin/")
        yield made


def test_totals_follow_the_lines_that_are_typed_and_the_letter_is_filled_in(page: Page) -> None:
    make_client(page)
    page.get_by_role("link", name="New invoice").click()
    page.get_by_label("Description of line 1").fill("Work")
    page.get_by_label("Quantity of line 1").fill("3")
    page.get_by_label("Unit price of line 1").fill("10")
    expect(page.locator("#totals")).to_contain_text("35.70 EUR")
    page.get_by_label("Unit price of line 1").fill("20")
    expect(page.locator("#totals")).to_contain_text("71.40 EUR")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Send by e-mail").click()
    expect(page.get_by_label("Subject")).to_have_value(re.compile(r"INV-\d{4}-00001"))
    page.get_by_label("To", exact=True).fill("eva@example.com")
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    page.get_by_role("button", name="Issue and send").click()
    expect(page.get_by_role("status")).to_contain_text("goes to eva@example.com")
    assert "Issue as INV-" in asked[0]


def test_all_that_is_wrong_is_told_at_once_at_its_field_in_the_language_of_the_page(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(base_url=address, locale="de-DE")
    page = context.new_page()
    page.goto("/admin/opportunities/new")
    sign_in(page)
    page.get_by_role("button", name="Speichern").click()
    for name in ("name", "clientId"):
        expect(page.locator(f"#f-{name}-p")).to_have_text("ist erforderlich")
    page.goto("/admin/projects/new")
    page.locator("#f-name").fill("Rollout")
    for name in ("startDate", "endDate"):
        page.locator(f"#f-{name}").press("3")
    page.get_by_role("button", name="Speichern").click()
    for name in ("startDate", "endDate"):
        expect(page.locator(f"#f-{name}-p")).to_contain_text("unvollständig")
    expect(page.locator("#f-startDate")).to_be_focused()
    expect(page.locator("#f-name")).to_have_value("Rollout")
    page.locator("#f-startDate").fill("2026-03-01")
    expect(page.locator("#f-startDate-p")).to_have_count(0)
    context.close()


def test_the_second_of_two_people_chooses(page: Page) -> None:
    make_client(page)
    address = page.url
    page.get_by_role("link", name="Change").click()
    other = page.context.new_page()
    other.goto(f"{address}/edit")
    other.get_by_label("Name (required)").fill("Theirs")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("heading", level=1)).to_contain_text("Theirs")
    page.get_by_label("Name (required)").fill("Mine")
    page.get_by_label("Notes").fill("A thought")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("saved this record meanwhile")
    expect(page.get_by_label("Name (required)")).to_have_value("Mine")
    page.get_by_label("Take this one").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Theirs")
    expect(page.get_by_text("A thought").first).to_be_visible()


def test_what_was_typed_outlives_the_session(page: Page) -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").fill("Long thought about")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    sign_in(page)
    page.get_by_role("button", name="Back to the form").click()
    expect(page.get_by_label("Name (required)")).to_have_value("Long thought about")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Long thought about")


def is_kept(page: Page, text: str) -> None:
    """Wait until a form is kept with this in it: a policy forbids to wait inside the page."""
    for _ in range(100):
        if text in page.evaluate("JSON.stringify(localStorage)"):
            return
        page.wait_for_timeout(50)
    raise AssertionError(text)


def test_a_form_that_was_closed_by_mistake_comes_back_until_it_is_saved(page: Page) -> None:
    make_client(page)
    page.goto("/admin/invoices/new")
    page.get_by_label("Client (required)").fill("Acme")
    for line in range(1, 6):
        if line > 3:
            page.get_by_role("button", name="Add a line").click()
        page.get_by_label(f"Description of line {line}").fill(f"Part {line}")
        page.get_by_label(f"Unit price of line {line}").fill("10")
    is_kept(page, "line.4.unitPrice=10")
    again = page.context.new_page()
    page.close(run_before_unload=False)
    again.goto("/admin/invoices/new")
    again.get_by_role("button", name="Bring it back").click()
    expect(again.get_by_label("Description of line 5")).to_have_value("Part 5")
    again.get_by_role("button", name="Save").click()
    expect(again.get_by_role("status")).to_contain_text("59.50 EUR")
    again.goto("/admin/invoices/new")
    expect(again.get_by_role("button", name="Bring it back")).to_be_hidden()
    again.locator("#f-notes").fill("Never mind")
    is_kept(again, "Never+mind")
    again.on("dialog", lambda dialog: dialog.accept())
    again.reload()
    again.get_by_role("button", name="Forget it").click()
    again.reload()
    expect(again.get_by_role("button", name="Bring it back")).to_be_hidden()


def test_no_step_of_a_record_opens_beyond_the_screen(page: Page) -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").fill("Acme")
    page.get_by_role("button", name="Save").click()
    page.goto("/admin/opportunities/new?clientId=1")
    page.get_by_label("Name (required)").fill(
        "A deal whose name is so long that its steps begin a line"
    )
    page.get_by_role("button", name="Save").click()
    for width in (860, 1000, 1200, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        for summary in page.locator("main .head details.step:not(.menu .step) > summary").all():
            summary.click()
            page.wait_for_function(
                "width => document.documentElement.scrollWidth <= width", arg=width, timeout=5000
            )
            summary.click()
