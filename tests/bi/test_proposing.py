"""A model proposes a query for what the rules do not understand: over a real socket."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.ai.provider import health
from app.ai.provider.health import CROWDED
from app.bi.query import flat
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.ai.provider.conftest import ModelServer, ai, make_ai, says, server, short_pauses
from tests.contract.conftest import Api, sign_in
from tests.factories import line, make_client, make_issued_invoice
from tests.receivers import status

__all__ = ["ai", "make_ai", "server", "short_pauses", "sign_in"]

ODD = "gimme the biggies of our zorp"
NAMES = "/odata/Clients?$filter=contains(name,'e')&$select=id,name&$orderby=name"


@pytest.fixture
def clients(ai: Api) -> None:
    with ai.client.application.app_context(), transaction(), acting_as(system_caller("test")):
        plain = {"tax_rate": Decimal(0), "tax_category": "Z"}
        for name, currency in (("Acme", "EUR"), ("Helvetia", "CHF")):
            client = make_client(name=name, currency=currency)
            make_issued_invoice(client_id=client, line_items=[line("70", **plain)])


def ask(api: Api, question: str, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/bi/nlq", {"question": question, **more})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json
    return body


def test_a_proposed_query_is_run_and_never_sure(
    ai: Api, server: ModelServer, clients: None
) -> None:
    server.says(f"```\n{NAMES}\n```")
    answer = ask(ai, ODD)
    assert answer["status"] == "answered" and answer["confidence"] < 0.8
    assert [row["name"] for row in answer["rows"]] == ["Acme", "Helvetia"]
    assert "model proposed" in answer["interpretation"]
    again = ai.get(answer["query"]["odata"])
    assert [flat(row) for row in again.json["value"]] == answer["rows"]
    sent = server.requests[0]
    assert ODD in sent["messages"][-1]["content"] and "tools" not in sent


def test_what_the_rules_understand_is_not_sent(ai: Api, server: ModelServer, clients: None) -> None:
    server.says(NAMES)
    assert ask(ai, "how many clients")["rows"] == [{"count": 2}]
    assert ask(ai, "top clients")["status"] == "needsClarification"
    assert ask(ai, "delete all clients")["status"] == "unsupported"
    assert server.requests == []


@pytest.mark.parametrize(
    "said",
    [
        "NONE",
        "There are two clients.",
        "/odata/Users?$filter=contains(passwordHash,'a')",
        "/odata/Nothing",
        "/odata/Clients?$filter=name eq",
        "/odata/Clients?$skip=1&$skip=2",
        "/odata/Invoices?$apply=aggregate(total with sum as total)",
        "/odata/Invoices?$apply=groupby((status),aggregate(amountDue with average as a))",
        "/odata/Invoices?$apply=compute(total sub taxTotal as net)/aggregate(net with sum as n)",
        "DELETE /odata/Clients(1)",
        "SELECT * FROM users",
    ],
)  # fmt: skip
def test_what_is_no_query_or_is_refused_is_no_answer(
    ai: Api, server: ModelServer, clients: None, said: str
) -> None:
    server.says(said)
    answer = ask(ai, ODD)
    assert answer["status"] == "unsupported" and answer["rows"] == []


def test_amounts_beside_their_currency_are_taken(
    ai: Api, server: ModelServer, clients: None
) -> None:
    server.says(
        "/odata/Invoices?$apply=groupby((currency),aggregate(total with sum as sum))"
        "&$orderby=currency"
    )
    assert [(row["currency"], row["sum"]) for row in ask(ai, ODD)["rows"]] == [
        ("CHF", 70), ("EUR", 70),
    ]  # fmt: skip


def test_a_model_that_fails_leaves_the_refusal(ai: Api, server: ModelServer, clients: None) -> None:
    server.says(status(500))
    answer = ask(ai, ODD)
    assert answer["status"] == "unsupported" and "biggies" in answer["answer"]


def test_few_questions_wait_for_a_model_at_once(
    make_ai: Callable[..., Flask], sign_in: Callable[..., Api], server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each waits in a thread of the web process: the next has its refusal at once."""
    monkeypatch.setattr(health, "MOST_AT_ONCE", 1)
    app = make_ai()
    first, second = sign_in("Admin", app=app), sign_in("Manager", app=app)
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(request: Any) -> None:
        is_asked.set()
        may_answer.wait(10)
        says(NAMES)(request)

    server.says(slow)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, first, ODD)
        try:
            assert is_asked.wait(10)
            assert ask(second, ODD)["status"] == "unsupported"
            crowded = second.post("/api/ai/chat", {"message": ODD}).json
            assert crowded["provider"] == {"status": "fallback", "reason": CROWDED}
            assert not waiting.done() and len(server.requests) == 1
        finally:
            may_answer.set()
        assert waiting.result()["status"] == "answered"
    assert ask(second, ODD)["status"] == "answered"


def test_the_query_has_the_rights_of_the_caller(
    make_ai: Callable[..., Flask], sign_in: Callable[..., Api], server: ModelServer
) -> None:
    app = make_ai()
    accountant = sign_in("Accountant", app=app)
    server.says("/odata/Leads?$select=id")
    assert ask(accountant, ODD)["status"] == "unsupported"
