"""The service under test: requests to it, and the rows that were put there to ask about."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

# What stands in a query as it is; the checks write blanks, quotes and umlauts plainly.
_SAFE = "/?&=$()',:;@*+%!~-._"
# The sets in which checks make rows; what refers to others comes first.
_WRITTEN = ("Documents", "Projects", "Contacts", "Clients")


@dataclass(frozen=True)
class Reply:
    """An answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Service:
    """Sends requests below the root of the service, over HTTP."""

    host: str
    port: int
    credentials: Mapping[str, str]
    ids: dict[str, int] = field(default_factory=dict)
    last_ids: dict[str, int] = field(default_factory=dict)
    has_written: bool = False

    @property
    def root(self) -> str:
        return f"http://{self.host}:{self.port}/odata/"

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Any request; a body that is neither bytes nor text is sent as JSON."""
        given = {**self.credentials, **(headers or {})}
        if body is not None and not isinstance(body, bytes | str):
            body = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        elif isinstance(body, str):
            body = body.encode()
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, "/odata/" + quote(path, safe=_SAFE), body, given)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            self.has_written |= method != "GET" and answer.status < 300
            return Reply(answer.status, names, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Any:
        """The JSON of a successful GET; ``If_Match`` is the header ``If-Match``."""
        reply = self.fetch(path, **headers)
        assert reply.status == 200, f"GET {path}: {reply.status} {reply.text[:200]}"
        return reply.json

    def fetch(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, headers=_names(headers))

    def names(self, query: str, path: str = "Clients") -> list[str]:
        """The names (of contacts the last names) of the rows found, in the order of the answer."""
        rows = self.get(f"{path}?{query}")["value"]
        return [row.get("name", row.get("lastName")) for row in rows]

    def found(self, text: str) -> list[str]:
        """The names of the clients that a filter finds, by key."""
        return self.names(f"$filter={text}&$orderby=id")

    def refused(self, path: str, *statuses: int) -> Any:
        """The error of an answer that must be one, 400 by default."""
        reply = self.fetch(path)
        assert reply.status in (statuses or (400,)), f"GET {path}: {reply.status}"
        error = reply.json["error"]
        assert error["code"] and error["message"], reply.text
        return error

    def make(self, path: str, body: Any, **headers: str) -> Any:
        """The JSON of what a POST made."""
        reply = self.send("POST", path, body, _names(headers))
        assert reply.status == 201, f"POST {path}: {reply.status} {reply.text[:300]}"
        return reply.json

    def keep_rows(self) -> None:
        """What is there now stays when rows are taken back."""
        for name in _WRITTEN:
            rows = self.get(f"{name}?$orderby=id desc&$top=1&$select=id")["value"]
            self.last_ids[name] = rows[0]["id"] if rows else 0
        self.has_written = False

    def take_back_rows(self) -> None:
        """Delete what a check made, so that the next one finds what ``fill`` put there."""
        if not self.has_written:
            return
        for name in _WRITTEN:
            for row in self.get(f"{name}?$filter=id gt {self.last_ids[name]}&$select=id")["value"]:
                reply = self.send("DELETE", f"{name}({row['id']})")
                assert reply.status == 204, f"DELETE {name}: {reply.status} {reply.text[:300]}"
        self.has_written = False

    def client(self, name: str = "Acme") -> str:
        """``Clients(1)``."""
        return f"Clients({self.ids[name]})"

    def contact(self, name: str = "Ana") -> str:
        """``Contacts(1)``."""
        return f"Contacts({self.ids[name]})"


def _names(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


CLIENTS: tuple[dict[str, Any], ...] = (
    {"name": "Acme", "status": "Active", "revenue": 100, "employeeCount": 10,
     "email": "office@acme.example", "website": "https://acme.example",
     "billingAddress": {"city": "Bonn", "country": "DE"}},
    {"name": "Delta_x", "status": "Active", "revenue": 6000.5},
    {"name": "O'Neil 50%", "status": "Inactive", "revenue": 700, "employeeCount": 3},
    {"name": "Zürich 日本", "status": "Prospect", "revenue": 7.5, "employeeCount": 5},
)  # fmt: skip
CONTACTS = (("Ana", "Acme"), ("Bo", "Acme"), ("Cleo", "Acme"), ("Dora", "Delta_x"), ("Zoe", None))
LINES = (
    {"description": "Work", "quantity": 5, "unitPrice": 10},
    {"description": "Trip", "quantity": 1, "unitPrice": 3},
)


def fill(service: Service) -> None:
    """Put the rows there that the checks ask about."""
    for body in CLIENTS:
        service.ids[body["name"]] = service.make("Clients", body)["id"]
    for name, owner in CONTACTS:
        more = {} if owner is None else {"clientId": service.ids[owner]}
        service.ids[name] = service.make("Contacts", {"lastName": name, **more})["id"]
    body = {"clientId": service.ids["Acme"], "LineItems": LINES}
    service.ids["invoice"] = service.make("Invoices", body)["id"]
    top = service.make("Tasks", {"title": "Top", "priority": "High"})["id"]
    middle = service.make("Tasks", {"title": "Middle", "parentTaskId": top})["id"]
    service.make("Tasks", {"title": "Low", "parentTaskId": middle, "priority": "Low"})
    service.ids["Top"] = top
    service.keep_rows()
