"""The counters of keys."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import insert

from app.db.row_keys import go_on_after, last_key
from app.extensions import Model, db
from tests.models.rows import any_row

TABLE = Model.metadata.tables["named_columns"]


def test_keys_go_on_after_the_last_one_and_never_back(app: Flask) -> None:
    with app.app_context(), db.engine.connect() as connection:
        assert last_key(connection, TABLE) == 0
        # One is where a counter of PostgreSQL stands before it was ever asked, too.
        for after, key in ((1, 2), (7, 8), (3, 9)):
            go_on_after(connection, TABLE, after)
            added = connection.execute(insert(TABLE), any_row(TABLE, key))
            assert added.inserted_primary_key == (key,)
            assert last_key(connection, TABLE) == key
        connection.rollback()
