"""Who is asked for, what our own department is called, and what firms are asked about."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.conftest import Once
from tests.factories import make_client, make_ticket


@pytest.fixture
def ask(app: Flask, ask: Ask, once: Once) -> Ask:
    """The small business, with two lines of business and a category of tickets."""
    once("two lines of business", partial(_make_records, app))
    return ask


def _make_records(app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        client = make_client(name="Ward", industry="Health care")
        make_client(name="Mill", industry="Food and drink")
        make_ticket(client_id=client, category="Support")


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    text: str = answer["query"]["odata"]
    return text.replace("%20", " ").replace("%27", "'")


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("Who are the 5 leads with the highest estimated value?", "Leads"),
        ("who is the lead with the highest score", "Leads"),
        ("Who were the 5 latest leads?", "Leads"),
        ("Who are the 3 customers with the biggest credit limit?", "Clients"),
        ("Who are the three newest contacts?", "Contacts"),
    ],
)
def test_who_records_are_is_no_question_about_us(ask: Ask, question: str, entity: str) -> None:
    address = _address(ask(question))
    assert address.startswith(f"/odata/{entity}?")
    assert "groupby" not in address


@pytest.mark.parametrize(
    "question",
    ["Who has the most open leads?", "who are the 5 sellers with the most won deals"],
)
def test_who_does_something_is_one_of_us(ask: Ask, question: str) -> None:
    assert "groupby((ownerId,Owner/displayName)" in _address(ask(question))


@pytest.mark.parametrize(
    ("question", "only"),
    [
        ("What's the mean satisfaction rating of our support?", False),
        ("average rating of the support team", False),
        ("How many tickets does our support get per day?", False),
        ("average resolution time of our customer service", False),
        ("open support tickets", False),
        ("number of tickets in category Support", True),
        ("support-category tickets", True),
    ],
)
def test_our_support_is_no_category(ask: Ask, question: str, *, only: bool) -> None:
    assert ("category eq 'Support'" in _address(ask(question))) is only


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("invoices that are completely paid", "status eq 'Paid'"),
        ("partially settled invoices", "status eq 'PartiallyPaid'"),
        ("clients who have 60 days to pay", "paymentTermsDays eq 60"),
        ("clients on net 30 terms", "paymentTermsDays eq 30"),
        ("clients with a payment target of 14 days", "paymentTermsDays eq 14"),
        ("contacts responsible for billing", "role eq 'Billing'"),
        ("contacts for technical questions", "role eq 'Technical'"),
        ("healthcare clients", "industry eq 'Health care'"),
        ("clients in food & drink", "industry eq 'Food and drink'"),
        ("firms we work with in Austria", "billingAddress/country eq 'AT'"),
        ("invoices that were dunned twice", "remindersSent eq 2"),
    ],
)
def test_what_firms_are_asked_about(ask: Ask, question: str, part: str) -> None:
    assert part in _address(ask(question))


@pytest.mark.parametrize(
    "question",
    [
        "reminders sent this month",
        "clients who bought hardware and nothing else",
        "how many people work for us?",
        "margin by product",
        "contacts of clients waiting for invoices",
    ],
)
def test_what_is_not_kept_is_sent_back(ask: Ask, question: str) -> None:
    assert ask(question)["status"] == "unsupported"
