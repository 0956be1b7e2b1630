"""When an operation is possible: in the states that its conditions name, and with those amounts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask

from app.errors import ApiError, InUseError, InvalidStateError
from app.models.invoice import Payment
from app.settings.days import today
from app.writing.operations import CONDITIONS, Condition, conditions_of, require_operation
from app.writing.services import SERVICES

EVERY = [(entity, condition) for entity, listed in CONDITIONS.items() for condition in listed]
TABLES = {entity: SERVICES[entity].rules.table for entity in CONDITIONS if entity in SERVICES} | {
    "Payment": Payment.__table__
}


def record(condition: Condition, **values: Any) -> Any:
    """A record that meets ``condition`` in all but ``values``."""
    return SimpleNamespace(
        **{
            "type": condition.record_type,
            "status": (condition.states or (None,))[0],
            **dict.fromkeys(condition.zero, Decimal(0)),
            **dict.fromkeys(condition.positive, Decimal("0.01")),
            **dict.fromkeys(condition.ended),
            **values,
        }
    )


def refused(entity: str, condition: Condition, changed: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        require_operation(entity, entity.lower(), condition.name, changed)
    return caught.value


@pytest.mark.parametrize(("entity", "condition"), EVERY)
def test_it_is_possible_in_each_of_its_states(entity: str, condition: Condition) -> None:
    for status in condition.states or (None,):
        require_operation(entity, "record", condition.name, record(condition, status=status))


@pytest.mark.parametrize(("entity", "name"), sorted({(e, c.name) for e, c in EVERY if c.states}))
def test_a_state_of_no_condition_is_refused_with_those_that_are(entity: str, name: str) -> None:
    listed = [each for each in CONDITIONS[entity] if each.name == name]
    possible = {state for each in listed for state in each.states or ()}
    error = refused(entity, listed[0], record(listed[0], status="Elsewhere"))
    assert isinstance(error, InvalidStateError)
    assert [(detail.field, detail.message) for detail in error.details] == [
        ("status", "is Elsewhere")
    ]
    assert set(error.message.partition("possible in: ")[2].rstrip(".").split(", ")) == possible


@pytest.mark.parametrize(("entity", "condition"), [each for each in EVERY if each[1].record_type])
def test_another_type_is_refused(entity: str, condition: Condition) -> None:
    error = refused(entity, condition, record(condition, type="CreditNote"))
    assert isinstance(error, InvalidStateError)
    assert error.message == f"Only the type {condition.record_type} can be {condition.done}."


@pytest.mark.parametrize(("entity", "condition"), EVERY)
def test_amounts_stand_against_it(entity: str, condition: Condition) -> None:
    for attribute, amount in [
        *((name, Decimal("0.01")) for name in condition.zero),
        *((name, Decimal(0)) for name in condition.positive),
    ]:
        error = refused(entity, condition, record(condition, **{attribute: amount}))
        assert isinstance(error, condition.refusal)
        assert f"is {amount}" in error.message


def test_a_document_is_deleted_when_its_time_is_over(app: Flask) -> None:
    (condition,) = (each for each in CONDITIONS["Document"] if each.ended)
    with app.app_context():
        before = record(condition, retain_until=today() - timedelta(days=1))
        require_operation("Document", "document", "delete", before)
        for days in (0, 1):
            kept = record(condition, retain_until=today() + timedelta(days=days))
            error = refused("Document", condition, kept)
            assert isinstance(error, InUseError)
            assert [detail.field for detail in error.details] == ["retainUntil"]


def test_a_message_says_what_cannot_be_done_whatever_is_declared() -> None:
    assert Condition(name="merge").done and all(condition.done for _, condition in EVERY)


def test_what_no_condition_names_is_possible_and_needs_the_right_to_it() -> None:
    require_operation("Task", "task", "delete", SimpleNamespace(status="Done"))
    assert [(each.name, each.rights) for each in conditions_of("Task", "tasks")] == [
        ("update", ("tasks:update",)), ("delete", ("tasks:delete",)),
    ]  # fmt: skip
    lead = [each.name for each in conditions_of("Lead", "leads")]
    assert sorted(lead) == ["convert", "delete", "update"]


@pytest.mark.parametrize(("entity", "condition"), EVERY)
def test_it_speaks_of_states_and_amounts_that_there_are(entity: str, condition: Condition) -> None:
    table = TABLES[entity]
    assert {*condition.zero, *condition.positive, *condition.ended} <= set(table.c.keys())
