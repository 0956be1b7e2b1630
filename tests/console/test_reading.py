"""A page that is only read: it waits for no writer, and does not ask again for the settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.console.sets import PAGES
from app.db.engines import transaction
from app.extensions import db
from app.http.security import acting_as, system_caller
from tests.console.conftest import SignIn
from tests.factories import make_client, make_invoice

READ = (
    "", "opportunities/board", "search?q=acme", "queue", "reports", "questions", "assistant",
    "knowledge", "keys", "users", "sessions", "roles", "api-keys", "webhooks", "mail", "jobs",
    "audit", "settings/seller", "imports", "documents/trash",
)  # fmt: skip


@contextmanager
def seen() -> Iterator[tuple[list[str], list[object]]]:
    """The statements that run meanwhile, and the transactions that begin."""
    statements: list[str] = []
    begun: list[object] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    def note_begin(*arguments: object) -> None:
        begun.append(arguments)

    event.listen(Engine, "before_cursor_execute", note)
    event.listen(db.session, "after_begin", note_begin)
    try:
        yield statements, begun
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        event.remove(db.session, "after_begin", note_begin)


@pytest.mark.both_databases
def test_a_page_begins_no_transaction(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        client = make_client()
        invoice = make_invoice(client_id=client)
    of_records = (f"clients/{client}", f"invoices/{invoice}", f"invoices/{invoice}/edit")
    waiting = []
    for path in (*READ, *(f"{path}/" for path in PAGES), *of_records):
        with seen() as (statements, begun):
            assert browser.get(path).status_code == 200, path
        if begun:
            waiting.append(path)
        # Once for the page; the engine's look at the company's day is one of its own.
        assert len([each for each in statements if "FROM settings" in each]) <= 2, path
    assert waiting == []
