"""A filter of a record is put behind the path that leads to the record."""

from __future__ import annotations

import pytest

from app.bi.plans.qualifying import qualified


@pytest.mark.parametrize(
    "text",
    [
        "~status eq 'it''s status eq 1' and ~Client/name ne null",
        "~dueDate lt now() sub duration'P3D' or date(~solvedAt) ge 2026-01-01",
        "contains(tolower(~name),'name') and not (~total sub ~amountPaid gt 3)",
        "Sales.Colour'Red' eq ~colour",
        "~Invoices/$count($filter=isOverdue and (total gt 3)) gt 3",
        "~Lines/any(l:l/Parts/all(p:p/number eq l/number and ~number ne p/number)) and ~l eq 1",
        "case(~total gt 0:~any,true:0) gt 1",
    ],
)
def test_the_paths_of_the_record_are_and_nothing_else(text: str) -> None:
    assert qualified(text.replace("~", ""), "Client") == text.replace("~", "Client/")
