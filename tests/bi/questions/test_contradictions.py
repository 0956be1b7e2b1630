"""Filters that a record can fulfil, and those that none can."""

from __future__ import annotations

import pytest
from flask import Flask

from app.bi.questions.contradictions import is_possible
from app.container.model import container


@pytest.mark.parametrize(
    ("set_name", "filters"),
    [
        ("Invoices", ["status eq 'Paid'", "status in ('Sent','PartiallyPaid')"]),
        ("Invoices", ["total gt 500", "total lt 100"]),
        ("Invoices", ["total gt 500", "total le 500"]),
        ("Invoices", ["isOverdue", "not (isOverdue)"]),
        ("Invoices", ["isOverdue", "status eq 'Paid'"]),
        ("Invoices", ["paidAt ge 2026-06-01T00:00:00Z", "status eq 'Sent'"]),
        ("Invoices", ["issueDate ge 2026-06-01", "issueDate lt 2026-05-01"]),
        ("Invoices", ["type eq 'Invoice'", "type ne 'Invoice' or total gt 5 and total lt 5"]),
        ("Tasks", ["Project/isOverdue", "Project/status eq 'Completed'"]),
        ("Clients", ["Invoices/any()", "not (Invoices/any())"]),
        ("Opportunities", ["status ne 'Open'", "not (status in ('Won','Lost'))"]),
        ("Documents", ["expiresAt eq null", "expiresAt lt 2026-01-01"]),
    ],
)
def test_what_no_record_fulfils(app: Flask, set_name: str, filters: list[str]) -> None:
    assert not is_possible(container().sets[set_name].type, filters)


@pytest.mark.parametrize(
    ("set_name", "filters"),
    [
        ("Invoices", []),
        ("Invoices", ["status eq 'Sent'", "isOverdue"]),
        ("Invoices", ["total gt 100", "total lt 500"]),
        ("Invoices", ["total ge 500", "total le 500"]),
        ("Invoices", ["not (isOverdue)", "status eq 'Paid'"]),
        ("Invoices", ["paidAt eq null", "status eq 'Sent'"]),
        ("Invoices", ["status eq 'Paid' or status eq 'Sent'", "isOverdue"]),
        # Each of these may be another invoice.
        ("Clients", ["Invoices/any(i:i/isOverdue)", "Invoices/any(i:i/status eq 'Paid')"]),
        ("Clients", ["not Invoices/any(i:i/isOverdue and i/status eq 'Paid')"]),
        ("Opportunities", ["status ne 'Open'"]),
        ("Tasks", ["dueAt lt now()", "dueAt gt 2026-01-01T00:00:00Z"]),
    ],
)
def test_what_a_record_can_fulfil(app: Flask, set_name: str, filters: list[str]) -> None:
    assert is_possible(container().sets[set_name].type, filters)


def test_of_too_many_ways_nothing_is_said(app: Flask) -> None:
    either = [f"name eq '{one}' or number eq '{one}'" for one in range(7)]
    impossible = ["employeeCount gt 5", "employeeCount lt 5"]
    assert is_possible(container().sets["Clients"].type, [*either, *impossible])
