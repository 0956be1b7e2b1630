"""The peers' rows in our tables: the same clients, contacts, invoices and lines.

Read from the generators of the peers' ``make_data.py``. Our tables have more columns; these keep
their defaults. Two states that only the peers know become the nearest of ours, which no workload
asks for.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import flask_migrate
from flask import Flask
from sqlalchemy import ColumnElement, Connection, Table, insert, literal, select, text

from app.auth.users import create_user
from app.config import Config
from app.db.engines import transaction
from app.extensions import db
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.models.client import Client, Contact
from app.models.invoice import Invoice, LineItem
from app.models.user import User
from bench.peers.databases import Database

USERNAME = "bench"
PASSWORD = "three-blue-kettles"
# Any set of 32 characters that is the same for the load and for the server.
SECRET_KEY = "only-for-this-measurement-0123456789"
CHUNK = 5000
CLIENT_STATUS = {"Archived": "Inactive"}
INVOICE_STATUS = {"Overdue": "Sent"}
LOADED_AT = datetime(2026, 1, 1, tzinfo=UTC)

Row = Mapping[str, Any]
Tell = Callable[[str], None]


def load_ours(database: Database, peers: Path, folder: Path, clients: int, tell: Tell) -> None:
    """Migrate our database, and give it rows and the user of the measurement where it has none."""
    app = our_application(database, folder)
    with app.app_context():
        flask_migrate.upgrade()
        if not _is_there(User.username == USERNAME):
            _make_user()
        if not _is_there(Client.id > 0):
            with db.engine.begin() as connection:
                fill(connection, load_module(peers / "make_data.py"), clients, tell)
            _collect_statistics()


def _is_there(condition: ColumnElement[bool]) -> bool:
    with db.engine.begin() as connection:
        return connection.execute(select(literal(1)).where(condition).limit(1)).first() is not None


def _make_user() -> None:
    with acting_as(system_caller("bench")), transaction():
        create_user(
            username=USERNAME,
            email=None,
            display_name="Bench",
            password=PASSWORD,
            roles=["Manager"],
        )


def our_application(database: Database, folder: Path) -> Flask:
    """Our application on ``database``, for what is done without a server."""
    return create_app(
        Config(SECRET_KEY=SECRET_KEY, DATA_DIR=folder, SQLALCHEMY_DATABASE_URI=database.ours)
    )


def load_module(path: Path) -> ModuleType:
    """A Python file of the peers as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fill(connection: Connection, data: ModuleType, clients: int, tell: Tell) -> None:
    """Insert every row, parents first."""
    put(connection, Client.__table__, map(client_row, data.clients(clients)), tell)
    put(connection, Contact.__table__, map(contact_row, data.contacts(clients)), tell)
    invoices = (invoice for invoice, _ in data.invoices_and_lines(clients))
    put(connection, Invoice.__table__, map(invoice_row, invoices), tell)
    lines = (line for _, lines in data.invoices_and_lines(clients) for line in lines)
    put(connection, LineItem.__table__, map(line_row, lines), tell)
    if connection.dialect.name == "postgresql":
        _move_sequences(connection)


def put(connection: Connection, table: Any, rows: Iterator[Row], tell: Tell) -> None:
    """Insert ``rows`` into ``table`` by the thousand."""
    total = 0
    while chunk := list(islice(rows, CHUNK)):
        connection.execute(insert(table), chunk)
        total += len(chunk)
    tell(f"{total} rows in {table.name}")


def client_row(source: tuple[Any, ...]) -> Row:
    """``id, name, email, taxId, status, revenue, createdAt`` as a row of ours."""
    key, name, email, tax_id, status, revenue, created_at = source
    return {
        **_common(key, created_at.replace(tzinfo=UTC)),
        # A series of its own: the running numbers of the service begin at 1.
        "number": f"P-{key:06d}",
        "name": name,
        "email": email,
        "tax_id": tax_id,
        "status": CLIENT_STATUS.get(status, status),
        "revenue": Decimal(str(revenue)),
    }


def contact_row(source: tuple[Any, ...]) -> Row:
    """``id, clientId, firstName, lastName, email, phone`` as a row of ours."""
    key, client_id, first_name, last_name, email, phone = source
    return {
        **_common(key, LOADED_AT),
        "client_id": client_id,
        "first_name": first_name,
        "last_name": last_name,
        "email": email,
        "phone": phone,
    }


def invoice_row(source: tuple[Any, ...]) -> Row:
    """``id, clientId, number, status, issueDate, dueDate, currency, total`` as a row of ours."""
    key, client_id, number, status, issue_date, due_date, currency, total = source
    return {
        **_common(key, LOADED_AT),
        "client_id": client_id,
        "number": number,
        "status": INVOICE_STATUS.get(status, status),
        "issue_date": issue_date,
        "due_date": due_date,
        "currency": currency,
        "total": Decimal(str(total)),
    }


def line_row(source: tuple[Any, ...]) -> Row:
    """``id, invoiceId, position, description, quantity, unitPrice, taxRate, amount`` likewise."""
    key, invoice_id, position, description, quantity, unit_price, tax_rate, amount = source
    return {
        "id": key,
        "created_at": LOADED_AT,
        "invoice_id": invoice_id,
        "position": position,
        "description": description,
        "quantity": Decimal(str(quantity)),
        "unit_price": Decimal(str(unit_price)),
        "tax_rate": Decimal(str(tax_rate)),
        "line_total": Decimal(str(amount)),
    }


def _common(key: int, created_at: datetime) -> dict[str, Any]:
    return {"id": key, "created_at": created_at, "updated_at": created_at}


def _move_sequences(connection: Connection) -> None:
    for table in _tables():
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'),"
                f" (SELECT max(id) FROM {table.name}))"
            )
        )


def _tables() -> Iterable[Table]:
    models = (Client, Contact, Invoice, LineItem)
    return (model.metadata.tables[model.__tablename__] for model in models)


def _collect_statistics() -> None:
    """What the peers' data set gets too; the last connection to a SQLite file works off its log."""
    if db.engine.dialect.name == "postgresql":
        with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
    else:
        with db.engine.begin() as connection:
            connection.execute(text("ANALYZE"))
    db.session.remove()
    for engine in db.engines.values():
        engine.dispose()
