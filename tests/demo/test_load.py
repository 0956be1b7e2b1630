"""The demonstration is a believable year: enough of everything, in every state, adding up."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from pypdf import PdfReader
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.blobs import blobs
from app.db import records as stored
from app.db.engines import transaction
from app.demo.load import make_year
from app.demo.vocabulary import ARTICLES, GOODS, SERVICES, SUBSCRIPTIONS, TOPICS
from app.http.security import acting_as, system_caller
from app.invoices.clocks import run_invoice_clocks
from app.invoices.einvoice.codes import unit_codes
from app.models.client import CLIENT_STATUSES, Client
from app.models.document import Document, DocumentVersion
from app.models.event import OutgoingMail
from app.models.invoice import INVOICE_STATUSES, Invoice, Payment
from app.models.lead import LEAD_STATUSES
from app.models.opportunity import STAGES
from app.models.project import PROJECT_STATUSES, TASK_STATUSES
from app.models.ticket import TICKET_STATUSES
from app.models.user import User

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)


@cache
def year(now: datetime = NOW) -> dict[str, Any]:
    return make_year(now)


def test_same_day_gives_the_same_year() -> None:
    assert make_year(NOW) == year()


def test_another_day_moves_the_year() -> None:
    later = year(NOW + timedelta(days=200))
    newest = max(each["createdAt"] for each in later["Clients"])
    assert NOW + timedelta(days=190) < newest <= NOW + timedelta(days=200)


@pytest.mark.parametrize(
    ("set_name", "count"),
    [("Clients", 500), ("Invoices", 3000), ("KbArticles", 60), ("Tasks", 600), ("Projects", 40),
     ("Tickets", 430)],
)  # fmt: skip
def test_there_is_enough(set_name: str, count: int) -> None:
    assert len(year()[set_name]) == count


@pytest.mark.parametrize(
    ("set_name", "field", "states"),
    [
        ("Clients", "status", CLIENT_STATUSES), ("Invoices", "status", INVOICE_STATUSES),
        ("Leads", "status", LEAD_STATUSES), ("Opportunities", "stage", STAGES),
        ("Tickets", "status", TICKET_STATUSES), ("Projects", "status", PROJECT_STATUSES),
        ("Tasks", "status", TASK_STATUSES),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_every_state_occurs(set_name: str, field: str, states: Any) -> None:
    assert {record[field] for record in year()[set_name]} == set(states)


@pytest.mark.parametrize(
    ("set_name", "names"),
    [
        ("Clients", ("name",)), ("Clients", ("email",)), ("Clients", ("taxId",)),
        ("Contacts", ("email",)), ("Contacts", ("clientId", "firstName", "lastName")),
        ("Documents", ("clientId", "name")), ("Products", ("name",)),
        ("Projects", ("clientId", "name")),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("days", [0, 40, 200])
def test_no_two_are_alike(set_name: str, names: tuple[str, ...], days: int) -> None:
    records = year(NOW + timedelta(days=days))[set_name]
    alike = Counter(tuple(each.get(name) for name in names) for each in records if names[0] in each)
    assert [values for values, count in alike.items() if count > 1] == []


def test_nothing_happened_in_the_future() -> None:
    for set_name, records in year().items():
        for record in records:
            for name in ("createdAt", "updatedAt", "sentAt", "paidAt", "solvedAt", "closedAt"):
                assert record.get(name, NOW) <= NOW, (set_name, record["id"], name)


@pytest.mark.parametrize(
    "now",
    [NOW, NOW.replace(hour=2, minute=5), NOW.replace(day=28)],
    ids=["day", "night", "weekend"],
)
def test_nothing_is_crowded_into_the_moment_of_the_load(now: datetime) -> None:
    new_year = year(now)
    parts = [("Invoices", "Payments"), ("Tickets", "Comments"), ("Opportunities", "StageHistory")]
    lists = {**new_year, **{name: [item for each in new_year[of] for item in each.get(name, ())]
                        for of, name in parts}}  # fmt: skip
    for name, records in lists.items():
        moments = Counter(
            value
            for record in records
            for key, value in record.items()
            if isinstance(value, datetime) and not key.endswith(("DueAt", "Until"))
        )
        assert moments[now] <= 1, name
    paid = Counter(payment["date"] for payment in lists["Payments"])
    assert paid.most_common(1)[0][1] < len(lists["Payments"]) / 40


def test_nothing_happened_before_its_client_was_there() -> None:
    created_at = {client["id"]: client["createdAt"] for client in year()["Clients"]}
    for set_name in ("Contacts", "Opportunities", "Invoices", "Tickets", "Projects", "Documents"):
        for record in year()[set_name]:
            assert record["createdAt"] >= created_at[record["clientId"]], (set_name, record["id"])


def test_numbers_of_invoices_have_no_gap() -> None:
    numbers = Counter(
        invoice["number"].rpartition("-")[0]
        for invoice in year()["Invoices"]
        if "number" in invoice
    )
    issued = {invoice["number"] for invoice in year()["Invoices"] if "number" in invoice}
    assert issued == {
        f"{series}-{number:05d}"
        for series, count in numbers.items()
        for number in range(1, count + 1)
    }


def test_year_is_loaded_and_adds_up(app: Flask, session: Session) -> None:
    loaded = app.test_cli_runner().invoke(args=["demo", "load"])
    assert loaded.exit_code == 0, loaded.output
    assert session.scalar(select(func.count()).select_from(Invoice)) == 3000
    paid = session.scalar(select(func.sum(Payment.amount)))
    assert paid == session.scalar(select(func.sum(Invoice.amount_paid)))
    owed = session.scalar(select(func.sum(Client.outstanding_balance)))
    open_ones = Invoice.status.in_(("Sent", "PartiallyPaid")) & (Invoice.type == "Invoice")
    assert owed == session.scalar(select(func.sum(Invoice.amount_due)).where(open_ones))
    assert owed is not None and owed > Decimal(100_000)
    assert session.scalar(select(func.count()).select_from(User)) == 9
    with app.app_context(), transaction(), acting_as(system_caller("job")):
        run_invoice_clocks()
        assert stored.connection().scalar(select(func.count()).select_from(OutgoingMail)) == 0
        rows = stored.connection().execute(select(DocumentVersion)).all()
        files = {row.file_name: blobs.current.read(row.blob_key) for row in rows}
        assert len(files) <= len(rows) == len(year()["Documents"])
        check_files(files)
    assert session.scalars(select(Document.status).distinct()).all() == ["Active"]
    ages = select(Document.id).join(DocumentVersion, DocumentVersion.document_id == Document.id)
    younger = DocumentVersion.created_at != Document.created_at
    assert session.scalars(ages.where(younger)).all() == []
    session.rollback()
    again = app.test_cli_runner().invoke(args=["demo", "load"])
    assert again.exit_code == 1
    assert "there are clients already: the demonstration stays away" in again.output


def check_files(files: dict[str, bytes]) -> None:
    """Whether programs open them."""
    kinds = Counter(name.rpartition(".")[2] for name in files)
    assert set(kinds) == {"pdf", "xlsx", "csv"}
    for name, content in files.items():
        if name.endswith(".pdf"):
            assert "Nordlicht" in PdfReader(BytesIO(content)).pages[0].extract_text()
        elif name.endswith(".xlsx"):
            assert "xl/workbook.xml" in ZipFile(BytesIO(content)).namelist()
        else:
            assert content.decode().startswith("Item,")


def test_every_ticket_is_answered_by_an_article_in_its_language() -> None:
    articles = {article.key: article for article in ARTICLES}
    for topic in TOPICS:
        assert articles[topic.article].language == topic.language, topic.article
        assert articles[topic.article].visibility == "Public", topic.article


def test_tickets_are_about_many_things() -> None:
    subjects = [case.subject for topic in TOPICS for case in topic.cases]
    assert len(subjects) == len(set(subjects)) >= 60
    assert len({ticket["subject"] for ticket in year()["Tickets"]}) >= 60


def test_description_belongs_to_the_subject() -> None:
    cases = {(case.subject, case.description) for topic in TOPICS for case in topic.cases}
    for ticket in year()["Tickets"]:
        assert (ticket["subject"], ticket["description"]) in cases


def test_catalogue_has_forty_items_with_units_and_prices() -> None:
    catalogue = (*SUBSCRIPTIONS, *GOODS, *SERVICES)
    assert len(catalogue) == len({product.code for product in catalogue}) == 40
    assert {product.unit for product in catalogue} <= unit_codes()
    assert all(Decimal(product.price) > 0 for product in catalogue)
