"""What an administrator does over the API, and what a clock does, for the tests of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import time_machine
from flask import Flask
from sqlalchemy import update

from app.clock import utc_now
from app.db.engines import transaction
from app.extensions import Model
from app.http.security import acting_as, system_caller
from tests.contract.conftest import Api
from tests.documents.conftest import Files
from tests.factories import make_user, today

LINE = {"description": "Work", "quantity": 1, "unitPrice": 100, "taxRate": 19}
BODIES: dict[str, dict[str, Any]] = {
    "Clients": {"name": "Acme", "email": "acme@example.com"},
    "Contacts": {"lastName": "Ford"},
    "Leads": {"company": "Acme"},
    "Tickets": {"subject": "Help"},
    "KbArticles": {"title": "How", "body": "So."},
    "Documents": {"name": "file.pdf"},
    "Tasks": {"title": "Call"},
    "Projects": {"name": "Move"},
    "Products": {"name": "Advice", "unitPrice": 128},
}


@dataclass
class Doing:
    """An administrator and the application: what events happen to."""

    app: Flask
    api: Api

    def make(self, entities: str, **values: Any) -> int:
        """A record over OData."""
        return int(self.done(self.api.post(f"/odata/{entities}", {**BODIES[entities], **values})))

    def change(self, entities: str, key: int | None = None, **values: Any) -> int:
        """Change a record, a new one unless ``key`` is given."""
        key = self.make(entities) if key is None else key
        return int(self.done(self.api.patch(f"/odata/{entities}({key})", values)))

    def delete(self, entities: str) -> int:
        key = self.make(entities)
        assert self.api.delete(f"/odata/{entities}({key})").status_code == 204
        return key

    def post(self, path: str, **body: Any) -> Any:
        """A REST operation; returns the answer's body."""
        answer = self.api.post(f"/api/{path}", body)
        assert answer.status_code < 300, answer.text
        return answer.json

    def done(self, answer: Any) -> Any:
        assert answer.status_code < 300, answer.text
        return answer.json["id"]

    def other(self) -> int:
        """Another person."""
        with self.app.app_context(), transaction(), acting_as(system_caller()):
            return make_user("Manager").user_id

    def me(self) -> int:
        return int(self.api.get("/api/auth/me").json["id"])

    def run(self, clock: Callable[[], Any], **later: float) -> None:
        """A job of the worker, some time from now."""
        with time_machine.travel(utc_now() + timedelta(**later)), self.app.app_context():
            assert clock()

    def put(self, table: str, key: int, **values: Any) -> None:
        """Set columns past all rules."""
        rows = Model.metadata.tables[table]
        with self.app.app_context(), transaction() as session:
            session.execute(update(rows).where(rows.c.id == key).values(**values))

    def opportunity(self, *changes: dict[str, Any]) -> int:
        client = self.make("Clients")
        body = {"name": "Sale", "clientId": client, "amount": 10}
        key = int(self.done(self.api.post("/odata/Opportunities", body)))
        for change in changes:
            self.change("Opportunities", key, **change)
        return key

    def invoice(self, *, issued: bool = True, **values: Any) -> int:
        body = {"clientId": self.make("Clients"), "LineItems": [LINE], **values}
        key = int(self.done(self.api.post("/odata/Invoices", body)))
        return self.change("Invoices", key, status="Sent") if issued else key

    def pay(self, key: int, amount: float = 119) -> int:
        payment = {"amount": amount, "date": today().isoformat(), "method": "transfer"}
        return int(self.post(f"invoices/{key}/payments", **payment)["id"])

    def ticket(self, *changes: dict[str, Any]) -> int:
        key = self.make("Tickets", assigneeId=self.me())
        for change in changes:
            self.change("Tickets", key, **change)
        return key

    def article(self, *statuses: str) -> int:
        key = self.make("KbArticles")
        for status in statuses:
            self.change("KbArticles", key, status=status)
        return key

    @property
    def files(self) -> Files:
        return Files(self.api)

    def share(self, key: int) -> Any:
        return self.post(f"documents/{key}/share")

    def user(self) -> int:
        with self.app.app_context(), transaction(), acting_as(system_caller()):
            return make_user("Sales").user_id
