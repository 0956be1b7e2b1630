"""All pages of the console; importing this module declares them."""

from __future__ import annotations

from app.console import (  # noqa: F401
    account,
    administration,
    assistant,
    board,
    bulk,
    conversion,
    documents,
    first_steps,
    forms,
    imports,
    invoices,
    jobs,
    knowledge,
    list_export,
    lists,
    mail,
    palette,
    people,
    questions,
    records,
    references,
    reports,
    search_page,
    settings,
    settings_answers,
    settings_templates,
    signing_in,
    start_page,
    tickets,
    webhooks,
)
from app.console.area import console, init_app

# The modules are named where they are imported.
__all__ = ["console", "init_app"]
