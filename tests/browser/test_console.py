"""The console in a browser: what people do, with the keyboard too, with scripts and without."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import sign_in

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]


def make_client(page: Page, name: str = "Acme") -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").fill(name)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def test_a_client_is_made_and_changed_with_the_keyboard_alone(page: Page) -> None:
    page.goto("/admin/clients/new")
    page.get_by_label("Name (required)").focus()
    page.keyboard.type("Keyboard Ltd")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Keyboard Ltd")
    page.get_by_role("link", name="Change").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name (required)")).to_have_value("Keyboard Ltd")


def test_a_deletion_is_in_the_menu_and_tells_what_goes_along(page: Page) -> None:
    make_client(page)
    page.get_by_role("link", name="New contact").click()
    page.get_by_label("Last name (required)").fill("Ada")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Acme").click()
    page.get_by_text("More", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Delete").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 contact,")).to_be_visible()
    page.get_by_role("link", name="Keep it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Acme")
    page.goto(f"{page.url}/delete")
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/admin/clients/")
    expect(page.get_by_text("There is nothing here yet.")).to_be_visible()


def test_only_scopes_of_the_chosen_role_can_be_chosen(page: Page) -> None:
    page.goto("/admin/api-keys")
    page.get_by_text("New key").click()
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


def test_a_webhook_is_made_with_the_keyboard_and_its_secret_copied(page: Page) -> None:
    page.goto("/admin/webhooks")
    page.get_by_text("Add a webhook").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Address").focus()
    page.keyboard.type("https://example.com/hook")
    page.get_by_label("Everything", exact=True).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_text("shown this once")).to_be_visible()
    expect(page.locator(".secret")).to_contain_text("whsec_")


def test_a_question_is_asked_and_gone_on_with_from_the_keyboard(page: Page) -> None:
    make_client(page)
    page.goto("/admin/questions")
    expect(page.locator("main :focus")).to_be_editable()  # the field has it by itself
    page.keyboard.type("How many clients are there?")
    page.keyboard.press("Enter")
    # The first question of a process loads its words: on a busy host that takes its time.
    expect(page.locator(".answer")).to_contain_text("1", timeout=30_000)
    page.get_by_label("Go on").focus()
    page.keyboard.type("only active ones")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Asked before")).to_contain_text("How many clients")


def test_an_answer_of_the_assistant_grows_and_is_confirmed(page: Page) -> None:
    page.goto("/admin/assistant")
    expect(page.locator("main :focus")).to_be_editable()
    page.keyboard.type("Create a task to call Eva tomorrow")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("executed")).to_be_visible()
    page.goto("/admin/tasks/")
    expect(page.get_by_role("link", name="Call Eva", exact=True)).to_be_visible()


def test_a_file_says_how_far_it_is_and_lands_on_its_page(page: Page) -> None:
    page.goto("/admin/documents/upload")
    file = {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Dear reader"}
    page.get_by_label("File, up to").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("letter.txt")
    expect(page.get_by_role("link", name="Download", exact=True)).to_be_visible()


def test_a_file_to_import_stays_chosen_until_its_columns_are_named(page: Page) -> None:
    page.goto("/admin/imports")
    rows = {"name": "k.csv", "mimeType": "text/csv", "buffer": b"Partner\nAcme\nBeta\n"}
    page.get_by_label("CSV or Excel").set_input_files(rows)  # type: ignore[arg-type]
    page.get_by_role("button", name="Try it").click()
    page.get_by_label("Partner").select_option("name")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="2 created")).to_be_visible()


def test_the_overview_follows_what_happens_without_a_reload(page: Page) -> None:
    page.clock.install()
    page.goto("/admin/")
    expect(page.get_by_role("row", name="New")).to_have_count(0)
    other = page.context.new_page()
    other.goto("/admin/leads/new")
    other.get_by_label("Company").fill("Acme")
    other.get_by_label("Last name").fill("Ada")
    other.get_by_role("button", name="Save").click()
    other.wait_for_url("**/admin/leads/*")
    page.bring_to_front()
    page.clock.run_for(31_000)
    expect(page.get_by_role("link", name="New", exact=True)).to_be_visible()


def test_the_first_stop_of_the_keyboard_skips_to_the_content(page: Page) -> None:
    page.goto("/admin/clients/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_everything_can_be_done_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/admin/assistant")
    sign_in(page)
    page.get_by_label("What do you want").fill("Create a task to call Eva tomorrow")
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("executed")).to_be_visible()
    page.goto("/admin/documents/upload")
    file = {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Dear reader"}
    page.get_by_label("File, up to").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("letter.txt")
    context.close()
