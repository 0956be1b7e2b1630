"""Records of another system come in whole, with their history, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app.crm.clients import CLIENTS
from app.db.engines import transaction
from app.errors import ForbiddenError
from app.extensions import Model
from app.http.security import acting_as, make_caller, system_caller
from app.importing.history import ImportProblemsError, import_records
from app.importing.sets import import_sets
from app.models.client import Client, Contact
from app.models.event import AuditRecord, Counter, Event
from app.models.invoice import Invoice, LineItem, Payment
from app.models.kb_article import KbArticle
from app.models.lead import Lead
from app.models.opportunity import Opportunity, StageChange
from app.models.project import Task
from app.models.ticket import Ticket, TicketComment
from app.permissions import ROLES
from app.settings import organisation, save_settings
from app.writing.change import History
from app.writing.numbering import document_number, running_number
from tests.waiting import until

# One of everything: history, amounts, circles of references, a tree of tasks.
FILE: dict[str, Any] = {
    "Clients": [
        {
            "id": 70, "name": "Acme GmbH", "number": "C-000412", "originLeadId": 9,
            "billingAddress": {"city": "Hamburg", "country": "DE"},
            "createdAt": "2021-05-03T08:00:00Z", "@odata.etag": 'W/"3"', "version": 3,
        },
        {"id": 71, "name": "Beta B.V.", "currency": "EUR"},
    ],
    "Contacts": [{"id": 5, "lastName": "Novák", "clientId": 70, "fullName": "Jan Novák"}],
    "Leads": [
        {
            "id": 9, "company": "Acme", "status": "Converted", "convertedClientId": 70,
            "convertedAt": "2021-05-03T08:00:00Z", "convertedOpportunityId": 3,
        }
    ],
    "Opportunities": [
        {
            "id": 3, "name": "Turbines", "clientId": 70, "amount": 1000, "stage": "ClosedWon",
            "leadId": 9, "closedAt": "2021-06-01T09:00:00Z", "weightedAmount": 1000,
            "StageHistory": [
                {"to": "Prospecting", "at": "2021-05-03T08:00:00Z"},
                {"from": "Prospecting", "to": "ClosedWon", "at": "2021-06-01T09:00:00Z",
                 "seconds": 2509200},
            ],
        }
    ],
    "Invoices": [
        {
            "id": 40, "clientId": 70, "number": "INV-2021-00031", "status": "Paid",
            "issueDate": "2021-06-02", "dueDate": "2021-07-02", "sentAt": "2021-06-02T10:00:00Z",
            "paidAt": "2021-06-20T10:00:00Z", "total": Decimal("119.00"),
            "LineItems": [
                {"id": 1, "invoiceId": 40, "description": "Work", "quantity": 2,
                 "unitPrice": 50, "taxRate": 19, "lineNet": 100, "taskId": 8},
            ],
            "Payments": [{"amount": 119, "date": "2021-06-20", "method": "transfer"}],
        },
        {
            "id": 41, "clientId": 70, "number": "CN-2021-00002", "series": "CN",
            "type": "CreditNote", "creditedInvoiceId": 42, "status": "Sent",
            "issueDate": "2021-08-01",
            "LineItems": [{"description": "Back", "unitPrice": 10, "taxRate": 19}],
        },
        {
            "id": 42, "clientId": 70, "number": "INV-2021-00032", "status": "PartiallyPaid",
            "issueDate": "2021-07-01", "amountDue": Decimal("47.60"),
            "LineItems": [{"description": "More", "unitPrice": 50, "taxRate": 19}],
        },
    ],
    "Tickets": [
        {
            "id": 2, "subject": "Noise", "clientId": 70, "status": "Closed", "priority": "High",
            "solvedAt": "2021-09-02T10:00:00Z", "closedAt": "2021-09-09T10:00:00Z",
            "Comments": [{"body": "Oil it.", "createdAt": "2021-09-01T10:00:00Z"}],
        }
    ],
    "Tasks": [
        {"id": 8, "title": "Install", "status": "Done", "relatedType": "Invoice", "relatedId": 40},
        {"id": 7, "title": "Part", "parentTaskId": 8},
        {"id": 6, "title": "Part of a part", "parentTaskId": 7},
    ],
}  # fmt: skip


@pytest.fixture
def run(app: Flask) -> Callable[..., dict[str, int]]:
    """Import, in the application's context."""

    def import_(data: Any, **options: Any) -> dict[str, int]:
        with app.app_context():
            return import_records(deepcopy(data), **options)

    return import_


