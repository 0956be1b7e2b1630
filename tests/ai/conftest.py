"""The fixtures of the assistant: callers over HTTP, articles that the search knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.ai.open_streams import signals
from app.ai.turns import background
from tests.conftest import Once
from tests.contract.conftest import Api, sign_in
from tests.kb.conftest import index

__all__ = ["Api", "index", "sign_in"]


@pytest.fixture
def api(sign_in: Callable[..., Api]) -> Api:
    """A signed-in administrator."""
    return sign_in("Admin")


@pytest.fixture
def idle(app: Flask) -> Iterator[None]:
    """Wait for answers made in the background before the database is emptied."""
    yield
    pool = background.unbind(app)
    if pool is not None:
        assert pool.wait(60)
    with app.app_context():
        signals.current.ring()


@pytest.fixture
def acme(api: Api, once: Once) -> int:
    """A client with an unpaid invoice, an opportunity, a ticket and a task."""
    key: int = once("a client with one of each", partial(_make_acme, api))
    return key


def _make_acme(api: Api) -> int:
    key = made(api, "Clients", name="Acme", email="eva@acme.example", currency="EUR")
    invoice = made(
        api, "Invoices", clientId=key, dueDate="2030-01-31",
        LineItems=[{"description": "Work", "unitPrice": 100, "quantity": 2, "taxRate": 0}],
    )  # fmt: skip
    assert api.patch(f"/odata/Invoices({invoice})", {"status": "Sent"}).status_code == 200
    made(api, "Opportunities", name="Turbines", clientId=key, amount=5000)
    made(api, "Tickets", subject="Noise", clientId=key)
    made(api, "Tasks", title="Call Eva", relatedType="Client", relatedId=key)
    return key


def publish(api: Api, title: str, body: str, language: str = "en") -> None:
    """An article for the staff, published."""
    key = made(api, "KbArticles", title=title, body=body, visibility="Internal", language=language)
    for status in ("InReview", "Published"):
        assert api.patch(f"/odata/KbArticles({key})", {"status": status}).status_code == 200


def chat(api: Api, message: str, **body: Any) -> dict[str, Any]:
    """An answer to a message."""
    answer = api.post("/api/ai/chat", {"message": message, **body})
    assert answer.status_code == (202 if body.get("stream") else 200), answer.text
    shown: dict[str, Any] = answer.json
    answer.close()
    return shown


def made(api: Api, entity_set: str, **values: Any) -> int:
    """The key of a new record."""
    answer = api.post(f"/odata/{entity_set}", values)
    assert answer.status_code == 201, answer.text
    return int(answer.json["id"])


def about(module: str, key: int) -> dict[str, Any]:
    """A context."""
    return {"module": module, "entityId": key}
