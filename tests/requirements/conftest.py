"""Callers over HTTP, and a record of every set."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.conftest import Once
from tests.contract.conftest import Api, admin, anonymous, at_once, sign_in

__all__ = ["admin", "anonymous", "at_once", "made", "sign_in"]

BODIES: dict[str, dict[str, Any]] = {
    "Clients": {"name": "ACME"},
    "Contacts": {"lastName": "Jones"},
    "Leads": {"company": "Initech"},
    "Opportunities": {"name": "Sale", "amount": 1000},
    "Tickets": {"subject": "Question"},
    "Invoices": {"LineItems": [{"description": "Work", "unitPrice": 100, "taxRate": 19}]},
    "KbArticles": {"title": "Answer", "body": "Read this."},
    "Documents": {"name": "file.txt"},
    "Tasks": {"title": "Do"},
    "Projects": {"name": "Building"},
    "Products": {"name": "Advice", "unitPrice": 128},
}


@pytest.fixture
def made(admin: Api, once: Once) -> dict[str, int]:
    """The key of a record of the administrator in every set."""
    keys: dict[str, int] = once("a record of the administrator", partial(_make_records, admin))
    return keys


def _make_records(admin: Api) -> dict[str, int]:
    keys: dict[str, int] = {}
    for name, body in BODIES.items():
        more = {"clientId": keys["Clients"]} if name in ("Opportunities", "Invoices") else {}
        answer = admin.post(f"/odata/{name}", body | more)
        assert answer.status_code == 201, answer.text
        keys[name] = answer.json["id"]
    return keys
