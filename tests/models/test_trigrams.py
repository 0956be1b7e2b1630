"""The trigram indexes hold exactly what their tables hold."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import Connection, Table, Text, cast, delete, insert, update

from app.clock import utc_now
from app.container.common import trigrams_of
from app.extensions import Model, db
from app.models import trigrams
from app.models.searched import COLUMN, SEARCHED
from app.models.ticket import Ticket

TICKETS: Table = Ticket.__table__
SEARCHABLE = {
    table.name: trigrams.searchable_columns(table)
    for table in Model.metadata.sorted_tables
    if trigrams.searchable_columns(table)
}
OF_THEIR_OWN = SEARCHABLE.keys() - SEARCHED.keys()


def add(connection: Connection, **values: object) -> int:
    row = {"created_at": utc_now(), "updated_at": utc_now(), **values}
    return int(connection.execute(insert(TICKETS), row).inserted_primary_key[0])


def found(connection: Connection, text: str, column: str = "subject") -> list[int]:
    """Keys of the tickets whose ``column`` contains ``text``, by the index alone on SQLite."""
    if connection.dialect.name == "sqlite":
        query = f"SELECT rowid FROM tickets_trigrams WHERE {column} MATCH ? ORDER BY rowid"
        parameters: tuple[str, ...] = (f'"{text}"',)
    else:
        query = f"SELECT id FROM tickets WHERE {column} LIKE %s ORDER BY id"
        parameters = (f"%{text}%",)
    return [row[0] for row in connection.exec_driver_sql(query, parameters)]


def test_index_follows_inserts_updates_and_deletes(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        acme = add(connection, subject="Acme Turbines", number="T-office")
        other = add(connection, subject="Ženeva Mills")
        assert found(connection, "Turb") == [acme]
        assert found(connection, "turb") == []
        assert found(connection, "-offi", "number") == [acme]
        assert found(connection, "Ženeva") == [other]

        changed = update(TICKETS).where(TICKETS.c.id == acme).values(subject="Acme Pumps")
        connection.execute(changed)
        assert found(connection, "Turb") == []
        assert found(connection, "Pumps") == [acme]
        assert found(connection, "-offi", "number") == [acme]

        connection.execute(update(TICKETS).where(TICKETS.c.id == other).values(number="a@b.ex"))
        assert found(connection, "@b.ex", "number") == [other]

        connection.execute(delete(TICKETS).where(TICKETS.c.id == acme))
        assert found(connection, "Pumps") == []
        assert found(connection, "Mills") == [other]


def test_index_is_whole_after_many_changes(app: Flask) -> None:
    """FTS5 compares its index with the table when asked; a wrong old value would show here."""
    with app.app_context(), db.engine.begin() as connection:
        for number in range(30):
            add(connection, subject=f"Ticket {number}", number=None if number % 2 else f"N{number}")
        connection.execute(
            update(TICKETS).values(
                number="Nº " + cast(TICKETS.c.id, Text), subject="Näme " + TICKETS.c.subject
            )
        )
        connection.execute(delete(TICKETS).where(TICKETS.c.id % 3 == 0))
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(
                "INSERT INTO tickets_trigrams(tickets_trigrams, rank) VALUES ('integrity-check', 1)"
            )
        assert len(found(connection, "Näme Ticket")) == 20
        assert len(found(connection, "Nº ", "number")) == 20


@pytest.mark.only_on("sqlite")
def test_change_of_another_column_leaves_the_index_alone(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        add(connection, subject="Acme")
        before = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        connection.execute(update(TICKETS).values(description="Loud."))
        after = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        assert after - before == 1


@pytest.mark.parametrize("table", sorted(SEARCHABLE))
def test_every_searchable_table_has_one_index(app: Flask, table: str) -> None:
    with app.app_context(), db.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            tables = connection.exec_driver_sql(
                "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%%'"
                f" AND name LIKE '{table}%trigrams'"
            )
            assert tables.scalars().all() == [trigrams_of(table).table]
            columns = connection.exec_driver_sql(
                f"SELECT name FROM pragma_table_info('{trigrams_of(table).table}')"
            )
            held = SEARCHABLE[table] if table in OF_THEIR_OWN else ("text",)
            assert tuple(columns.scalars()) == held
        else:
            definition = connection.exec_driver_sql(
                f"SELECT indexdef FROM pg_indexes WHERE tablename = '{table}'"
                " AND indexdef LIKE '%%gin_trgm_ops%%'"
            ).scalar_one()
            held = SEARCHABLE[table] if table in OF_THEIR_OWN else (COLUMN,)
            assert all(f"{name} gin_trgm_ops" in definition for name in held)


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
