"""Every page by the keyboard alone: everything is reached, seen when it has the focus, and left."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from tests.browser.company import Company
from tests.browser.conftest import PASSWORD

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]

# Numbers what Tab should reach, in the order of the page; of a group of radio buttons, one.
NUMBER = """() => {
  const groups = new Set();
  const wanted = [...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]'
  )].filter((each) => {
    if (each.disabled || each.tabIndex < 0 || !each.checkVisibility({visibilityProperty: true}))
      return false;
    if (each.type !== 'radio') return true;
    const group = each.name;
    if (groups.has(group)) return false;
    groups.add(group);
    return true;
  });
  wanted.forEach((each, index) => { each.dataset.stop = index; });
  // Tab goes on from here, whatever the page gave the focus to.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  return wanted.length;
}"""
# What has the focus: its number, and what is wrong with how it shows.
LOOK = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const style = getComputedStyle(at), box = at.getBoundingClientRect();
  const inside = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  const name = `${at.tagName} ${at.name || at.textContent.trim().slice(0, 30)}`;
  return {stop: at.dataset.stop ?? '', name, inside, ring};
}"""
MOST_STOPS = 600
RECORD = re.compile(r"/admin/\w+/\d+$")


@pytest.fixture
def company(app: Flask, page: Page) -> Company:
    """Records for every page, made by the administrator of ``page``."""
    return Company(app, PASSWORD)


def test_tab_reaches_everything_on_every_page_and_shows_where_it_is(
    page: Page, company: Company
) -> None:
    wrong = []
    for path in company.pages():
        page.goto(f"/admin/{path}")
        expect(page.locator("[data-part]")).to_have_count(0)  # what follows the page is there
        count = page.evaluate(NUMBER)
        assert 10 < count < MOST_STOPS, path
        page.evaluate("window.scrollTo(0, 0)")
        reached: list[str] = []
        for _ in range(count + 10):
            page.keyboard.press("Tab")
            seen = page.evaluate(LOOK)
            if seen is None or seen["stop"] in reached[:1]:
                break  # the end of the page, or its beginning again
            if not seen["stop"] or reached[-1:] == [seen["stop"]]:
                continue  # a part of a field, such as the day of a date
            reached.append(seen["stop"])
            if not seen["inside"] or not seen["ring"]:
                wrong.append((path, seen["name"], "not seen"))
        missed = {str(stop) for stop in range(count)} - set(reached)
        wrong += [
            (path, page.locator(f"[data-stop='{stop}']").evaluate("e => e.outerHTML"), "missed")
            for stop in sorted(missed)[:3]
        ]
    assert wrong == []


def test_what_was_done_has_the_focus_afterwards(page: Page) -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").fill("Acme")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("Client saved.")


def test_what_was_refused_has_the_focus_afterwards(page: Page, browser: Browser) -> None:
    state = page.context.storage_state()
    # A page that is refused is a line in the console of the browser, too.
    context = browser.new_context(base_url=page.url.partition("/admin")[0], storage_state=state)
    other = context.new_page()
    other.goto("/admin/clients/new")
    other.get_by_label("Name (required)").fill("Acme")
    other.get_by_label("E-mail", exact=True).fill("nonsense")
    other.keyboard.press("Enter")
    expect(other.get_by_role("alert")).to_be_focused()
    expect(other.get_by_label("E-mail", exact=True)).to_have_attribute("aria-invalid", "true")
    context.close()


def test_escape_closes_what_was_opened_and_goes_back_to_where(page: Page, company: Company) -> None:
    page.goto(f"/admin/invoices/{company.invoice}")
    button = page.locator("summary", has_text="Register payment")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Amount")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Amount")).to_be_hidden()
    expect(button).to_be_focused()


def test_escape_closes_the_menu_of_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/admin/")
    page.get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Invoices", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Invoices", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Menu")).to_be_focused()


def test_the_palette_finds_records_pages_and_what_the_page_offers(
    page: Page, company: Company
) -> None:
    page.goto("/admin/clients/")
    page.keyboard.press("Control+k")
    typed = page.get_by_role("combobox", name="Records, pages and actions")
    expect(typed).to_be_focused()
    typed.press_sequentially("new cli")
    expect(page.locator("#palette-found [aria-selected=true]")).to_have_text("New client Action")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/clients/new")
    page.goto("/admin/clients/")
    page.keyboard.press("/")
    typed.press_sequentially("noor")
    record = page.locator("#palette-found li").filter(has_text="Client").first
    expect(record).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(RECORD)
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(typed).to_be_hidden()


def test_the_palette_finds_what_is_in_the_menu_of_a_record_and_its_states(
    page: Page, company: Company
) -> None:
    page.goto(f"/admin/tickets/{company.ticket}")
    typed, offered = page.locator("#palette input"), page.locator("#palette-found li")
    page.keyboard.press("/")
    # What a step asks for, and the menu's own button, are none.
    expect(offered.filter(has_text=re.compile(r"^(Answer|More) "))).to_have_count(0)
    typed.press_sequentially("set to pen")
    expect(offered).to_have_text(["Set to Pending Action"])
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Pending")
    page.keyboard.press("/")
    typed.press_sequentially("delete")
    page.keyboard.press("Enter")
    page.wait_for_url("**/delete")
    page.goto(f"/admin/invoices/{company.invoice}")
    page.keyboard.press("/")
    typed.press_sequentially("void")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Reason (required)")).to_be_visible()


def test_keys_move_in_a_list_make_change_and_tell_themselves(page: Page, company: Company) -> None:
    page.goto("/admin/clients/?sort=name")
    links = page.locator("tbody tr[data-key] td:not(.pick) a:first-child").first
    page.keyboard.press("j")
    expect(links).to_be_focused()
    page.keyboard.press("k")
    expect(links).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(RECORD)
    page.keyboard.press("e")
    page.wait_for_url("**/edit")
    page.get_by_label("Name (required)").press_sequentially("cj/?")  # in a field they are letters
    assert page.url.endswith("/edit")
    page.goto("/admin/clients/")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.get_by_text("Ctrl K")).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("c")
    page.wait_for_url("**/admin/clients/new")
