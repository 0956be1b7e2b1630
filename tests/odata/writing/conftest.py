"""A bookshop on each database, and a client for it; every test is rolled back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response
from sqlalchemy import select
from werkzeug.datastructures import Headers

from app.db import engines as database, records
from app.db.types import json_text
from app.extensions import db
from app.http.security import acting_as, make_caller
from app.odata.model import edm
from app.odata.protocol.request import Request
from app.odata.syntax.options import OptionTexts, read_options
from app.odata.syntax.path import parse_path
from app.odata.writing.content import WriteRequest
from app.odata.writing.service import write
from app.odata.writing.targets import resolve_target
from tests.databases import close_engines, new_database
from tests.odata import bookshop
from tests.odata.writing.services import BookService, TableService, TranslationService

ROOT = "http://shop.example/odata/"
KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]


@pytest.fixture(scope="session", params=KINDS)
def shop_app(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An application that has a database and nothing else."""
    folder: Path = tmp_path_factory.mktemp("bookshop")
    with new_database(request.param, folder, f"bookshop_{folder.name.replace('-', '_')}") as url:
        app = Flask("bookshop", static_folder=None)
        app.config.update(SQLALCHEMY_DATABASE_URI=url)
        database.init_app(app)
        with app.app_context():
            bookshop.metadata.create_all(db.engine)
        yield app
        close_engines(app)


@dataclass
class Shop:
    """Sends writes to a bookshop: ``shop.post("Authors", {...})``."""

    container: edm.EntityContainer
    services: dict[str, Any]
    reads: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def send(
        self, method: str, path: str, body: Any = ..., headers: dict[str, str] | None = None,
        **more: Any,
    ) -> Response:  # fmt: skip
        path, _, query = path.partition("?")
        given = Headers(headers or {})
        if body is not ... and "Content-Type" not in given:
            given["Content-Type"] = "application/json"
        raw = (
            body if isinstance(body, bytes) else json.dumps(None if body is ... else body).encode()
        )
        request = Request(
            method, path, query, given, lambda: b"" if body is ... else raw, ROOT, ("/odata/",),
            **more,
        )  # fmt: skip
        return write(WriteRequest(self.container, request, read_options(query), self.read))

    def post(self, path: str, body: Any, **headers: str) -> Response:
        return self.send("POST", path, body, _names(headers))

    def patch(self, path: str, body: Any, **headers: str) -> Response:
        return self.send("PATCH", path, body, _names(headers))

    def put(self, path: str, body: Any, **headers: str) -> Response:
        return self.send("PUT", path, body, _names(headers))

    def delete(self, path: str, **headers: str) -> Response:
        return self.send("DELETE", path, ..., _names(headers))

    def read(self, path: str, options: OptionTexts) -> Response:
        """Stands for the query engine: the row of an entity as JSON."""
        self.reads.append((path, options.system))
        target = resolve_target(self.container, parse_path(path), {})
        row = self.row(target.type, target.key)
        names = {prop.name: row.get(prop.attribute) for prop in target.type.properties.values()}
        response = Response(json_text(names), content_type="application/json")
        if target.type.etag:
            response.headers["ETag"] = f'W/"{row[target.type.etag]}"'
        return response

    def row(self, type_: edm.EntityType, key: Any) -> dict[str, Any]:
        """A row as it stands in the transaction."""
        parts = key if isinstance(key, tuple) else (key,)
        conditions = [
            type_.table.c[type_.properties[name].attribute] == part
            for name, part in zip(type_.key, parts, strict=True)
        ]
        found = records.connection().execute(select(type_.table).where(*conditions)).mappings()
        return dict(found.one())

    def rows(self, table: Any, **values: Any) -> list[dict[str, Any]]:
        """The rows with these values, oldest first."""
        statement = select(table).filter_by(**values).order_by(*table.primary_key)
        return [dict(row) for row in records.connection().execute(statement).mappings()]

    def make(self, path: str, body: Any) -> Any:
        """Create an entity; returns its key."""
        answer = self.post(path, body)
        assert answer.status_code == 201
        return answer.json["id"]


def _names(headers: dict[str, str]) -> dict[str, str]:
    """``If_Match`` -> ``If-Match``."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def shop(shop_app: Flask) -> Iterator[Shop]:
    """The bookshop, empty, with a caller who may read everything."""
    services = {
        "Authors": TableService(bookshop.authors, "name"),
        "Books": BookService(bookshop.books, "title", ("chapters", bookshop.chapters)),
        "Reviews": TableService(bookshop.reviews, "text"),
        "Translations": TranslationService(),
        "Genres": TableService(bookshop.genres, "name"),
    }
    caller = make_caller(1, "ada", "jwt", {"authors:read": "all"})
    with shop_app.app_context(), acting_as(caller):
        yield Shop(bookshop.bookshop(**services), services)
        db.session.rollback()
        db.session.remove()
