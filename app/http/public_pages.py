"""Pages for people without an account: nothing runs on them, nobody indexes or keeps them."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import Any

from flask import Response, current_app, render_template
from jinja2 import Environment

LAYOUT = "public.html"


def public_page(template: str, status: int = 200, **values: Any) -> Response:
    """The page that ``template``, which extends the layout, makes of ``values``."""
    response = Response(render_template(template, **values), status)
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    response.headers["Content-Security-Policy"] = _policy(current_app.jinja_env)
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


@cache
def _policy(environment: Environment) -> str:
    """No script at all, of styles only the layout's own, and pictures that the page brings."""
    source = environment.loader.get_source(environment, LAYOUT)[0]  # type: ignore[union-attr]
    (style,) = re.findall(r"<style>(.*?)</style>", source, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    )
