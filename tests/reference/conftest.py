"""The reference service on each database, filled anew for every test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from app.db import engines as database, records
from app.extensions import db
from tests.databases import close_engines, new_database
from tests.reference.application import create_app
from tests.reference.seed import reseed

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]


@pytest.fixture(scope="session", params=KINDS)
def reference_app(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    folder: Path = tmp_path_factory.mktemp("reference")
    with new_database(request.param, folder, f"reference_{folder.name.replace('-', '_')}") as url:
        app = create_app(url)
        yield app
        close_engines(app)


@dataclass
class Reference:
    """Sends requests to the reference service."""

    http: FlaskClient

    def send(self, method: str, address: str, body: Any = None, **headers: str) -> Any:
        """Any request; ``If_Match`` is the header ``If-Match``. A body that is no bytes is JSON."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        return self.http.open(address, method=method, data=body, headers=given)

    def get(self, address: str, **headers: str) -> Any:
        """The JSON of a successful GET."""
        answer = self.send("GET", address, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json

    def names(self, query: str, path: str = "/Products") -> list[str]:
        """The names of the products that a query finds."""
        return [row["Name"] for row in self.get(f"{path}?{query}")["value"]]

    def key(self, name: str = "Laptop", path: str = "/Products") -> str:
        """The key of a row by its name."""
        row = self.get(f"{path}?$filter=Name eq '{name}'")["value"][0]
        found: str = row["ID"]
        return found

    def product(self, name: str = "Laptop") -> str:
        """The address of a product."""
        return f"/Products({self.key(name)})"


@pytest.fixture(scope="session")
def changes(reference_app: Flask) -> list[Any]:
    """Grows with every commit: most tests only read."""
    seen: list[Any] = []
    with reference_app.app_context():
        event.listen(db.engine, "commit", seen.append)
    return seen


@pytest.fixture
def reference(reference_app: Flask, changes: list[Any]) -> Reference:
    if changes:
        with reference_app.app_context(), database.transaction():
            reseed(records.connection())
        changes.clear()
    return Reference(reference_app.test_client())
