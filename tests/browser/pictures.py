"""The pictures of README.md and docs/, made anew: ``make pictures``.

A service of its own with the demonstration company of today is shown in a real browser.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from sqlalchemy import select

from app.auth.users import create_user
from app.db.engines import read_engine
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from app.models.invoice import Invoice
from app.settings import change_settings
from bench.services import service, transaction
from tests.browser.conftest import OPTIONS, PASSWORD, serving, sign_in
from tests.browser.test_api_page import CLIENTS, ApiPage, as_user
from tests.services import SERVICES

FOLDER = Path(__file__).parents[2] / "docs" / "images"
WIDTH, HEIGHT = 1280, 860
# A picture of one of the console's pages: its name, and the page below /admin/.
PAGES = {"console-overview": "", "console-question": "questions?q=Revenue+by+month+this+year"}


def main() -> int:
    """Make each picture, and say where it is."""
    logging.disable(logging.CRITICAL)
    with service() as place:
        with place.app.app_context():
            load_demo_data()
            with transaction(), acting_as(system_caller("cli")):
                create_user(username="admin", email=None, display_name="Administrator",
                            password=PASSWORD, roles=["Admin"])  # fmt: skip
                change_settings("console", {"firstSteps": False})
            invoice = _part_paid()
        with serving(place.app) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=SERVICES["chromium"].url, args=list(OPTIONS)
            )
            page = browser.new_page(
                base_url=address, locale="en-GB", color_scheme="light",
                viewport={"width": WIDTH, "height": HEIGHT},
            )  # fmt: skip
            page.goto("/admin/")
            sign_in(page)
            for name, path in {**PAGES, "console-invoice": f"invoices/{invoice}"}.items():
                page.goto(f"/admin/{path}", wait_until="networkidle")
                _keep(page, name)
            _show_api(page)
            browser.close()
    return 0


def _part_paid() -> int:
    """The newest invoice that has a payment and something left to pay."""
    newest = (
        select(Invoice.id)
        .where(Invoice.status == "PartiallyPaid", Invoice.currency == "EUR")
        .order_by(Invoice.id.desc())
        .limit(1)
    )
    with read_engine().connect() as connection:
        return int(connection.execute(newest).scalar_one())


def _show_api(page: Page) -> None:
    """A list that was asked for on the page of the API."""
    page.set_viewport_size({"width": WIDTH, "height": 1100})
    page.goto("/docs")
    api = ApiPage(page)
    as_user(api)
    api.execute(
        "get", CLIENTS, _filter="status eq 'Active' and revenue gt 100000",
        _orderby="revenue desc", _select="id,name,status,revenue", _top="3",
    )  # fmt: skip
    operation = page.locator(f".opblock-get:has([data-path='{CLIENTS}'])")
    operation.locator(".opblock-summary-control").click()
    operation.locator(".request-url").evaluate("part => part.scrollIntoView()")
    _keep(page, "try-the-api")


def _keep(page: Page, name: str) -> None:
    file = FOLDER / f"{name}.png"
    page.screenshot(path=file)
    print(f"{file.relative_to(Path.cwd())}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
