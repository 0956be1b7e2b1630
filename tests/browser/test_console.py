"""The console in a browser: what people do, at three widths, and what axe finds (WCAG 2.2 AA)."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]

PAGES = ("", "clients/", "clients/1", "clients/1/edit", "leads/new", "api-keys", "users", "audit")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
WIDTHS = (390, 820, 1440)


def make_client(page: Page, name: str = "Acme") -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").fill(name)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(page: Page, scheme: str) -> None:
    make_client(page)
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its words
    found = []
    for path in PAGES:
        page.goto(f"/admin/{path}")
        looked = Axe().run(page, options=RULES).response
        assert len(looked["passes"]) > 10  # it did look
        for violation in looked["violations"]:
            places = [node["html"][:120] for node in violation["nodes"][:3]]
            found.append((path, violation["id"], places))
    assert found == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_screen(page: Page, width: int) -> None:
    make_client(page)
    page.set_viewport_size({"width": width, "height": 800})
    for path in PAGES:
        page.goto(f"/admin/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_client_is_made_and_changed_with_the_keyboard_alone(page: Page) -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").focus()
    page.keyboard.type("Keyboard Ltd")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Keyboard Ltd")
    page.get_by_role("link", name="Change").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name (required)")).to_have_value("Keyboard Ltd")


def test_a_dangerous_step_asks_first(page: Page) -> None:
    make_client(page)
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Acme")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/admin/clients/")
    expect(page.get_by_text("Nothing fits.")).to_be_visible()


def test_only_scopes_of_the_chosen_role_can_be_chosen(page: Page) -> None:
    page.goto("/admin/api-keys")
    page.get_by_text("Make a key").click()
    page.get_by_label("Role").select_option("Viewer")
    expect(page.get_by_label("clients:read").locator("visible=true")).to_have_count(1)
    expect(page.get_by_label("clients:delete").locator("visible=true")).to_have_count(0)


def test_the_menu_opens_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/admin/")
    expect(page.get_by_role("link", name="Invoices")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Invoices").click()
    page.wait_for_url("**/admin/invoices/")