@pytest.fixture
def file_with() -> Iterator[Callable[..., dict[str, Any]]]:
    """A copy of FILE with one value changed."""

    def change(set_name: str, index: int, **values: Any) -> dict[str, Any]:
        data = deepcopy(FILE)
        data[set_name][index].update(values)
        return data

    yield change


def problems_of(run: Callable[..., Any], data: Any) -> list[str]:
    with pytest.raises(ImportProblemsError) as caught:
        run(data)
    return list(caught.value.problems)


def count(session: Session, model: type[Model]) -> int:
    return int(session.scalar(select(func.count()).select_from(model)) or 0)


def one(session: Session, model: type[Model], key: Any) -> Any:
    """The row with a key."""
    (column,) = model.__table__.primary_key
    return session.connection().execute(select(model).where(column == key)).one()


def test_history_and_numbers_are_kept(run: Callable[..., Any], session: Session) -> None:
    assert run(FILE)["Invoices"] == 3
    client = one(session, Client, 70)
    assert client.number == "C-000412"
    assert client.created_at == datetime(2021, 5, 3, 8, tzinfo=UTC)
    assert (client.billing_city, client.billing_country) == ("Hamburg", "DE")
    lead = one(session, Lead, 9)
    assert (lead.status, lead.converted_client_id, lead.converted_opportunity_id) == (
        "Converted", 70, 3,
    )  # fmt: skip
    ticket = one(session, Ticket, 2)
    assert ticket.closed_at == datetime(2021, 9, 9, 10, tzinfo=UTC)
    assert one(session, Invoice, 40).paid_at == datetime(2021, 6, 20, 10, tzinfo=UTC)


def test_totals_are_computed_to_the_cent(run: Callable[..., Any], session: Session) -> None:
    run(FILE)
    paid = one(session, Invoice, 40)
    assert (paid.subtotal, paid.tax_total, paid.total) == (
        Decimal("100.00"), Decimal("19.00"), Decimal("119.00"),
    )  # fmt: skip
    assert (paid.amount_paid, paid.amount_due) == (Decimal("119.00"), Decimal("0.00"))
    credited = one(session, Invoice, 42)
    assert (credited.amount_credited, credited.amount_due) == (Decimal("11.90"), Decimal("47.60"))
    client = one(session, Client, 70)
    assert client.invoiced_total == Decimal("166.60")
    assert client.outstanding_balance == Decimal("47.60")


def test_issued_documents_name_their_parties(run: Callable[..., Any], session: Session) -> None:
    content = deepcopy(FILE)
    content["Invoices"][0]["buyer"] = {"name": "Acme (old name)"}
    run(content)
    kept, filled = one(session, Invoice, 40), one(session, Invoice, 42)
    assert kept.buyer == {"name": "Acme (old name)"}
    assert filled.buyer["name"] == "Acme GmbH"
    assert filled.buyer["address"]["city"] == "Hamburg"
    assert filled.seller["name"] == "My Company"


def test_surplus_of_a_payment_is_credit_of_the_client(
    run: Callable[..., Any], session: Session, file_with: Callable[..., Any]
) -> None:
    payments = [{"amount": 120, "date": "2021-06-20", "method": "transfer"}]
    run(file_with("Invoices", 0, Payments=payments))
    assert one(session, Client, 70).credit_balance == Decimal("1.00")


def test_children_come_with_their_records(run: Callable[..., Any], session: Session) -> None:
    run(FILE)
    line = session.connection().execute(select(LineItem).where(LineItem.invoice_id == 40)).one()
    assert (line.line_total, line.task_id, line.position) == (Decimal("119.00"), 8, 1)
    payment = session.connection().execute(select(Payment)).one()
    assert (payment.paid_on, payment.client_id, payment.currency) == (date(2021, 6, 20), 70, "EUR")
    steps = session.connection().execute(select(StageChange).order_by(StageChange.at)).all()
    assert [(step.from_stage, step.to_stage) for step in steps] == [
        (None, "Prospecting"), ("Prospecting", "ClosedWon"),
    ]  # fmt: skip
    assert session.connection().execute(select(TicketComment)).one().body == "Oil it."


