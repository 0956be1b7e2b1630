"""The indexes of the search hold the plain form of what their tables hold, on both databases."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import Connection, Table, delete, insert, update

from app.clock import utc_now
from app.extensions import Model, db
from app.models.client import Client
from app.models.searched import COLUMN, SEARCHED, index_name, search_text

CLIENTS: Table = Client.__table__

# ruff: noqa: RUF001
TEXTS = [
    "Müller & Söhne GmbH", "ŻÓŁĆ Øresund Æther Œuvre", "Straße", "O'Neil-Smith, Ltd.",
    "ΟΔΥΣΣΕΥΣ ὁδός", "ИВАНОВ Ёлкин", "東京株式会社。（新）", "a\tb  c\u00a0d\u2019e",
    "İstanbul ılık",
    "100% _x\\y", "ﬁne Ⅻ ½", "e\u0301cole", "عربي", "👩\u200d🔧 pipes", "C-000001", "a\nb",
]  # fmt: skip


def add(connection: Connection, **values: object) -> int:
    row = {"created_at": utc_now(), "updated_at": utc_now(), **values}
    return int(connection.execute(insert(CLIENTS), row).inserted_primary_key[0])


def found(connection: Connection, text: str) -> list[int]:
    """Keys of the clients whose plain form has ``text``."""
    if connection.dialect.name == "sqlite":
        index = index_name("clients")
        query = f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid"
        rows = connection.exec_driver_sql(query, (f'"{text}"',))
    else:
        query = f"SELECT id FROM clients WHERE {COLUMN} LIKE %s ORDER BY id"
        rows = connection.exec_driver_sql(query, (f"%{text}%",))
    return [row[0] for row in rows]


def test_the_index_follows_every_change(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        first = add(connection, name="Müller & Söhne", email="Büro@mueller.example")
        other = add(connection, name="Acme", tax_id="DE 136-695-976")
        assert found(connection, " muller sohne ") == [first]
        assert found(connection, "buro mueller example") == [first]
        assert found(connection, "de 136 695 976") == [other]
        connection.execute(update(CLIENTS).where(CLIENTS.c.id == first).values(name="Ölwerk"))
        assert found(connection, "muller") == []
        assert found(connection, " olwerk") == [first]
        connection.execute(update(CLIENTS).where(CLIENTS.c.id == first).values(notes="muller"))
        assert found(connection, "muller") == []
        connection.execute(delete(CLIENTS).where(CLIENTS.c.id == first))
        assert found(connection, "olwerk") == []


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.only_on("postgresql")
def test_both_databases_make_the_same_form(app: Flask, text: str) -> None:
    with app.app_context(), db.engine.begin() as connection:
        add(connection, name=text)
        kept = connection.exec_driver_sql(f"SELECT {COLUMN} FROM clients").scalar_one()
        assert kept == search_text(f" {text} \n" + "  \n" * 4)


def test_what_the_search_reads_is_what_the_migration_indexed() -> None:
    for table, fields in SEARCHED.items():
        columns = Model.metadata.tables[table].c
        assert all(name in columns for field in fields for name in field), table
