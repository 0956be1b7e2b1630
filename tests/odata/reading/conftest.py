"""The same rows on each database; every answer must be the same, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Connection, func, insert
from werkzeug.datastructures import Headers

from app.db import engines as database
from app.errors import ApiError
from app.extensions import db
from app.http.security import Caller, make_caller
from app.odata.protocol.preferences import parse_preferences
from app.odata.protocol.request import ReadRequest
from app.odata.reading.answers import Answer
from app.odata.reading.plan import Plan
from app.odata.reading.reader import Reader
from tests.databases import close_engines, new_database
from tests.odata.reading import model
from tests.services import SERVICES

ROOT = "http://service.example/odata/"
CALLER = make_caller(7, "reader", "jwt", {})


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Flask]]:
    """An application on each database that answers, the rows of the model in it."""
    kinds = ["sqlite"] if SERVICES["postgresql"].problem else ["sqlite", "postgresql"]
    folder: Path = tmp_path_factory.mktemp("reading")
    apps: dict[str, Flask] = {}
    with ExitStack() as closing:
        for kind in kinds:
            url = closing.enter_context(new_database(kind, folder, "reading"))
            app = apps[kind] = Flask(f"reading-{kind}", static_folder=None)
            app.config.update(SQLALCHEMY_DATABASE_URI=url)
            database.init_app(app)
            closing.callback(close_engines, app)
            with app.app_context():
                _fill(db.engine)
        yield apps


@pytest.fixture(scope="session")
def connections(services: dict[str, Flask]) -> Iterator[dict[str, Connection]]:
    """A read connection to each database."""
    opened: dict[str, Connection] = {}
    with ExitStack() as closing:
        for kind, app in services.items():
            with app.app_context():
                opened[kind] = closing.enter_context(database.read_engine().connect())
        yield opened


def _fill(engine: Any) -> None:
    model.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(insert(model.makers), model.MAKER_ROWS)
        connection.execute(insert(model.items), model.item_rows())
        for row in model.VEHICLE_ROWS:
            connection.execute(insert(model.vehicles), row)
        model.create_indexes(connection)
        # On SQLite every third row waits beside the index of texts: what changed, and is as before.
        name = model.items.c.name
        some = model.items.update().where(model.items.c.id % 3 == 0)
        connection.execute(some.values(name="changed " + name))
        connection.execute(some.values(name=func.substr(name, len("changed ") + 1)))


@dataclass
class Client:
    """Asks every database, and gives the answer that all of them gave."""

    connections: dict[str, Connection]
    reader: Reader
    caller: Caller = CALLER

    def answer(
        self, path: str, query: str = "", headers: dict[str, str] | None = None, prefer: str = ""
    ) -> Answer:
        """The answer to a GET, errors included."""
        request = ReadRequest(
            path, query, ROOT, Headers(headers or {}), parse_preferences([prefer])
        )
        found = {
            kind: self._on(connection, request) for kind, connection in self.connections.items()
        }
        first = found["sqlite"]
        for kind, other in found.items():
            assert other == first, kind
        return first

    def _on(self, connection: Connection, request: ReadRequest) -> Answer:
        try:
            return self.reader.read(request, self.caller, connection)
        except ApiError as error:
            return Answer(error.status, json.dumps(error.to_odata()).encode(), [])

    def get(self, address: str, **headers: str) -> Any:
        """The JSON, or the text, of a successful answer to ``path?query``.

        Without the types beside values unless ``full``: test_dynamic_types.py has them.
        """
        path, _, query = address.partition("?")
        found = self.answer(
            path, query, {name.replace("_", "-"): headers[name] for name in headers}
        )
        assert found.status == 200, found.body.decode()
        if dict(found.headers)["Content-Type"].startswith("text/plain"):
            return found.body.decode()
        body = json.loads(found.body)
        return body if "full" in headers.get("Accept", "") else without_types(body)

    @staticmethod
    def json(answer: Answer) -> Any:
        """The body of an answer."""
        return json.loads(answer.body)

    def last_plan(self, kind: str) -> Plan:
        """The plan that was made last for a database."""
        made = [key for key in self.reader.plans.shapes() if kind in repr(key)]
        return self.reader.plans.plans(made[-1])[0]

    def values(self, address: str, name: str = "id") -> list[Any]:
        """One property of every row of a collection."""
        return [row[name] for row in self.get(address)["value"]]

    def refused(self, address: str) -> dict[str, Any]:
        """The error of an answer that is none, its status as ``status``."""
        path, _, query = address.partition("?")
        found = self.answer(path, query)
        assert found.status >= 400, found.body.decode()
        error: dict[str, Any] = json.loads(found.body)["error"]
        return {"status": found.status, **error}


def without_types(body: Any) -> Any:
    """``body`` without the types that stand beside values."""
    if isinstance(body, list):
        return [without_types(item) for item in body]
    if not isinstance(body, dict):
        return body
    return {
        name: without_types(value)
        for name, value in body.items()
        if not name.partition("@")[0] or not name.endswith("@odata.type")
    }


@pytest.fixture
def client(connections: dict[str, Connection]) -> Client:
    """A client of the model's service, with no plans yet."""
    return Client(connections, Reader(model.CONTAINER, "a key for the tokens of these tests only"))


@pytest.fixture
def ids(client: Client) -> Callable[[str], list[int]]:
    """The keys of the items that a filter lets through, in order."""
    return lambda text: client.values(f"Items?$filter={text}&$select=id&$orderby=id")


@pytest.fixture
def changing(services: dict[str, Flask]) -> Iterator[Client]:
    """A client whose connections may write; all of it is taken back at the end."""
    opened: dict[str, Connection] = {}
    with ExitStack() as closing:
        for kind, app in services.items():
            with app.app_context():
                opened[kind] = closing.enter_context(db.engine.connect())
                closing.callback(opened[kind].rollback)
        reader = Reader(model.CONTAINER, "a key for the tokens of these tests only")
        yield Client(opened, reader)
