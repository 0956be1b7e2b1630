"""All pages of the console; importing this module declares them."""

from __future__ import annotations

from app.console import (
    api_keys,
    audit_log,
    forms,
    lists,
    mail_templates,
    people,
    records,
    settings,
    signing_in,
    start_page,
    webhooks,
)
from app.console.area import console, init_app

__all__ = [
    "api_keys", "audit_log", "console", "forms", "init_app", "lists", "mail_templates", "people",
    "records", "settings", "signing_in", "start_page", "webhooks",
]  # fmt: skip
