"""All pages of the console; importing this module declares them."""

from __future__ import annotations

from app.console import (
    api_keys,
    assistant,
    audit_log,
    forms,
    jobs,
    lists,
    mail,
    mail_templates,
    people,
    questions,
    records,
    reports,
    roles,
    settings,
    signing_in,
    start_page,
    webhooks,
)
from app.console.area import console, init_app

__all__ = [
    "api_keys", "assistant", "audit_log", "console", "forms", "init_app", "jobs", "lists", "mail",
    "mail_templates", "people", "questions", "records", "reports", "roles", "settings",
    "signing_in", "start_page", "webhooks",
]  # fmt: skip
