"""OpenUI5's ODataModel V4 in headless Chromium; its files are served from ``node_modules``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Route, sync_playwright

HERE = Path(__file__).parent
SOURCES = HERE / "node_modules" / "@openui5" / "sap.ui.core" / "src"


def main() -> None:
    root = os.environ["SERVICE_ROOT"]
    parts = urlsplit(root)
    origin = f"{parts.scheme}://{parts.netloc}"
    batches: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(extra_http_headers={"X-API-Key": os.environ["API_KEY"]})
        page.on("request", lambda one: batches.append(one.url) if "$batch" in one.url else None)
        page.route(f"{origin}/ui5/**", lambda route: _serve(route, origin))
        page.goto(f"{origin}/ui5/page.html")
        page.wait_for_function("() => Boolean(window.sap && sap.ui && sap.ui.require)")
        page.evaluate((HERE / "steps.js").read_text(encoding="utf-8"), "/odata/")
        browser.close()
    assert batches, "requests come in batches"


def _serve(route: Route, origin: str) -> None:
    """A file of the page's own folder, or of OpenUI5."""
    path = route.request.url.removeprefix(f"{origin}/ui5/").partition("?")[0]
    file = HERE / path
    if path.startswith("resources/"):
        file = SOURCES / path.removeprefix("resources/")
    if file.is_file():
        route.fulfill(path=file)
    else:
        route.fulfill(status=404)


if __name__ == "__main__":
    main()
