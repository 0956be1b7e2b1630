"""Records for tests, made through the services as a caller of the application makes them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from app.clock import utc_now
from app.db import records
from app.db.types import json_text
from app.extensions import Model
from app.http.security import Caller, make_caller
from app.invoices.payments import register_payment
from app.invoices.steps import issue_invoice
from app.models.event import AuditRecord, Event
from app.models.user import Role, User, UserRole
from app.permissions import ROLES
from app.writing.services import SERVICES

_count = itertools.count(1)


def make_user(role: str = "Sales", *, status: str = "active") -> Caller:
    """A person with one of the built-in roles, as the caller of a request."""
    name = f"{role.lower()}{next(_count)}"
    user_id = records.insert(
        User.__table__,
        {
            "username": name, "username_key": name, "display_name": name.title(),
            "email": f"{name}@example.com", "status": status, "created_at": utc_now(),
            "updated_at": utc_now(),
        },
    )  # fmt: skip
    role_id = records.connection().execute(select(Role.id).where(Role.name == role)).scalar_one()
    records.insert(UserRole.__table__, {"user_id": user_id, "role_id": role_id})
    return make_caller(user_id, name, "jwt", ROLES[role], roles=(role,))


def make_client(**values: Any) -> int:
    """A client; only its name is made up."""
    return create("Client", {"name": f"Client {next(_count)}"} | values)


def make_contact(**values: Any) -> int:
    """A contact, of no client unless one is given."""
    return create("Contact", {"last_name": f"Person {next(_count)}"} | values)


def make_lead(**values: Any) -> int:
    """A new lead."""
    return create("Lead", {"company": f"Company {next(_count)}"} | values)


def make_opportunity(**values: Any) -> int:
    """An opportunity of 1000 with a client of its own."""
    given = {"name": f"Sale {next(_count)}", "amount": Decimal(1000)} | values
    given.setdefault("client_id", None)
    return create("Opportunity", given | {"client_id": given["client_id"] or make_client()})


def make_ticket(**values: Any) -> int:
    """A new ticket."""
    return create("Ticket", {"subject": f"Question {next(_count)}"} | values)


def line(price: str = "100", **values: Any) -> dict[str, Any]:
    """A line item at 19 % tax."""
    return {"description": "Work", "unit_price": Decimal(price), "tax_rate": Decimal(19)} | values


def make_invoice(**values: Any) -> int:
    """A draft of 119.00 (100.00 net) with a client of its own."""
    given = {"line_items": [line()]} | values
    return create("Invoice", given | {"client_id": given.get("client_id") or make_client()})


def make_issued_invoice(**values: Any) -> int:
    """An issued invoice, payable."""
    invoice_id = make_invoice(**values)
    issue_invoice(invoice_id)
    return invoice_id


def today() -> date:
    """The day of an organisation that has set no time zone."""
    return utc_now().date()


def pay(invoice_id: int, amount: str, **values: Any) -> int:
    """A transfer of today for an invoice."""
    payment: dict[str, Any] = {
        "amount": Decimal(amount), "paid_on": today(), "method": "transfer",
    }  # fmt: skip
    allow = values.pop("allow_overpayment", False)
    return register_payment(invoice_id, allow_overpayment=allow, **payment | values)


def make_article(**values: Any) -> int:
    """A draft of the knowledge base."""
    return create("KbArticle", {"title": f"Answer {next(_count)}", "body": "Read this."} | values)


def make_document(**values: Any) -> int:
    """Metadata of a document, without a file."""
    return create("Document", {"name": f"file{next(_count)}.pdf"} | values)


def make_task(**values: Any) -> int:
    """A task of the caller."""
    return create("Task", {"title": f"Do {next(_count)}"} | values)


def make_project(**values: Any) -> int:
    """A planned project."""
    return create("Project", {"name": f"Project {next(_count)}"} | values)


def make_product(**values: Any) -> int:
    """A product of 100 euros."""
    given = {"name": f"Product {next(_count)}", "unit_price": Decimal(100)}
    return create("Product", given | values)


MAKERS = {
    "Client": make_client, "Contact": make_contact, "Lead": make_lead,
    "Opportunity": make_opportunity, "Ticket": make_ticket, "Invoice": make_invoice,
    "KbArticle": make_article, "Document": make_document, "Task": make_task,
    "Project": make_project, "Product": make_product,
}  # fmt: skip


def create(entity: str, values: Mapping[str, Any]) -> int:
    """A record by the service of its entity."""
    return SERVICES[entity].create(values)


def update(entity: str, key: int, **changes: Any) -> None:
    """A change by the service of the entity."""
    SERVICES[entity].update(key, changes)


def stored(entity: str, key: int) -> dict[str, Any]:
    """The row of a record as it lies in the database."""
    record = records.read(SERVICES[entity].rules.model, key)
    assert record is not None, f"no {entity} {key}"
    return records.columns_of(record)


def put(entity: str, key: int, **values: Any) -> None:
    """Set columns past all rules, for a state that takes long to reach."""
    records.update(SERVICES[entity].rules.table, key, values)


def put_row(model: type[Model], key: int, **values: Any) -> None:
    """Set columns of a row that is no record of a service."""
    records.update(Model.metadata.tables[model.__tablename__], key, values)


def rows(model: type[Model], **conditions: Any) -> list[Mapping[str, Any]]:
    """The rows of a table with these values, oldest first."""
    table = Model.metadata.tables[model.__tablename__]
    statement = select(table).order_by(table.c.id)
    for name, value in conditions.items():
        statement = statement.where(table.c[name] == value)
    return [dict(row) for row in records.connection().execute(statement).mappings()]


def event_names(entity: str, key: int) -> list[str]:
    """The names of the events of a record, oldest first."""
    return [event["type"] for event in rows(Event, entity=entity, entity_id=key)]


def audit_actions(entity: str, key: int) -> list[str]:
    """The actions of a record in the audit log, oldest first."""
    return [entry["action"] for entry in rows(AuditRecord, entity=entity, entity_id=key)]


def plain_representations(entity: str, keys: Sequence[int]) -> dict[int, str]:
    """The rows as JSON, where there is no query engine to say it as OData does."""
    known = entity in SERVICES
    return {key: json_text(stored(entity, key) if known else {"id": key}) for key in keys}


def day(text: str) -> date:
    """``2026-01-31`` as a date."""
    return date.fromisoformat(text)
