"""The page of a public link: what it gives, or what is wrong with it; nothing on it runs."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import datetime
from functools import cache
from typing import Any

from flask import Response, current_app, render_template
from jinja2 import Environment

from app.documents.serving import Asked
from app.documents.sharing.visits import Visit
from app.documents.versions import FileVersion

TEMPLATE = "share.html"
_UNITS = ("KB", "MB", "GB")


def wants_page(asked: Asked, accept: Any) -> bool:
    """Whether somebody looks at the link with a browser; programs get the bytes."""
    return asked.method in ("GET", "HEAD") and bool(
        accept.best_match(("application/octet-stream", "text/html")) == "text/html"
    )


def file_page(visit: Visit, file: FileVersion) -> Response:
    """What lies behind the link, and a button to save it."""
    left = None
    if visit.is_limited:
        left = visit.share["max_downloads"] - visit.share["download_count"]
    return _page(
        200, file=file, size=readable_size(file.size), expires=_day(visit.share["expires_at"]),
        left=left,
    )  # fmt: skip


def password_page(problem: str | None = None, status: int = 200) -> Response:
    """A field for the password; what lies behind the link is not said before."""
    return _page(status, asks_password=True, problem=problem)


def problem_page(status: int, problem: str) -> Response:
    """What is wrong with the link."""
    return _page(status, problem=problem)


def readable_size(count: int) -> str:
    """``1536`` -> ``1.5 KB``."""
    if count < 1024:
        return f"{count} bytes"
    size = float(count)
    for unit in _UNITS:
        size /= 1024
        if size < 1024 or unit == _UNITS[-1]:
            break
    return f"{size:.1f} {unit}" if size < 10 else f"{size:.0f} {unit}"


def _page(status: int, **values: Any) -> Response:
    response = Response(render_template(TEMPLATE, **values), status, content_type="text/html")
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    response.headers["Content-Security-Policy"] = _policy(current_app.jinja_env)
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


@cache
def _policy(environment: Environment) -> str:
    """No script at all, and of styles only the page's own."""
    source = environment.loader.get_source(environment, TEMPLATE)[0]  # type: ignore[union-attr]
    (style,) = re.findall(r"<style>(.*?)</style>", source, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    )


def _day(instant: datetime) -> str:
    return f"{instant.day} {instant:%B %Y, %H:%M} UTC"