def test_circles_of_references_are_closed(run: Callable[..., Any], session: Session) -> None:
    run(FILE)
    assert one(session, Client, 70).origin_lead_id == 9
    assert one(session, Opportunity, 3).lead_id == 9
    assert one(session, Task, 6).parent_task_id == 7


def test_ids_are_mapped_where_there_are_records(run: Callable[..., Any], session: Session) -> None:
    """A second import of the same file makes new records that refer to each other."""
    first = deepcopy(FILE)
    for records in first.values():
        for record in records:
            record.pop("number", None)
    # Only what was issued is credited.
    first["Invoices"] = [each for each in first["Invoices"] if each.get("type") != "CreditNote"]
    for invoice in first["Invoices"]:
        invoice["status"] = "Draft"
        invoice.pop("Payments", None)
        invoice.pop("paidAt", None)
        invoice.pop("amountDue", None)
    run(first)
    run(first)
    assert count(session, Client) == 4
    new = (
        session.connection().execute(select(Client).where(Client.id > 71).order_by(Client.id)).all()
    )
    assert [client.name for client in new] == ["Acme GmbH", "Beta B.V."]
    origin = one(session, Lead, new[0].origin_lead_id)
    assert origin.converted_client_id == new[0].id
    task = (
        session.connection().execute(select(Task).where(Task.title == "Install", Task.id > 8)).one()
    )
    assert one(session, Invoice, task.related_id).client_id == new[0].id


def test_counters_go_on_after_the_numbers_of_the_file(
    app: Flask, run: Callable[..., Any], session: Session
) -> None:
    run(FILE)
    assert one(session, Client, 71).number == "C-000413"
    assert one(session, Counter, "invoice:INV:2021").value == 32
    with app.app_context(), transaction():
        assert running_number("C") == "C-000414"
        assert document_number("INV", 2021) == "INV-2021-00033"


def test_no_events_and_one_line_in_the_audit_log(run: Callable[..., Any], session: Session) -> None:
    run(FILE)
    assert count(session, Event) == 0
    line = session.connection().execute(select(AuditRecord)).one()
    assert (line.action, line.via, line.after["Clients"]) == ("import.completed", "cli", 2)


def test_next_record_gets_a_key_after_those_of_the_file(
    app: Flask, run: Callable[..., Any], session: Session
) -> None:
    run(FILE)
    run({"Clients": [{"name": "Gamma"}]})
    assert session.scalars(select(Client.id).where(Client.name == "Gamma")).one() > 71


def test_dry_run_keeps_nothing(run: Callable[..., Any], session: Session) -> None:
    assert run(FILE, dry_run=True)["Clients"] == 2
    for model in (Client, Invoice, Counter, AuditRecord):
        assert count(session, model) == 0


