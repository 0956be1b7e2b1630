"""Values that a question only mentions: groups of countries, parts of names, texts, persons; what
is missing, one property against another, and kinds of records that a property tells."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.conftest import Once
from tests.factories import (
    make_client,
    make_contact,
    make_lead,
    make_opportunity,
    make_project,
    make_ticket,
)


@pytest.fixture
def ask(app: Flask, ask: Ask, once: Once) -> Ask:
    """The small business with a line of business, persons, and projects of one name."""
    once("a line of business and persons", partial(_make_records, app))
    return ask


def _make_records(app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        mill = make_client(name="Mill", industry="Food and drink", source="Website")
        make_contact(client_id=mill, first_name="Ann", last_name="Lee", department="IT")
        make_lead(first_name="Sabine", last_name="Hartmann", score=71)
        make_opportunity(client_id=mill, next_step="Send the revised offer")
        make_ticket(client_id=mill, subject="Webhook is refused", category="Support")
        make_project(client_id=mill, name="Till system")
        make_project(client_id=make_client(name="Ward"), name="Till system")
        make_ticket(client_id=mill, category="Data")


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    return unquote(answer["query"]["odata"])


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("customers in DACH", "billingAddress/country in ('DE','AT','CH')"),
        ("clients in the Nordics", "billingAddress/country in ('DK','FI','IS','NO','SE')"),
        ("invoices to Benelux countries", "Client/billingAddress/country in ('BE','NL','LU')"),
        ("IT people at active clients", "department eq 'IT'"),
        ("how many customers came through the website", "source eq 'Website'"),
        ('deals with next step "send the revised offer"', "nextStep eq 'Send the revised offer'"),
        ("data tickets", "category eq 'Data'"),
        ("score of Sabine Hartmann?", "Leads?$filter=id eq "),
        ("clients whose outstanding balance is above their credit limit",
         "outstandingBalance gt creditLimit"),
        ("tasks where the actual hours exceed the estimate", "actualHours gt estimatedHours"),
        ("clients with a credit limit set", "creditLimit ne null"),
        ("documents without an expiry date", "not (expiresAt ne null)"),
        ("whose credit limit is exceeded", "Clients?$filter=outstandingBalance gt creditLimit"),
        ("who has a credit balance with us", "Clients?$filter=creditBalance gt 0"),
        ("top 3 competitors", "groupby((competitor),"),
        ("where do most incidents come from, by country", "groupby((country),"),
        ("which source brought in the most won revenue", "filter(status eq 'Won'"),
        ("till system projects", "Projects?$filter=name eq 'Till system'"),
    ],
)  # fmt: skip
def test_what_is_mentioned_is_found(ask: Ask, question: str, part: str) -> None:
    assert part in _address(ask(question))


def test_a_union_is_no_country(ask: Ask) -> None:
    where = _address(ask("customers outside the EU"))
    assert "'EU'" not in where and "not (billingAddress/country in ('AT'" in where


def test_who_lacks_something_may_be_of_several_kinds(ask: Ask) -> None:
    assert ask("who has no phone number")["status"] == "needsClarification"


def test_refusals_name_all_that_can_be_asked_about(ask: Ask) -> None:
    text = ask("how many blablubs are there")["answer"]
    assert all(kind in text for kind in ("contacts", "articles", "documents", "products"))
