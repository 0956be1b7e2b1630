"""Extensions, unbound: ``create_app`` binds them, so that two apps can live in one process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from flask import Flask
from sqlalchemy import URL, Engine, MetaData, create_engine

from app.declaring import DeclaredTable
from app.partial_index import tell_postgresql
from app.request_context import running_app
from app.transactions import Transactions

WRITE, READ = "write", "read"
# Every constraint has a name, so that a migration can drop it on both databases.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Model(DeclaredTable):
    """Base of every class that declares a table."""

    metadata = MetaData(naming_convention=NAMING)


class Database:
    """The engines of an application, and the running transaction (docs/adr/0111)."""

    metadata = Model.metadata

    def __init__(self) -> None:
        self._engines: WeakKeyDictionary[Flask, Mapping[str, Engine]] = WeakKeyDictionary()
        self.session = Transactions(lambda: self.engine)

    def init_app(self, app: Flask, engines: Mapping[str, Mapping[str, Any]]) -> None:
        """Make the engines of ``app`` from their options, ``url`` among them, by their names."""
        if any(options["url"].get_backend_name() == "postgresql" for options in engines.values()):
            tell_postgresql(self.metadata)
        self._engines[app] = {
            name: create_engine(**{**options, "url": _absolute(options["url"], app)})
            for name, options in engines.items()
        }
        app.teardown_appcontext(lambda error: self.session.remove())

    @property
    def engines(self) -> Mapping[str, Engine]:
        """The engines of the running application, by their names."""
        return self._engines[running_app()]

    @property
    def engine(self) -> Engine:
        """The engine that writes."""
        return self.engines[WRITE]


def _absolute(url: URL, app: Flask) -> URL:
    """A file of SQLite that is named without its folder lies in the folder of the application."""
    file = url.database
    if url.get_backend_name() != "sqlite" or not file or file == ":memory:" or "uri" in url.query:
        return url
    place = Path(app.instance_path, file)
    place.parent.mkdir(parents=True, exist_ok=True)
    return url.set(database=str(place))


db = Database()
