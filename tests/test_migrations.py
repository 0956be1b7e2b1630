"""Models and migrations agree, and the migrations go up and down with data on both databases."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import flask_migrate
import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from flask import Flask
from sqlalchemy import URL, Connection, MetaData, insert, inspect, select
from structlog.testing import capture_logs

from app.config import ConfigError
from app.db import engines, schema
from app.extensions import Model, db
from app.models.indexes import autogenerates
from app.models.searched import function_name
from tests.databases import close_engines, new_database
from tests.models.rows import any_row
from tests.schema import describe

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
# What the rows of ``fill`` are found by, made by a migration that meets them.
FORMS = (
    ("clients", "email_form", "info@example.com"), ("clients", "tax_id_form", "DE136695976"),
    ("clients", "phone_form", "+4930901820"), ("contacts", "mobile_form", "+4915123456789"),
    ("contacts", "email_form", None),
)  # fmt: skip
VERSIONS = engines.MIGRATIONS / "versions"
ENTITY = {"created_at": NOW, "updated_at": NOW}


@pytest.fixture
def empty_app(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str], Flask]]:
    """Applications on new, empty databases of the same kind as ``database``."""
    kind = database.partition(":")[0].partition("+")[0]
    made: list[tuple[Flask, Any]] = []

    def make(name: str) -> Flask:
        context = new_database(kind, tmp_path, f"business_platform_test_migrations_{name}")
        app = Flask(name)
        app.config["SQLALCHEMY_DATABASE_URI"] = context.__enter__()
        engines.init_app(app)
        made.append((app, context))
        return app

    yield make
    for app, context in made:
        close_engines(app)
        context.__exit__(None, None, None)


def test_a_database_of_a_newer_version_is_told_so(empty_app: Callable[[str], Flask]) -> None:
    with empty_app("newer").app_context():
        flask_migrate.upgrade(revision="0001")
        with db.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(ConfigError, match=r"by a newer version of the service \(to 9999\)"):
            flask_migrate.upgrade()


@pytest.mark.only_on("postgresql")
def test_a_server_without_icu_is_told_before_anything_is_made(
    empty_app: Callable[[str], Flask],
) -> None:
    app = empty_app("icu")
    with app.app_context(), db.engine.begin() as connection:
        engines.require_icu(connection)
        # Found before pg_catalog only where the path says so.
        connection.exec_driver_sql("CREATE TABLE public.pg_collation (collname text)")
        connection.exec_driver_sql("SET LOCAL search_path = public, pg_catalog")
        with pytest.raises(ConfigError, match="built without ICU"):
            engines.require_icu(connection)


@contextmanager
def held(url: str, table: str) -> Iterator[int]:
    """A transaction that has looked at ``table`` and goes on; gives its process."""
    with psycopg.connect(url, application_name="report") as holder:
        holder.execute(f"SELECT count(*) FROM {table}")
        yield holder.info.backend_pid


@pytest.mark.only_on("postgresql")
@pytest.mark.requirement("OPS-03")
def test_nobody_waits_behind_a_migration_that_waits(
    empty_app: Callable[[str], Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = empty_app("waits")
    monkeypatch.setattr(schema, "REST_SECONDS", 0.2)
    with app.app_context():
        flask_migrate.upgrade(revision="0043")
        url = plain_url(db.engine.url)
    slowest, done = 0.0, threading.Event()

    def migrate() -> None:
        with app.app_context():
            flask_migrate.upgrade(revision="0044")
        done.set()

    with (
        capture_logs() as lines,
        psycopg.connect(url, autocommit=True) as reader,
        held(url, "report_exports") as pid,
    ):
        thread = threading.Thread(target=migrate)
        thread.start()
        until = time.monotonic() + 5
        while time.monotonic() < until:
            began = time.monotonic()
            reader.execute("SELECT count(*) FROM report_exports")
            slowest = max(slowest, time.monotonic() - began)
        assert not done.is_set()
    thread.join(30)
    assert done.is_set()
    # One that began its wait right behind the migration waited as long as that, and no longer.
    assert slowest < 4.5
    told = [line for line in lines if line["event"].startswith("a migration waits")]
    assert told and f"process {pid} (report), idle in transaction" in told[0]["oldest_transaction"]
    with app.app_context(), db.engine.begin() as connection:
        assert ("column", "report_exports.language") in describe(connection)


@pytest.mark.only_on("postgresql")
def test_a_table_that_is_held_for_ever_is_told(
    empty_app: Callable[[str], Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(schema, "REST_SECONDS", 0.01)
    monkeypatch.setattr(schema, "PATIENCE_SECONDS", 0.1)
    with empty_app("held").app_context():
        flask_migrate.upgrade(revision="0043")
        with db.engine.begin() as connection:
            before = describe(connection)
        with (
            held(plain_url(db.engine.url), "report_exports") as pid,
            pytest.raises(ConfigError, match=rf"process {pid} \(report\).*migrate again"),
        ):
            flask_migrate.upgrade(revision="0044")
        with db.engine.begin() as connection:
            assert describe(connection) == before
        flask_migrate.upgrade(revision="0044")


def plain_url(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def fill(connection: Connection) -> None:
    """Rows that refer to each other round every circle of foreign keys."""
    tables = Model.metadata.tables

    def add(table: str, **values: Any) -> int:
        row = {**(ENTITY if "updated_at" in tables[table].c else {"created_at": NOW}), **values}
        return int(connection.execute(insert(tables[table]), row).inserted_primary_key[0])

    user = add("users", username="ann", username_key="ann", display_name="Ann", updated_at=NOW)
    client = add(
        "clients", name="Čeladná Works", revenue=Decimal("1234567.89"), owner_id=user,
        email="Info@Example.com", tax_id="DE 136 695 976", phone="030/901820",
    )  # fmt: skip
    contact = add("contacts", last_name="Novák", client_id=client, mobile="+49 (151) 23456789")
    setting = {"name": "seller", "value": {"country": "DE"}, "updated_at": NOW}
    connection.execute(insert(tables["settings"]), setting)
    opportunity = add(
        "opportunities", name="Turbines", client_id=client, currency="EUR", probability=10,
        stage_changed_at=NOW,
    )  # fmt: skip
    lead = add(
        "leads", company="Works", converted_client_id=client, converted_contact_id=contact,
        converted_opportunity_id=opportunity, status_changed_at=NOW,
    )  # fmt: skip
    clients, opportunities = tables["clients"], tables["opportunities"]
    connection.execute(clients.update().values(origin_lead_id=lead))
    connection.execute(opportunities.update().values(lead_id=lead))
    ticket = add("tickets", subject="Noise", client_id=client, assignee_id=user)
    add("kb_articles", title="Noise", body="Oil it.", slug="noise", source_ticket_id=ticket)
    add("documents", name="Contract.pdf", client_id=client)
    project = add("projects", name="Installation", client_id=client)
    invoice = add(
        "invoices", client_id=client, currency="EUR", total=Decimal("0.07"), project_id=project,
        issue_date=date(2026, 2, 1),
    )  # fmt: skip
    task = add("tasks", title="Install", project_id=project, invoice_id=invoice)
    add(
        "line_items", invoice_id=invoice, task_id=task, position=1, description="Work",
        unit_price=Decimal("0.0333"), tax_rate=Decimal("19.00"), quantity=Decimal("2"),
    )  # fmt: skip
    event = add(
        "events", key="evt_1", type="client.created", entity="Client", entity_id=client,
        sequence=1, payload={"object": {}},
    )  # fmt: skip
    endpoint = add(
        "webhook_endpoints", url="https://example.com", events=["*"], secret="sealed",
    )  # fmt: skip
    add("webhook_deliveries", endpoint_id=endpoint, event_id=event, message_id="msg_1")


@pytest.mark.requirement("OPS-01", "OPS-02")
def test_up_down_and_up_again_with_data(empty_app: Callable[[str], Flask]) -> None:
    app = empty_app("updown")
    with app.app_context():
        flask_migrate.upgrade()
        with db.engine.begin() as connection:
            fill(connection)
        with db.engine.begin() as connection:
            before = describe(connection)
            clients = Model.metadata.tables["clients"]
            assert connection.scalar(select(clients.c.revenue)) == Decimal("1234567.89")
        flask_migrate.downgrade(revision="base")
        with db.engine.begin() as connection:
            assert describe(connection) == {}
        flask_migrate.upgrade()
        with db.engine.begin() as connection:
            assert describe(connection) == before
            fill(connection)


@pytest.mark.requirement("OPS-02", "OPS-03")
def test_every_step_goes_back_and_forth_with_data(empty_app: Callable[[str], Flask]) -> None:
    """One migration after the other is taken back from a full database, made again, and taken back.

    The next one then starts from there: what is made again is what was there before.
    """
    app = empty_app("steps")
    with app.app_context():
        flask_migrate.upgrade()
        with db.engine.begin() as connection:
            fill(connection)
            before = describe(connection)
        steps = revisions()
        for revision, earlier in zip(reversed(steps[1:]), reversed(steps[:-1]), strict=True):
            flask_migrate.downgrade(revision=earlier)
            with db.engine.begin() as connection:
                without = describe(connection)
            flask_migrate.upgrade(revision=revision)
            with db.engine.begin() as connection:
                assert describe(connection) == before, revision
                if revision == "0033":  # it fills what it finds
                    for table, name, form in FORMS:
                        column = Model.metadata.tables[table].c[name]
                        assert connection.scalars(select(column)).all() == [form], name
            flask_migrate.downgrade(revision=earlier)
            before = without


def test_issued_documents_keep_the_rate_of_now_of_their_client(
    empty_app: Callable[[str], Flask],
) -> None:
    """As ``exchangeRates`` has it; the organisation's own currency and drafts have none."""
    tables = Model.metadata.tables
    clients, invoices, settings = tables["clients"], tables["invoices"], tables["settings"]
    rates = {"name": "exchangeRates", "value": {"USD": Decimal("0.92")}, "updated_at": NOW}
    documents = [("EUR", "Sent"), ("USD", "Sent"), ("USD", "Void"), ("USD", "Draft")]
    with empty_app("rates").app_context():
        flask_migrate.upgrade(revision="0044")
        with db.engine.begin() as connection:
            connection.execute(insert(settings), rates)
            for key, (currency, status) in enumerate(documents, start=1):
                client = {"id": key, "name": "Mill", "currency": currency, **ENTITY}
                connection.execute(insert(clients), client)
                invoice = {"id": key, "client_id": key, "currency": "EUR", "status": status}
                row = invoice | {"number": f"INV-2026-{key:05d}", **ENTITY}
                connection.execute(insert(invoices), row)
        flask_migrate.upgrade()
        with db.engine.begin() as connection:
            kept = connection.scalars(select(invoices.c.client_rate).order_by(invoices.c.id)).all()
        assert kept == [None, Decimal("0.92"), Decimal("0.92"), None]


