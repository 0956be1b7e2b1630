"""All pages of the console; importing this module declares them."""

from __future__ import annotations

from app.console import (  # noqa: F401
    administration,
    assistant,
    board,
    bulk,
    conversion,
    documents,
    forms,
    imports,
    invoices,
    jobs,
    knowledge,
    lists,
    merging,
    people,
    questions,
    records,
    references,
    reports,
    search_page,
    settings,
    signing_in,
    start_page,
    tickets,
    webhooks,
)
from app.console.area import console, init_app

# The modules are named where they are imported.
__all__ = ["console", "init_app"]
