"""Every page of the console: what axe finds (WCAG 2.2 AA), its width, weight and quiet."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Page

from tests.browser.company import Company
from tests.browser.conftest import PASSWORD, RULES

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.only_on("sqlite")]

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
        # What sticks to the foot of the window covers nothing at the end of the page.
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
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


# What is wider than its place and can neither be scrolled to by a key nor typed into.
CUT = """() => [...document.querySelectorAll('main *')].filter(e => {
  const style = getComputedStyle(e);
  return e.clientWidth > 1 && style.overflowX !== 'visible' && style.clipPath === 'none'
    && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 && !e.querySelector('a, button, input')
}).map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_nothing_is_cut_and_lists_fit_a_desk(page: Page, company: Company, language: str) -> None:
    page.set_extra_http_headers({"Accept-Language": language})
    cut: list[tuple[object, ...]] = []
    for path in company.pages():
        page.goto(f"/admin/{path}")
        page.set_viewport_size({"width": 390, "height": 800})
        cut += [(path, part) for part in page.evaluate(CUT)]
        table = page.locator("main .scroll").first
        if path.endswith("/") and table.count():
            for width in (1440, 1366):
                page.set_viewport_size({"width": width, "height": 800})
                wide = table.evaluate("part => part.scrollWidth - part.clientWidth")
                cut += [(path, width, wide)] if wide else []
    assert cut == []


def test_no_page_is_heavy_noisy_or_asks_elsewhere(
    page: Page, company: Company, address: str
) -> None:
    assert len(company.pages()) == len(set(company.pages()))
    noise: list[tuple[str, str]] = []
    files: dict[str, int] = {}
    page.on("console", lambda line: noise.append((page.url, line.text)))
    page.on("request", lambda sent: noise.append((page.url, sent.url)) if not sent.url.startswith(
        (f"{address}/", "data:")) else None)  # fmt: skip
    for path in company.pages():
        answer = page.goto(f"/admin/{path}", wait_until="networkidle")
        assert answer is not None
        assert (path, answer.status) == (path, 200)
        policy = answer.header_value("content-security-policy") or ""
        assert "default-src 'none'" in policy and "unsafe" not in policy, path
        for asset in page.eval_on_selector_all(
            "link[rel=stylesheet], script[src]", "all => all.map(e => e.href || e.src)"
        ):
            files.setdefault(asset, len(page.request.get(asset).body()))
        assert page.locator("style, script:not([src]), [style], [onclick]").count() == 0, path
        assert len(answer.body()) + sum(files.values()) < MOST_BYTES, path
    assert noise == []