@pytest.mark.parametrize(
    ("set_name", "index", "values", "problem"),
    [
        ("Clients", 1, {"name": ""}, "Clients[1].name: must not be blank"),
        ("Clients", 1, {"nmae": "x"}, "Clients[1].nmae: is not a property of this record"),
        ("Clients", 1, {"tax_id": "1"}, "Clients[1].tax_id: is not a property of this record"),
        ("Clients", 1, {"email": "no"},
         "Clients[1].email: must be an e-mail address such as info@example.com"),
        ("Clients", 1, {"billingAddress": {"zip": "1"}},
         "Clients[1].billingAddress.zip: is not a property of this record"),
        ("Clients", 1, {"id": 70}, "Clients[1].id: 70 stands here twice"),
        ("Clients", 1, {"id": "70"}, "Clients[1].id: must be a whole number, 1 or more"),
        ("Contacts", 0, {"clientId": 72}, "Contacts[0].clientId: there is no 72 in Clients of"
         " the file"),
        ("Contacts", 0, {"ownerId": 1}, "Contacts[0].ownerId: there is no user 1 here, and none"
         " under this id in Users of the file"),
        ("Tasks", 0, {"relatedId": 99}, "Tasks[0].relatedId: there is no 99 in Invoices of the"
         " file"),
        ("Invoices", 0, {"total": Decimal("119.01")},
         "Invoices[0].total: is computed to be 119.00; the file says 119.01"),
        ("Invoices", 0, {"LineItems": [{"description": "x", "unitPrice": 100, "taxRate": 0,
                                        "taxCategory": "AE"}]},
         "Invoices[0].LineItems[0].taxExemptionReason: is required in category AE"),
        ("Invoices", 0, {"status": "Sent"}, "Invoices[0].status: is Sent, but with payments of"
         " 119.00 and credits of 0.00 0.00 of 119.00 are left to pay: that is Paid"),
        ("Invoices", 2, {"number": "INV-2021-00031"},
         "Invoices[2].number: is taken by another record"),
        ("Invoices", 2, {"dueDate": "2021-01-01"},
         "Invoices[2].dueDate: must not be before issueDate"),
        ("Invoices", 2, {"status": "Draft"},
         "Invoices[1].creditedInvoiceId: must be an issued invoice"),
        ("Contacts", 0, {"clientId": None, "isPrimary": True},
         "Contacts[0].isPrimary: needs a clientId: it is one contact for each client"),
        ("Leads", 0, {"company": None},
         "Leads[0].lastName: is required where there is no company"),
        ("Leads", 0, {"status": "Disqualified"},
         "Leads[0].disqualifyReason: is required for a lead that is Disqualified"),
        ("Opportunities", 0, {"stage": "ClosedLost"},
         "Opportunities[0].lostReason: is required to close an opportunity as lost"),
        ("Opportunities", 0, {"probability": 40}, "Opportunities[0].probability: is 100 for"
         " ClosedWon"),
        ("Tasks", 0, {"startAt": "2021-06-02T10:00:00Z", "dueAt": "2021-06-01T10:00:00Z"},
         "Tasks[0].dueAt: must not be before startAt"),
        ("Tasks", 0, {"parentTaskId": 6},
         "Tasks[0].parentTaskId: must not be the task itself or a part of it"),
        ("Tickets", 0, {"priority": "Huge"},
         "Tickets[0].priority: must be one of Low, Normal, High, Urgent"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_problem_names_set_index_and_field(
    run: Callable[..., Any],
    session: Session,
    file_with: Callable[..., Any],
    set_name: str,
    index: int,
    values: dict[str, Any],
    problem: str,
) -> None:
    assert problem in problems_of(run, file_with(set_name, index, **values))
    assert count(session, Client) == 0


@pytest.mark.parametrize(
    ("set_name", "model"), [("Opportunities", Opportunity), ("Tickets", Ticket)]
)
def test_contacts_may_have_gone_to_another_client_since(
    run: Callable[..., Any],
    session: Session,
    file_with: Callable[..., Any],
    set_name: str,
    model: type[Opportunity] | type[Ticket],
) -> None:
    run(file_with(set_name, 0, clientId=71, contactId=5))
    record = session.scalars(select(model).where(model.contact_id.is_not(None))).one()
    contact = session.get_one(Contact, record.contact_id)
    assert contact.client_id not in (None, record.client_id)


def test_all_problems_are_listed_at_once(
    run: Callable[..., Any], file_with: Callable[..., Any]
) -> None:
    data = file_with("Clients", 0, name=None, revenue=-1)
    data["Tickets"][0]["subject"] = 7
    assert problems_of(run, data) == [
        "Clients[0].name: must not be null",
        "Clients[0].revenue: must be 0 or more",
        "Tickets[0].subject: must be a string",
    ]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "the file: must be one object: entity set -> list of records"),
        ({"Clients": {}}, "Clients: must be a list"),
        ({"Clients": ["x"]}, "Clients[0]: must be an object"),
        (
            {"Customers": []},
            "Customers: is no entity set; there are Clients, Contacts, Opportunities, Leads,"
            " Tickets, KbArticles, Projects, Products, Invoices, Tasks, Documents",
        ),
    ],
    ids=["a list", "no list", "no object", "no set"],
)
def test_file_of_another_form_is_refused(run: Callable[..., Any], data: Any, problem: str) -> None:
    assert problems_of(run, data) == [problem]


