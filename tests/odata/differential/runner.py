"""Puts queries to both databases and to Python, and stops at the first that they answer apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from flask import Flask
from hypothesis import HealthCheck, Phase, given, seed as seeded, settings
from sqlalchemy import Connection, delete, insert

from app.db import engines as database
from app.errors import ApiError
from app.extensions import db
from app.http.security import make_caller
from app.odata.protocol.request import ReadRequest
from app.odata.reading.reader import Reader
from tests.databases import close_engines, new_database
from tests.odata.differential.expectation import Expectation, answered
from tests.odata.differential.queries import QUERIES, Query, address_options
from tests.odata.differential.rows import random_rows
from tests.odata.reading import model

ROOT = "http://service.example/odata/"
CALLER = make_caller(7, "reader", "jwt", {})
# New rows after so many queries.
ROUND = 500


class Databases:
    """The same rows in each database."""

    def __init__(self, apps: dict[str, Flask]) -> None:
        self._apps = apps
        self._reader = Reader(model.CONTAINER, "a key for the tokens of this run only")
        self.kinds = tuple(apps)

    def fill(self, items: Sequence[Any], makers: Sequence[Any]) -> None:
        """Replace all rows."""
        for app in self._apps.values():
            with app.app_context(), db.engine.begin() as connection:
                connection.execute(model.items.update().values(parent_id=None))
                connection.execute(delete(model.items))
                connection.execute(delete(model.makers))
                connection.execute(insert(model.makers), makers)
                connection.execute(insert(model.items), items)

    def ask(self, options: dict[str, str]) -> dict[str, tuple[int, str]]:
        """Status and body of the answer of each database."""
        query = "&".join(f"{name}={quote(text)}" for name, text in options.items())
        found = {}
        for kind, app in self._apps.items():
            with app.app_context(), database.read_engine().connect() as connection:
                found[kind] = self._ask(connection, query)
        return found

    def _ask(self, connection: Connection, query: str) -> tuple[int, str]:
        try:
            answer = self._reader.read(ReadRequest("Items", query, ROOT), CALLER, connection)
        except ApiError as error:
            return error.status, json.dumps(error.to_odata())
        return answer.status, answer.body.decode()


@contextmanager
def databases(folder: Path, kinds: Sequence[str], name: str) -> Iterator[Databases]:
    """The tables of the model, empty, in a database of each kind."""
    with ExitStack() as stack:
        apps = {}
        for kind in kinds:
            url = stack.enter_context(new_database(kind, folder, name))
            app = Flask(f"differential-{kind}", static_folder=None)
            app.config.update(SQLALCHEMY_DATABASE_URI=url)
            database.init_app(app)
            with app.app_context(), db.engine.begin() as connection:
                model.metadata.create_all(connection)
                model.create_indexes(connection)
            stack.callback(close_engines, app)
            apps[kind] = app
        yield Databases(apps)


def run(
    found: Databases, count: int, seed: int, progress: Callable[[int], None] = lambda done: None
) -> None:
    """Ask ``count`` random queries.

    Raises: AssertionError, at a query that two of the three answer apart; hypothesis tells the
        shortest such query that it finds.
    """
    done = 0
    while done < count:
        size = min(ROUND, count - done)
        items, makers = random_rows(Random(seed + done))
        found.fill(items, makers)
        _round(found, Expectation(items, makers), size, seed + done)
        done += size
        progress(done)


def _round(found: Databases, expectation: Expectation, count: int, seed: int) -> None:
    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(QUERIES)
    def agrees(query: Query) -> None:
        check(found, expectation, query)

    agrees()


def check(found: Databases, expectation: Expectation, query: Query) -> None:
    """Ask one query.

    Raises: AssertionError.
    """
    options = address_options(query)
    answers = found.ask(options)
    first = next(iter(answers.values()))
    assert all(answer == first for answer in answers.values()), (options, answers)
    status, body = first
    if status == 400 and "out of range" in body:
        return  # a whole number beyond 64 bits, which Python has and no database
    assert status == 200, body
    rows = json.loads(body, parse_float=Decimal)["value"]
    assert answered(query, rows) == expectation.of(query), query
