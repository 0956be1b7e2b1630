"""SQLite's index of the search: what has changed waits beside it, and enters it with others."""

from __future__ import annotations

import random

import pytest
from flask import Flask
from sqlalchemy import Connection, Table, delete, insert, select, text, update

from app.clock import utc_now
from app.extensions import db
from app.models.client import Client
from app.models.searched import SEARCHED, index_name, search_text, waiting_table
from migrations import search_index
from migrations.search_index import MOST_WAITING
from tests.models.found import found_among_clients

pytestmark = pytest.mark.only_on("sqlite")

CLIENTS: Table = Client.__table__
INDEX, WAITING = index_name("clients"), waiting_table("clients")
WORDS = ("Müller", "Øresund", "Acme", "Nordwind", "Straße", "x@y.example", "O'Neil", "東京都庁")


def row(**values: object) -> dict[str, object]:
    return {"created_at": utc_now(), "updated_at": utc_now(), **values}


def waiting(connection: Connection) -> int:
    return int(connection.scalar(text(f"SELECT count(*) FROM {WAITING}")))


def indexed(connection: Connection, word: str) -> set[int]:
    """Keys of the rows that have the word according to the index alone."""
    query = f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH ?"
    return set(connection.exec_driver_sql(query, (f'"{word}"',)).scalars())


def found(connection: Connection, word: str) -> set[int]:
    """Keys of the rows that have the word, as readers find them."""
    return set(found_among_clients(connection, word))


def test_what_waits_enters_the_index_together(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        search_index.enter_waiting(connection, "clients")  # what tests before have left
        for number in range(MOST_WAITING - 1):
            connection.execute(insert(CLIENTS), row(name=f"Waiting {number}"))
        assert waiting(connection) == MOST_WAITING - 1
        assert indexed(connection, "waiting") == set()
        assert len(found(connection, "waiting")) == MOST_WAITING - 1
        connection.execute(insert(CLIENTS), row(name="Waiting at last"))
        assert waiting(connection) == 0
        assert len(indexed(connection, "waiting")) == MOST_WAITING


def test_one_statement_changes_more_rows_than_may_wait(app: Flask) -> None:
    count = 3 * MOST_WAITING + 5
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(insert(CLIENTS), [row(name=f"First {at}") for at in range(count)])
        connection.execute(update(CLIENTS).values(name="Second " + CLIENTS.c.name))
        assert waiting(connection) < MOST_WAITING
        assert len(found(connection, "second first")) == count
        connection.execute(delete(CLIENTS))
        assert found(connection, "first") == set()
        search_index.enter_waiting(connection, "clients")
        assert indexed(connection, "first") == set()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_happens_to_rows_they_are_found_by_what_they_have(app: Flask, seed: int) -> None:
    chance = random.Random(seed)
    keys: list[int] = []
    with app.app_context(), db.engine.connect() as connection:
        for step in range(900):
            part = connection.begin_nested() if chance.random() < 0.2 else None
            before = list(keys)
            name = " ".join(chance.sample(WORDS, 2))
            choice = chance.random()
            if choice < 0.4 or not keys:
                # A key comes back, as it does when a backup is restored.
                key = chance.choice([*range(1, 40), 1000 + step])
                if key not in keys:
                    connection.execute(insert(CLIENTS), row(id=key, name=name))
                    keys.append(key)
            elif choice < 0.8:
                changed = chance.sample(keys, min(3, len(keys)))
                connection.execute(
                    update(CLIENTS).where(CLIENTS.c.id.in_(changed)).values(email=name)
                )
            else:
                gone = keys.pop(chance.randrange(len(keys)))
                connection.execute(delete(CLIENTS).where(CLIENTS.c.id == gone))
            if part is not None and chance.random() < 0.5:
                part.rollback()
                keys = before
            elif part is not None:
                part.commit()
            if step % 90 == 0:
                check(connection)
            if step % 250 == 0:
                search_index.enter_waiting(connection, "clients")
        check(connection)
        search_index.enter_waiting(connection, "clients")
        check(connection)


def check(connection: Connection) -> None:
    rows = connection.execute(select(CLIENTS.c.id, CLIENTS.c.name, CLIENTS.c.email)).all()
    for word in WORDS:
        plain = search_text(word)
        expected = {
            row.id for row in rows
            if plain in search_text(row.name) or plain in search_text(row.email or "")
        }  # fmt: skip
        assert found(connection, plain) == expected, word


def test_the_step_before_knows_every_row_and_the_step_after_goes_on(app: Flask) -> None:
    fields = {"clients": SEARCHED["clients"]}
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(insert(CLIENTS), row(name="Nordwind"))
        connection.execute(insert(CLIENTS), row(name="Acme"))
        search_index.index_at_once(connection, fields)
        assert len(indexed(connection, "nordwind")) == 1
        connection.execute(update(CLIENTS).where(CLIENTS.c.name == "Acme").values(name="Nordwind"))
        assert len(indexed(connection, "nordwind")) == 2
        assert indexed(connection, "acme") == set()
        search_index.let_changes_wait(connection, fields)
        assert waiting(connection) == 0
        connection.execute(update(CLIENTS).values(name="Acme"))
        assert len(indexed(connection, "nordwind")) == 2
        assert found(connection, "nordwind") == set()
        assert len(found(connection, "acme")) == 2
