"""The trigram indexes hold exactly what their tables hold."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import (
    Connection,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    cast,
    delete,
    insert,
    update,
)

from app.clock import utc_now
from app.extensions import Model, db
from app.models import indexes
from app.models.document import Document, DocumentContent, DocumentVersion
from app.models.searched import COLUMN, SEARCHED, index_name

CONTENTS: Table = DocumentContent.__table__
SEARCHABLE = {
    table.name: indexes.searchable_columns(table)
    for table in Model.metadata.sorted_tables
    if indexes.searchable_columns(table)
}
# Each has an index of its own.
UNIQUE = (PrimaryKeyConstraint, UniqueConstraint)


def add(connection: Connection, number: int, folded: str) -> None:
    """The text of a file of a document of its own."""

    def insert_into(model: type[Model], **values: object) -> int:
        row = {"created_at": utc_now(), **values}
        return int(connection.execute(insert(model), row).inserted_primary_key[0])

    document = insert_into(Document, name="Terms", updated_at=utc_now())
    version = insert_into(
        DocumentVersion, document_id=document, number=1, file_name="a.txt", size=1,
        content_type="text/plain", sha256="0" * 64, blob_key=f"blob-{number}",
    )  # fmt: skip
    insert_into(DocumentContent, document_id=document, version_id=version, folded=folded)


def found(connection: Connection, text: str) -> int:
    """How many files have ``text``, by the index alone on SQLite."""
    if connection.dialect.name == "sqlite":
        query = "SELECT count(*) FROM document_contents_trigrams WHERE folded MATCH ?"
        return int(connection.exec_driver_sql(query, (f'"{text}"',)).scalar_one())
    query = "SELECT count(*) FROM document_contents WHERE folded LIKE %s"
    return int(connection.exec_driver_sql(query, (f"%{text}%",)).scalar_one())


def test_index_is_whole_after_many_changes(app: Flask) -> None:
    """FTS5 compares its index with the table when asked; a wrong old value would show here."""
    with app.app_context(), db.engine.begin() as connection:
        for number in range(30):
            add(connection, number, f"terms {number} ")
        connection.execute(
            update(CONTENTS).values(folded=cast(CONTENTS.c.id, Text) + " näme " + CONTENTS.c.folded)
        )
        least = connection.execute(CONTENTS.select().order_by(CONTENTS.c.id)).first()
        assert least is not None
        connection.execute(delete(CONTENTS).where((CONTENTS.c.id - least.id) % 3 == 0))
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(
                "INSERT INTO document_contents_trigrams(document_contents_trigrams, rank)"
                " VALUES ('integrity-check', 1)"
            )
        assert found(connection, "näme terms") == 20
        connection.execute(delete(CONTENTS))
        assert found(connection, "näme") == 0


@pytest.mark.parametrize("table", sorted(SEARCHABLE))
def test_every_searchable_table_has_one_index(app: Flask, table: str) -> None:
    is_plain = table in SEARCHED
    with app.app_context(), db.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            tables = connection.exec_driver_sql(
                "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%%'"
                f" AND name LIKE '{table}%trigrams'"
            )
            name = index_name(table) if is_plain else indexes.fts_table(table)
            assert tables.scalars().all() == [name]
            columns = connection.exec_driver_sql(f"SELECT name FROM pragma_table_info('{name}')")
            assert tuple(columns.scalars()) == (("text",) if is_plain else SEARCHABLE[table])
        else:
            definition = connection.exec_driver_sql(
                f"SELECT indexdef FROM pg_indexes WHERE tablename = '{table}'"
                " AND indexdef LIKE '%%gin_trgm_ops%%'"
            ).scalar_one()
            held = (COLUMN,) if is_plain else SEARCHABLE[table]
            assert all(f"{name} gin_trgm_ops" in definition for name in held)


@pytest.mark.parametrize("table", Model.metadata.sorted_tables, ids=lambda table: table.name)
def test_no_index_is_the_beginning_of_another(table: Table) -> None:
    """The longer one finds the same rows, and every write would enter both.

    One of some rows only is smaller than what it begins.
    """
    keys = [key for key in table.constraints if isinstance(key, UNIQUE)]
    whole = [index for index in table.indexes if index.dialect_options["sqlite"]["where"] is None]
    assert not [
        f"{shorter.name} begins {longer.name}"
        for shorter in whole
        if not shorter.unique
        for longer in [*whole, *keys]
        if longer is not shorter and entered(longer)[: len(entered(shorter))] == entered(shorter)
    ]


def entered(of: Index | PrimaryKeyConstraint | UniqueConstraint) -> list[str]:
    """What is entered of a row, in its order."""
    return [str(part) for part in (of.expressions if isinstance(of, Index) else of.columns)]


def test_only_what_is_in_plain_form_already_is_indexed_as_it_is() -> None:
    assert SEARCHABLE.keys() - SEARCHED.keys() == {"document_contents"}


def test_columns_behind_contains_are_the_documented_ones() -> None:
    assert SEARCHABLE == {
        "clients": ("number", "name", "email", "tax_id", "legal_name"),
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
        "products": ("sku", "name"),
    }
