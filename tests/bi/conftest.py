"""A small business in two currencies, and callers over HTTP."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from bench.nlq import demonstration
from tests.conftest import Once
from tests.contract.conftest import Api, admin, sign_in
from tests.databases import close_engines
from tests.factories import (
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_lead,
    make_opportunity,
    make_ticket,
    pay,
)
from tests.made_once import make_once

__all__ = ["admin", "sign_in"]
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def demonstration_folder(run_folder: Path) -> Path:
    """The files of the demonstration that questions are asked of, to be copied."""
    folder = run_folder / "demonstration"

    def fill() -> None:
        folder.mkdir()
        with demonstration(folder) as app:
            close_engines(app)

    make_once(run_folder, "demonstration", fill)
    return folder


@pytest.fixture(scope="module")
def demo(demonstration_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The demonstration at the moment that the questions are about."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(demonstration_folder, folder, dirs_exist_ok=True)
    with demonstration(folder) as app:
        yield
        close_engines(app)


@pytest.fixture
def business(app: Flask, once: Once) -> None:
    """Two clients in Germany and one in Switzerland; invoices, tickets, a deal, leads."""
    once("a small business", partial(_make_business, app))


def _make_business(app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        acme = make_client(name="ACME GmbH", billing_country="DE", currency="EUR")
        globex = make_client(name="Globex", billing_country="DE", currency="EUR")
        helvetia = make_client(name="Helvetia AG", billing_country="CH", currency="CHF")
        # The prices have no tax, so that totals can be seen.
        plain = {"tax_rate": Decimal(0), "tax_category": "Z"}
        first = make_issued_invoice(client_id=acme, line_items=[line("100", **plain)])
        make_issued_invoice(client_id=acme, line_items=[line("50.25", **plain)])
        make_issued_invoice(client_id=helvetia, line_items=[line("70", **plain)])
        make_invoice(client_id=globex, line_items=[line("999", **plain)])
        pay(first, "100")
        for subject in ("Printer", "Screen", "=HYPERLINK(1)"):
            make_ticket(client_id=acme, subject=subject)
        make_ticket(client_id=globex, subject="Urgent one", priority="Urgent")
        make_opportunity(client_id=acme, amount=Decimal(500), name="Big deal")
        make_lead(source="Web")
        make_lead(source="Referral")


@pytest.fixture
def ask(admin: Api, business: None) -> Ask:
    """Ask a question as an administrator of the small business."""

    def put(question: str, **more: Any) -> dict[str, Any]:
        answer = admin.post("/api/bi/nlq", {"question": question, **more})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json
        return body

    return put
