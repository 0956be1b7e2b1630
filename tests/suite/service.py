"""The reference service as a client of the suite sees it: addresses encoded as that client does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

from flask import Flask

from app.db import engines as database, records
from tests.databases import close_engines
from tests.reference.application import create_app
from tests.reference.seed import reseed

NOBODY = "00000000-0000-0000-0000-00000000dead"
NAMESPACE = "ComplianceService"


@contextmanager
def reference_service(url: str) -> Iterator[Service]:
    """The reference model on a new database at ``url``."""
    app = create_app(url)
    yield Service(app)
    close_engines(app)


class Service:
    """Sends requests, and knows what the seeded rows are called."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._http = app.test_client()
        self._keys: dict[str, str] = {}

    def reseed(self) -> None:
        """Fill the model anew, as ``POST /Reseed`` does."""
        with self._app.app_context(), database.transaction():
            reseed(records.connection())
        self._keys = {}

    def send(self, method: str, address: str, body: Any = None, **headers: str) -> Any:
        """Any request; ``If_Match`` is ``If-Match``. A body that is no text is sent as JSON."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, str | bytes):
            body = json.dumps(body)
            given.setdefault("Content-Type", "application/json")
        return self._http.open(_encoded(address), method=method, data=body, headers=given)

    def get(self, address: str, **headers: str) -> Any:
        """The JSON of a GET that succeeds."""
        answer = self.send("GET", self.filled(address), **headers)
        assert answer.status_code == 200, f"{answer.status_code}: {answer.text[:150]}"
        return answer.json

    def rows(self, query: str, path: str = "/Products") -> list[dict[str, Any]]:
        """The rows of a collection."""
        found: list[dict[str, Any]] = self.get(f"{path}?{query}" if query else path)["value"]
        return found

    def names(self, query: str) -> list[str]:
        """The names of products, in their order."""
        return [row["Name"] for row in self.rows(query)]

    def new(self, **values: Any) -> dict[str, Any]:
        """A product that was made."""
        answer = self.send("POST", "/Products", {"Name": "Pen", "Price": 2.5, **values})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json
        return made

    def filled(self, address: str) -> str:
        """An address with ``{product}``, ``{category}``, ``{media}`` in it."""
        for name, set_ in (
            ("product", "Products"),
            ("category", "Categories"),
            ("media", "MediaItems"),
            ("fixed", "ReadOnlyItems"),
        ):
            if f"{{{name}}}" in address:
                address = address.replace(f"{{{name}}}", self.key(set_))
        return address.replace("{nobody}", NOBODY).replace("{ns}", NAMESPACE)

    def key(self, set_: str = "Products") -> str:
        """The key of the first row of a set."""
        if set_ not in self._keys:
            self._keys[set_] = self.rows("$top=1", f"/{set_}")[0]["ID"]
        return self._keys[set_]


def _encoded(address: str) -> str:
    """Options sorted by name, names percent-encoded, blanks as a plus sign."""
    path, mark, query = address.partition("?")
    pairs: list[tuple[str, str]] = sorted(parse_qsl(query.replace("+", "%2B"), True))
    written = "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs)
    return quote(path, safe="/()',=:@!$*;-._~%") + (f"?{written}" if mark else "")


def multipart(*parts: str, boundary: str = "b") -> str:
    """A batch of parts."""
    return "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}--\r\n"


def part(method: str, url: str, body: Mapping[str, Any] | None = None, name: str = "") -> str:
    """A request of a batch."""
    head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    head += f"Content-ID: {name}\r\n" if name else ""
    kind = "" if body is None else "Content-Type: application/json\r\n"
    return f"{head}\r\n{method} {url} HTTP/1.1\r\n{kind}\r\n{json.dumps(body) if body else ''}"


def change_set(*parts: str) -> str:
    """Requests that are done together or not at all."""
    return "Content-Type: multipart/mixed; boundary=c\r\n\r\n" + multipart(*parts, boundary="c")
