"""All pages of the console; importing this module declares them."""

from __future__ import annotations

from app.console import (
    api_keys,
    audit_log,
    forms,
    lists,
    people,
    records,
    signing_in,
    start_page,
)
from app.console.area import console, init_app

__all__ = [
    "api_keys", "audit_log", "console", "forms", "init_app", "lists", "people", "records",
    "signing_in", "start_page",
]  # fmt: skip
