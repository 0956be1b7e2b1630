"""The trigram indexes hold exactly what their tables hold."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import Connection, Table, delete, insert, update

from app.clock import utc_now
from app.extensions import Model, db
from app.models import trigrams
from app.models.client import Client

CLIENTS: Table = Client.__table__
SEARCHABLE = {
    table.name: trigrams.searchable_columns(table)
    for table in Model.metadata.sorted_tables
    if trigrams.searchable_columns(table)
}


def add(connection: Connection, **values: object) -> int:
    row = {"created_at": utc_now(), "updated_at": utc_now(), **values}
    return int(connection.execute(insert(CLIENTS), row).inserted_primary_key[0])


def found(connection: Connection, text: str, column: str = "name") -> list[int]:
    """Keys of the clients whose ``column`` contains ``text``, by the index alone on SQLite."""
    if connection.dialect.name == "sqlite":
        query = f"SELECT rowid FROM clients_trigrams WHERE {column} MATCH ? ORDER BY rowid"
        parameters: tuple[str, ...] = (f'"{text}"',)
    else:
        query = f"SELECT id FROM clients WHERE {column} LIKE %s ORDER BY id"
        parameters = (f"%{text}%",)
    return [row[0] for row in connection.exec_driver_sql(query, parameters)]


def test_index_follows_inserts_updates_and_deletes(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        acme = add(connection, name="Acme Turbines", email="office@acme.example")
        other = add(connection, name="Ženeva Mills")
        assert found(connection, "Turb") == [acme]
        assert found(connection, "turb") == []
        assert found(connection, "@acme", "email") == [acme]
        assert found(connection, "Ženeva") == [other]

        connection.execute(update(CLIENTS).where(CLIENTS.c.id == acme).values(name="Acme Pumps"))
        assert found(connection, "Turb") == []
        assert found(connection, "Pumps") == [acme]
        assert found(connection, "@acme", "email") == [acme]

        connection.execute(update(CLIENTS).where(CLIENTS.c.id == other).values(email="a@b.example"))
        assert found(connection, "@b.ex", "email") == [other]

        connection.execute(delete(CLIENTS).where(CLIENTS.c.id == acme))
        assert found(connection, "Pumps") == []
        assert found(connection, "Mills") == [other]


def test_index_is_whole_after_many_changes(app: Flask) -> None:
    """FTS5 compares its index with the table when asked; a wrong old value would show here."""
    with app.app_context(), db.engine.begin() as connection:
        for number in range(30):
            add(connection, name=f"Client {number}", legal_name=None if number % 2 else "Ltd.")
        connection.execute(update(CLIENTS).values(legal_name="GmbH", name="Näme " + CLIENTS.c.name))
        connection.execute(delete(CLIENTS).where(CLIENTS.c.id % 3 == 0))
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(
                "INSERT INTO clients_trigrams(clients_trigrams, rank) VALUES ('integrity-check', 1)"
            )
        assert len(found(connection, "Näme Client")) == 20
        assert len(found(connection, "GmbH", "legal_name")) == 20


@pytest.mark.only_on("sqlite")
def test_change_of_another_column_leaves_the_index_alone(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        add(connection, name="Acme")
        before = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        connection.execute(update(CLIENTS).values(revenue=5))
        after = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        assert after - before == 1


@pytest.mark.parametrize("table", SEARCHABLE)
def test_every_searchable_table_has_its_index(app: Flask, table: str) -> None:
    with app.app_context(), db.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            columns = connection.exec_driver_sql(
                f"SELECT name FROM pragma_table_info('{trigrams.fts_table(table)}')"
            )
            assert tuple(row[0] for row in columns) == SEARCHABLE[table]
        else:
            definition = connection.exec_driver_sql(
                f"SELECT indexdef FROM pg_indexes WHERE indexname = '{trigrams.gin_index(table)}'"
            ).scalar_one()
            assert all(f"{name} gin_trgm_ops" in definition for name in SEARCHABLE[table])


def test_columns_behind_contains_are_the_documented_ones() -> None:
    assert SEARCHABLE == {
        "clients": ("name", "email", "tax_id", "legal_name"),
        "contacts": ("first_name", "last_name", "email"),
        "documents": ("name",),
        "document_contents": ("folded",),
        "opportunities": ("name",),
        "tickets": ("number", "subject"),
        "kb_articles": ("title",),
        "leads": ("last_name", "company", "email"),
        "projects": ("code", "name"),
        "invoices": ("reference", "number"),
        "tasks": ("title",),
    }
