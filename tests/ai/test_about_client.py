"""Beside a client, figures that are asked of "them" are those of that client."""

from __future__ import annotations

import pytest

from tests.ai.conftest import about, chat, made
from tests.contract.conftest import Api


@pytest.fixture
def globex(api: Api) -> int:
    """A client with one open ticket, beside one with two."""
    acme, globex = (made(api, "Clients", name=name) for name in ("Acme", "Globex & Sons Co. KG"))
    for client in (acme, acme, globex):
        made(api, "Tickets", subject="Printer", description="Red.", clientId=client)
    return globex


@pytest.mark.parametrize(
    "question",
    [
        "How many open tickets do they have?",
        "How many open tickets does this client have?",
        "What is the number of their open tickets?",
        "How many tickets are open for this customer?",
    ],
)
def test_they_are_the_client(api: Api, globex: int, question: str) -> None:
    reply = chat(api, question, context=about("clients", globex))["reply"]
    assert "1 ticket" in reply
    assert "Globex & Sons Co. KG" in reply


@pytest.mark.parametrize(("question", "expected"), [
    ("offene Tickets?", "Printer"), ("Wie viele Tickets haben sie?", "1 Ticket"),
    ("How many tickets do they have?", "1 ticket"), ("open tickets?", "Printer"),
    ("wie viel Umsatz haben wir mit ihnen gemacht?", "keine Rechnungen"),
    ("How many of their tickets are open?", "1 ticket"),
])  # fmt: skip
def test_a_legal_form_in_the_name_is_no_part_of_the_question(
    api: Api, question: str, expected: str
) -> None:
    client = made(api, "Clients", name="Polaris Bau e. K.")
    made(api, "Tickets", subject="Printer", clientId=client)
    made(api, "Tickets", subject="Scanner", clientId=made(api, "Clients", name="Acme"))
    reply = chat(api, question, context=about("clients", client))["reply"]
    assert expected in reply and "Polaris Bau e. K." in reply
    assert "Scanner" not in reply


def test_what_is_asked_of_all_stays_so(api: Api, globex: int) -> None:
    for more in ({}, {"context": about("clients", globex)}):
        assert "3 tickets" in chat(api, "How many open tickets are there?", **more)["reply"]