@pytest.mark.only_on("sqlite")
@pytest.mark.requirement("OPS-02", "OPS-03")
def test_tables_made_anew_keep_all_that_is_theirs(empty_app: Callable[[str], Flask]) -> None:
    audited = "UPDATE audit_records SET entity = 'Webhook', entity_id = 9 WHERE id = 3"
    with empty_app("keys").app_context():
        flask_migrate.upgrade(revision="0045")
        with db.engine.begin() as connection:
            fill_all(connection)
            connection.exec_driver_sql("DELETE FROM webhook_attempts WHERE id = 3")
            connection.exec_driver_sql(audited)
            connection.exec_driver_sql("ANALYZE")
        before = rows_and_belongings()
        assert all(rows and statistics for rows, statistics, _ in before.values())
        flask_migrate.upgrade(revision="0046")
        assert rows_and_belongings() == before
        with db.engine.begin() as connection:
            # FTS5 compares what it holds with the rows.
            connection.exec_driver_sql(
                "INSERT INTO document_contents_trigrams(document_contents_trigrams, rank)"
                " VALUES ('integrity-check', 1)"
            )
            endpoints = Model.metadata.tables["webhook_endpoints"]
            endpoint = insert(endpoints).values(any_row(endpoints, 4) | {"created_by_id": 1})
            assert connection.execute(endpoint).inserted_primary_key == (10,)
        flask_migrate.downgrade(revision="0045")
        del before["webhook_endpoints"]
        assert before.items() <= rows_and_belongings().items()


