"""What is counted of a kind of record, from its part of a file and the entity data model."""

from __future__ import annotations

import pytest
from flask import Flask

from app.bi.plans.entities import Entity, spoken
from app.container.model import container

TICKETS = {
    "set": "Tickets", "one": "ticket", "name": "subject", "date": "createdAt",
    "columns": ["number"], "keys": {"assignee": "assigneeId"},
    "dimensions": {"assignee": ["Assignee/displayName", "agent"]},
    "measures": {"rating": {"label": "Rating", "value": "satisfactionRating", "average": True}},
}  # fmt: skip


@pytest.fixture
def tickets(app: Flask) -> Entity:
    return Entity("Tickets", TICKETS, container())


@pytest.mark.parametrize(
    ("name", "words"),
    [("PartiallyPaid", "partially paid"), ("Client/creditLimit", "credit limit"), ("Won", "won")],
)
def test_a_name_is_said_in_words(name: str, words: str) -> None:
    assert spoken(name) == words


def test_several_are_called_by_their_plural(app: Flask, tickets: Entity) -> None:
    assert tickets.many == "tickets"
    assert Entity("x", {**TICKETS, "one": "opportunity"}, container()).many == "opportunities"


def test_dimensions_are_those_of_the_file_and_the_enumerations(tickets: Entity) -> None:
    assert tickets.dimensions["assignee"].key == "assigneeId"
    assert tickets.dimensions["assignee"].label == "agent"
    assert tickets.dimensions["slaStatus"].label == "sla status"
    assert tickets.person == tickets.dimensions["assignee"]


def test_a_property_is_a_number_a_day_or_neither(tickets: Entity) -> None:
    assert tickets.is_number("reopenCount")
    assert not tickets.is_number("clientId")
    assert not tickets.is_date("createdAt")


def test_a_property_without_a_measure_is_summed(tickets: Entity) -> None:
    measure = tickets.measure_of("reopenCount")
    assert (measure.label, measure.value, measure.average) == ("Reopen count", "reopenCount", False)
