"""A service with a scripted model, and records that its tools change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ai.conftest import made
from tests.ai.provider.conftest import (
    ModelServer,
    ai,
    calls,
    server,
    short_pauses,
    sign_in,
)
from tests.contract.conftest import Api

__all__ = ["ai", "server", "short_pauses", "sign_in"]


@pytest.fixture
def acme(ai: Api) -> int:
    """A client."""
    return made(ai, "Clients", name="Acme", email="eva@acme.example")


@pytest.fixture
def invoice(ai: Api, acme: int) -> dict[str, Any]:
    """An issued invoice about 100 EUR."""
    line = {"description": "Work", "unitPrice": 100, "taxRate": 0}
    key = made(ai, "Invoices", clientId=acme, LineItems=[line])
    answer = ai.patch(f"/odata/Invoices({key})", {"status": "Sent"})
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def asks_for(server: ModelServer, tool: str, **arguments: Any) -> None:
    """What the model wants next."""
    server.says(calls((tool, arguments)), "I propose it.")