def fill_all(connection: Connection) -> None:
    """The rows 1 to 3 of each table that numbers its rows."""
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    columns = inspect(connection)
    for table in Model.metadata.sorted_tables:
        if table.autoincrement_column is None or table.name == "roles":  # which has them
            continue
        there = {col["name"] for col in columns.get_columns(table.name)}
        for number in (1, 2, 3):
            row = {"id": number, **any_row(table, number)}
            given = {name: value for name, value in row.items() if name in there}
            connection.execute(insert(table).inline().values(given))


def rows_and_belongings() -> dict[str, tuple[list[Any], ...]]:
    """Of each table that numbers its rows what it holds, its statistics, indexes and triggers."""
    statistics = "SELECT idx, stat FROM sqlite_stat1 WHERE tbl = ?"
    belongings = "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ? AND type <> 'table'"
    with db.engine.begin() as connection:
        ask = connection.exec_driver_sql
        return {
            table.name: (
                [tuple(row) for row in ask(f"SELECT * FROM {table.name} ORDER BY id")],
                sorted(map(str, ask(statistics, (table.name,)))),
                sorted(tuple(row) for row in ask(belongings, (table.name,))),
            )
            for table in Model.metadata.sorted_tables
            if table.autoincrement_column is not None
        }


@pytest.mark.only_on("postgresql")
def test_plain_forms_are_the_same_before_functions_made_them(
    empty_app: Callable[[str], Flask],
) -> None:
    app = empty_app("functions")
    tables = ("clients", "contacts", "leads", "opportunities")
    forms = " UNION ALL ".join(f"SELECT text_trigrams FROM {table}" for table in tables)
    functions = "SELECT proname FROM pg_proc WHERE proname LIKE '%%_plain_text' ORDER BY 1"

    def look() -> tuple[list[Any], list[Any]]:
        with db.engine.begin() as connection:
            found = connection.exec_driver_sql(forms).scalars().all()
            return sorted(found), list(connection.exec_driver_sql(functions).scalars())

    with app.app_context():
        flask_migrate.upgrade(revision="0028")
        with db.engine.begin() as connection:
            fill(connection)
        before, none = look()
        assert none == []
        assert " celadna works \n \n info example com \n de 136 695 976 \n \n" in before
        flask_migrate.upgrade(revision="0029")
        assert look() == (before, [function_name(table) for table in tables])
        flask_migrate.downgrade(revision="0028")
        assert look() == (before, [])


