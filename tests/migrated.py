"""Migrated databases: the migrations run once for all processes of a run, and are copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import flask_migrate
from flask import Flask

from app.db import engines
from tests.databases import close_engines, make_database, new_database
from tests.made_once import make_once


class MigratedDatabases:
    """Copies of a database of each kind, which the first process that wants one makes.

    Args:
        folder: the same for all processes of the run.
        run: names the run, among those that are on the same server.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        self._template = template_of(run)

    @contextmanager
    def new(self, kind: str, folder: Path, name: str) -> Iterator[str]:
        """As ``new_database``, with the schema that the migrations make."""
        make_once(self._folder, f"{kind}, migrated", lambda: self._migrate(kind))
        if kind == "sqlite":
            shutil.copyfile(self._folder / "migrated.db", folder / f"{name}.db")
        template = None if kind == "sqlite" else self._template
        with new_database(kind, folder, name, template=template) as url:
            yield url

    def _migrate(self, kind: str) -> None:
        path = self._folder / "migrated.db"
        _migrate(f"sqlite:///{path}" if kind == "sqlite" else make_database(self._template))


def template_of(run: str) -> str:
    """The database of PostgreSQL that is copied; whoever began the run drops it at its end."""
    return f"business_platform_test_migrated_{run}"


def _migrate(url: str) -> None:
    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    engines.init_app(app)
    with app.app_context():
        flask_migrate.upgrade()
    close_engines(app)
