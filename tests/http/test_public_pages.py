"""A page for people without an account runs nothing, and takes its styles from itself alone."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from flask import Flask

from app.http.public_pages import LAYOUT, public_page

pytestmark = pytest.mark.only_on("sqlite")


def directives(policy: str) -> dict[str, list[str]]:
    """Name -> sources."""
    return {name: sources for name, *sources in (part.split() for part in policy.split("; "))}


def test_the_styles_of_a_page_are_those_that_its_policy_allows(app: Flask) -> None:
    with app.test_request_context("/s/x"):
        page = public_page(LAYOUT)
    allowed = directives(page.headers["Content-Security-Policy"])
    (style,) = re.findall(r"<style>(.*?)</style>", page.get_data(as_text=True), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert allowed["style-src"] == [f"'sha256-{digest}'"]
    assert allowed["default-src"] == ["'none'"] and "script-src" not in allowed
    assert allowed["frame-ancestors"] == allowed["base-uri"] == ["'none'"]
    assert "<script" not in page.get_data(as_text=True)


@pytest.mark.parametrize("status", [200, 404, 410])
def test_nobody_indexes_it_whatever_became_of_it(app: Flask, status: int) -> None:
    with app.test_request_context("/s/x"):
        page = public_page(LAYOUT, status)
    assert (page.status_code, page.content_type) == (status, "text/html; charset=utf-8")
    assert page.headers["X-Robots-Tag"] == "noindex, nofollow"