def test_models_and_migrations_make_the_same_schema(empty_app: Callable[[str], Flask]) -> None:
    described = []
    for name in ("migrated", "created"):
        with empty_app(name).app_context():
            if name == "migrated":
                flask_migrate.upgrade()
            else:  # the application has told the database's options to what is copied
                _copied(Model.metadata).create_all(db.engine)
            with db.engine.begin() as connection:
                described.append(describe(connection))
    migrated, created = described
    assert {key: value for key, value in migrated.items() if created.get(key) != value} == {}
    assert created.keys() - migrated.keys() == set()


def _copied(metadata: MetaData) -> MetaData:
    """Another with the same tables: to make them on one database marks them for all others."""
    copy: MetaData = pickle.loads(pickle.dumps(metadata))
    return copy


@pytest.mark.requirement("OPS-01")
def test_autogenerate_finds_nothing_to_change(app: Flask) -> None:
    with app.app_context(), db.engine.connect() as connection:
        engines.read_catalogue(connection)
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_object": lambda _, name, kind, *more: autogenerates(
                    Model.metadata, kind, name
                ),
            },
        )
        assert compare_metadata(context, Model.metadata) == []


def revisions() -> list[str]:
    return sorted(path.name[:4] for path in VERSIONS.glob("*.py"))


def test_migrations_are_numbered_in_a_row() -> None:
    assert revisions() == [f"{number:04d}" for number in range(1, len(revisions()) + 1)]
