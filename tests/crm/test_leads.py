"""Leads: a name, a status, a reason to give up."""

from __future__ import annotations

import pytest
import time_machine

from app.errors import InvalidStateError, ValidationError
from app.http.security import Caller
from tests.factories import create, event_names, make_lead, put, stored, update


def test_a_lead_needs_a_person_or_a_company(admin: Caller) -> None:
    create("Lead", {"last_name": "Maier"})
    key = create("Lead", {"company": "Acme"})
    for values in ({"first_name": "Eva"}, {"last_name": " ", "company": ""}):
        with pytest.raises(ValidationError) as refused:
            create("Lead", values)
        assert [detail.field for detail in refused.value.details] == ["lastName"]
    with pytest.raises(ValidationError):
        update("Lead", key, company=None)
    update("Lead", key, company=None, last_name="Maier")


def test_a_refused_name_is_not_also_missed(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        create("Lead", {"company": "x" * 201})
    assert [detail.field for detail in refused.value.details] == ["company"]


def test_the_time_of_a_status_is_noted(admin: Caller) -> None:
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        key = make_lead()
    with time_machine.travel("2026-01-02T00:00:00Z", tick=False):
        update("Lead", key, status="Contacted")
    with time_machine.travel("2026-01-03T00:00:00Z", tick=False):
        update("Lead", key, rating="Hot")
    assert stored("Lead", key)["status_changed_at"].day == 2
    assert event_names("Lead", key)[1:] == [
        "lead.status_changed", "lead.updated", "lead.updated",
    ]  # fmt: skip


def test_giving_up_needs_a_reason_and_a_second_try_forgets_it(admin: Caller) -> None:
    key = make_lead()
    with pytest.raises(ValidationError) as refused:
        update("Lead", key, status="Disqualified")
    assert refused.value.details[0].field == "disqualifyReason"
    update("Lead", key, status="Disqualified", disqualify_reason="NoFit", disqualify_notes="Far")
    assert "lead.disqualified" in event_names("Lead", key)
    with pytest.raises(ValidationError):
        update("Lead", key, disqualify_reason=None)
    update("Lead", key, disqualify_reason="Other")
    update("Lead", key, status="New")
    row = stored("Lead", key)
    assert (row["disqualify_reason"], row["disqualify_notes"]) == (None, None)


def test_only_a_lead_that_was_given_up_has_a_reason(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        make_lead(disqualify_reason="Junk", disqualify_notes="x")
    assert {detail.field for detail in refused.value.details} == {
        "disqualifyReason", "disqualifyNotes",
    }  # fmt: skip


def test_a_converted_lead_cannot_be_changed(admin: Caller) -> None:
    key = make_lead()
    put("Lead", key, status="Converted")
    with pytest.raises(InvalidStateError, match="Converted"):
        update("Lead", key, rating="Hot")
