"""What holds for the columns of every table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import Connection, delete, insert

from app.extensions import Model, db
from tests.models.rows import any_row

WITH_KEYS = [
    table for table in Model.metadata.sorted_tables if table.autoincrement_column is not None
]


@pytest.fixture
def connection(app: Flask) -> Iterator[Connection]:
    """A transaction in which references may lead nowhere; it is undone."""
    with app.app_context(), db.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        else:
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        yield connection
        connection.rollback()


def test_the_key_of_a_deleted_row_is_given_to_no_other(connection: Connection) -> None:
    again = {}
    for table in WITH_KEYS:
        keys = []
        for number in (1, 2):
            added = connection.execute(insert(table), any_row(table, number))
            [key] = added.inserted_primary_key
            connection.execute(delete(table).where(table.c.id == key))
            keys.append(key)
        if keys[1] <= keys[0]:
            again[table.name] = keys
    assert again == {}


def test_every_number_that_names_a_row_is_given_by_the_database() -> None:
    by_us = {
        table.name: [col.name for col in table.primary_key]
        for table in Model.metadata.sorted_tables
        if table not in WITH_KEYS
    }
    assert by_us == {
        "counters": ["name"], "login_guards": ["name_key"], "security_epochs": ["id"],
        "settings": ["name"], "user_roles": [],
    }  # fmt: skip
