"""Every page of the console: what axe finds (WCAG 2.2 AA), its width and its weight."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Page

from tests.browser.company import Company
from tests.browser.conftest import PASSWORD

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
WIDTHS = (390, 820, 1440)
MOST_BYTES = 150_000


@pytest.fixture
def company(app: Flask, page: Page) -> Company:
    """Records for every page, made by the administrator of ``page``."""
    return Company(app, PASSWORD)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(page: Page, company: Company, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its words
    found = []
    for path in company.pages():
        page.goto(f"/admin/{path}")
        # What is folded away is looked at, too.
        page.evaluate("document.querySelectorAll('main details').forEach(e => e.open = true)")
        looked = Axe().run(page, options=RULES).response
        assert len(looked["passes"]) > 10, path  # it did look
        for violation in looked["violations"]:
            places = [node["html"][:160] for node in violation["nodes"][:3]]
            found.append((path, violation["id"], places))
    assert found == []


def test_no_page_is_wider_than_the_screen(page: Page, company: Company) -> None:
    wide = []
    for path in company.pages():
        page.goto(f"/admin/{path}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                wide.append((path, width))
    assert wide == []


def test_no_page_is_heavy_and_none_fails(page: Page, company: Company) -> None:
    assert len(company.pages()) == len(set(company.pages()))
    for path in company.pages():
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert (path, answer.status) == (path, 200)
        assert len(answer.body()) < MOST_BYTES, path
