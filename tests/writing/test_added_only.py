"""Payments and comments are added to another record, and stay as they are."""

from __future__ import annotations

import pytest

from app.errors import InvalidStateError, ValidationError
from app.invoices.payments import PAYMENTS
from app.tickets.comments import COMMENTS
from app.writing.added_only import AddedOnly

BOTH = pytest.mark.parametrize(
    ("service", "parent"),
    [(PAYMENTS, "invoiceId"), (COMMENTS, "ticketId")],
    ids=["payment", "comment"],
)


@BOTH
def test_it_names_what_it_is_added_to(service: AddedOnly, parent: str) -> None:
    with pytest.raises(ValidationError) as refused:
        service.create({})
    assert [detail[:2] for detail in refused.value.details] == [(parent, "is required")]


@BOTH
def test_it_is_never_changed_or_deleted(service: AddedOnly, parent: str) -> None:
    with pytest.raises(InvalidStateError, match="cannot be changed"):
        service.update(1, {"notes": "A"})
    with pytest.raises(InvalidStateError, match="cannot be deleted"):
        service.delete(1)


@pytest.mark.parametrize(
    ("values", "fields"),
    [({"amount": -1}, ["amount"]), ({"amount": "x"}, ["amount"]), ({"status": "Reversed"}, [])],
    ids=str,
)
def test_what_is_wrong_is_told_without_a_write(
    values: dict[str, object], fields: list[str]
) -> None:
    assert [problem.field for problem in PAYMENTS.problems(values, partial=True)] == fields