def test_command_imports_a_file_and_reports(app: Flask, tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    file.write_text(json.dumps({"Clients": [{"name": "Acme", "revenue": 0.1}]}))
    result = app.test_cli_runner().invoke(args=["import", "records", str(file)])
    assert result.exit_code == 0
    assert "Imported: 1 Clients" in result.output


def test_command_lists_problems_and_fails(app: Flask, tmp_path: Path, session: Session) -> None:
    file = tmp_path / "records.json"
    file.write_text(json.dumps({"Clients": [{"name": "Acme"}, {}]}))
    result = app.test_cli_runner().invoke(args=["import", "records", str(file)])
    assert result.exit_code == 1
    assert "Clients[1].name: is required" in result.output
    assert "nothing was imported; problems: 1" in result.output
    assert count(session, Client) == 0


@pytest.mark.parametrize("number", ["NaN", "1e99999999999999999999"])
def test_command_refuses_what_is_no_number(app: Flask, tmp_path: Path, number: str) -> None:
    file = tmp_path / "records.json"
    file.write_text(f'{{"Clients": [{{"name": "Acme", "revenue": {number}}}]}}')
    result = app.test_cli_runner().invoke(args=["import", "records", str(file)])
    assert result.exit_code == 1
    assert f"is not JSON: {number} is no number" in result.output


def test_articles_of_one_title_get_a_slug_each(run: Callable[..., Any], session: Session) -> None:
    article = {"title": "Über uns", "body": "b"}
    run({"KbArticles": [article, article, {**article, "slug": "uber-uns-2"}]})
    run({"KbArticles": [article]})
    slugs = session.scalars(select(KbArticle.slug).order_by(KbArticle.id)).all()
    assert slugs == ["uber-uns", "uber-uns-3", "uber-uns-2", "uber-uns-4"]


@pytest.mark.only_on("postgresql")
def test_of_two_imports_at_once_the_second_waits_and_both_are_whole(
    run: Callable[..., Any], session: Session
) -> None:
    """SQLite has one writer at a time anyway."""
    others: list[Thread] = []
    counts: list[dict[str, int]] = []

    def begin_another(what: str, done: int, total: int) -> None:
        if what == "Writing records" and not others:
            others.append(Thread(target=lambda: counts.append(run(file))))
            others[0].start()
            until(lambda: session.scalar(text(_WAITING)))

    article = {"id": 4, "title": "Refunds", "body": "b"}
    file = {"Clients": [{"id": 70, "name": "Acme"}], "KbArticles": [article]}
    counts.append(run(file, report=begin_another))
    others[0].join(60)
    assert counts == [{"Clients": 1, "KbArticles": 1}] * 2
    session.rollback()
    assert session.scalars(select(Client.id).order_by(Client.id)).all() == [70, 71]
    assert set(session.scalars(select(Client.number))) == {"C-000001", "C-000002"}
    assert set(session.scalars(select(KbArticle.slug))) == {"refunds", "refunds-2"}


_WAITING = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
)


def test_only_administrators_bring_history(app: Flask) -> None:
    rules = {"Client": import_sets()["Clients"].rules}
    manager = make_caller(1, "Manager", "jwt", ROLES["Manager"], roles=("Manager",))
    with app.app_context(), acting_as(manager), pytest.raises(ForbiddenError) as caught:
        CLIENTS.draft({"name": "Acme"}, History(rules=rules, settings=organisation()))
    assert caught.value.details[0].message == "settings:update"


def test_balances_in_a_foreign_currency_take_both_rates(
    app: Flask, run: Callable[..., Any], session: Session
) -> None:
    """An invoice in pounds to a client in francs: 119 GBP at 1.2 EUR are 142.80 EUR, 150 CHF."""
    with app.app_context(), acting_as(system_caller("cli")), transaction():
        save_settings("exchangeRates", {"CHF": Decimal("0.952"), "GBP": Decimal("1.2")})
    line = {"description": "Work", "unitPrice": 100, "taxRate": 19}
    run(
        {
            "Clients": [{"id": 1, "name": "Acme AG", "currency": "CHF"}],
            "Invoices": [
                {
                    "id": 1, "clientId": 1, "currency": "GBP", "number": "INV-2021-00001",
                    "status": "Sent", "issueDate": "2021-06-02", "LineItems": [line],
                }
            ],
        }
    )  # fmt: skip
    assert one(session, Client, 1).outstanding_balance == Decimal("150.00")
