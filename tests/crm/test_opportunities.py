"""Opportunities: stages, what follows from them, and their history."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import time_machine

from app.errors import ValidationError
from app.http.security import Caller
from app.models.opportunity import STAGES, StageChange
from app.settings import save_settings
from tests.factories import (
    event_names,
    make_client,
    make_opportunity,
    rows,
    stored,
    update,
)


def columns(key: int, *names: str) -> tuple[Any, ...]:
    row = stored("Opportunity", key)
    return tuple(row[name] for name in names)


def test_what_is_not_given_follows_from_client_and_stage(admin: Caller) -> None:
    key = make_opportunity(client_id=make_client(currency="USD"), stage="Proposal")
    assert columns(key, "currency", "probability", "weighted_amount", "status") == (
        "USD", 50, 500, "Open",
    )  # fmt: skip


@pytest.mark.parametrize("stage", list(STAGES)[1:4])
def test_the_probability_follows_the_stage_unless_given(admin: Caller, stage: str) -> None:
    key = make_opportunity(amount=Decimal("99.99"))
    update("Opportunity", key, stage=stage)
    assert columns(key, "probability") == (STAGES[stage],)
    assert columns(key, "weighted_amount") == (
        (Decimal("99.99") * STAGES[stage] / 100).quantize(Decimal("0.01")),
    )
    update("Opportunity", key, stage="Prospecting", probability=33)
    assert columns(key, "probability", "weighted_amount") == (33, Decimal("33.00"))


def test_what_was_read_can_be_sent_back_with_another_stage(admin: Caller) -> None:
    key = make_opportunity()
    body = stored("Opportunity", key) | {"stage": "Negotiation"}
    update("Opportunity", key, **{name: value for name, value in body.items() if name != "id"})
    assert columns(key, "stage", "probability") == ("Negotiation", 80)


def test_a_win_closes_and_makes_a_prospect_a_client(admin: Caller) -> None:
    prospect, blocked = make_client(status="Prospect"), make_client(status="Blocked")
    key = make_opportunity(client_id=prospect)
    with time_machine.travel("2026-04-01T00:00:00Z", tick=False):
        update("Opportunity", key, stage="ClosedWon")
        update("Opportunity", make_opportunity(client_id=blocked), stage="ClosedWon")
    assert columns(key, "status", "probability", "weighted_amount") == ("Won", 100, 1000)
    assert columns(key, "closed_at")[0].isoformat() == "2026-04-01T00:00:00+00:00"
    assert stored("Client", prospect)["status"] == "Active"
    assert stored("Client", blocked)["status"] == "Blocked"
    assert event_names("Client", prospect)[1:] == ["client.status_changed", "client.updated"]
    assert event_names("Opportunity", key)[1:] == [
        "opportunity.stage_changed", "opportunity.won", "opportunity.updated",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "lostReason"),
        ({"lost_reason": "Other"}, "lostNotes"),
        ({"lost_reason": "Price", "probability": 5}, "probability"),
    ],
)
def test_a_loss_needs_its_reason(admin: Caller, values: dict[str, Any], field: str) -> None:
    key = make_opportunity()
    with pytest.raises(ValidationError) as refused:
        update("Opportunity", key, stage="ClosedLost", **values)
    assert [detail.field for detail in refused.value.details] == [field]
    with pytest.raises(ValidationError):
        make_opportunity(stage="ClosedLost", **values)


def test_a_reason_is_only_for_a_loss(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        make_opportunity(lost_reason="Price")
    assert refused.value.details[0].field == "lostReason"


def test_a_reopened_sale_forgets_its_end(admin: Caller) -> None:
    key = make_opportunity(stage="ClosedLost", lost_reason="Other", lost_notes="They went away")
    assert columns(key, "status", "probability") == ("Lost", 0)
    update("Opportunity", key, stage="Proposal")
    assert columns(key, "status", "closed_at", "lost_reason", "lost_notes", "probability") == (
        "Open", None, None, None, 50,
    )  # fmt: skip
    assert "opportunity.reopened" in event_names("Opportunity", key)


def test_the_history_says_how_long_each_stage_took(admin: Caller) -> None:
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        key = make_opportunity()
    with time_machine.travel("2026-01-01T01:00:00Z", tick=False):
        update("Opportunity", key, stage="Negotiation")
        update("Opportunity", key, next_step="Call")
    with time_machine.travel("2026-01-03T01:00:00Z", tick=False):
        update("Opportunity", key, stage="Qualification")
    steps = rows(StageChange, opportunity_id=key)
    assert [(step["from_stage"], step["to_stage"], step["seconds"]) for step in steps] == [
        (None, "Prospecting", None),
        ("Prospecting", "Negotiation", 3600),
        ("Negotiation", "Qualification", 2 * 86400),
    ]
    assert {step["by_id"] for step in steps} == {admin.user_id}
    assert columns(key, "previous_stage") == ("Negotiation",)


def test_amounts_in_the_own_currency(admin: Caller) -> None:
    save_settings("exchangeRates", {"USD": Decimal("0.92")})
    key = make_opportunity(currency="USD", amount=Decimal("100.05"))
    assert columns(key, "exchange_rate", "base_amount") == (Decimal("0.92"), Decimal("92.05"))
    update("Opportunity", key, currency="CHF")
    assert columns(key, "exchange_rate", "base_amount") == (0, 0)
    save_settings("exchangeRates", {"USD": Decimal("1000")})
    with pytest.raises(ValidationError) as refused:
        make_opportunity(currency="USD", amount=Decimal("9999999999999.99"))
    assert refused.value.details[0].field == "amount"
