"""What only the database can refuse still names its field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from app.clock import utc_now
from app.crm.clients import CLIENT, CONTACT
from app.db import records
from app.errors import DuplicateError, InUseError, ValidationError
from app.http.security import Caller
from app.projects.service import PROJECT
from app.writing.integrity import named_refusals
from tests.factories import make_client, make_opportunity


def client_row(**values: Any) -> Mapping[str, Any]:
    now = utc_now()
    return {"name": "A", "created_at": now, "updated_at": now, **values}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"status": "Nonsense"}, "status"),
        ({"revenue": -1}, "revenue"),
        ({"payment_terms_days": 366}, "paymentTermsDays"),
        ({"name": None}, "name"),
    ],
)
def test_a_check_names_its_column(admin: Caller, values: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused, named_refusals(CLIENT):
        records.insert(CLIENT.table, client_row(**values))
    assert [detail.field for detail in refused.value.details] == [field]


@pytest.mark.parametrize(("column", "field"), [("number", "number"), ("external_id", "externalId")])
def test_a_duplicate_names_its_column(admin: Caller, column: str, field: str) -> None:
    records.insert(CLIENT.table, client_row(**{column: "C-1"}))
    with pytest.raises(DuplicateError) as refused, named_refusals(CLIENT):
        records.insert(CLIENT.table, client_row(**{column: "C-1"}))
    assert [detail.field for detail in refused.value.details] == [field]


def test_a_second_main_contact_names_the_client(admin: Caller) -> None:
    values = client_row(last_name="A", client_id=make_client(), is_primary=True)
    row = {name: value for name, value in values.items() if name != "name"}
    records.insert(CONTACT.table, row)
    with pytest.raises(DuplicateError) as refused, named_refusals(CONTACT):
        records.insert(CONTACT.table, row)
    assert [detail.field for detail in refused.value.details] == ["clientId"]


def test_a_row_that_others_need_is_in_use(admin: Caller) -> None:
    client_id = make_client()
    make_opportunity(client_id=client_id)
    with pytest.raises(InUseError), named_refusals(CLIENT, deleting=True):
        records.delete(CLIENT.table, client_id)


def test_a_reference_that_vanished_is_a_problem_of_the_body(admin: Caller) -> None:
    with pytest.raises(ValidationError, match="deleted meanwhile"), named_refusals(CLIENT):
        records.insert(CLIENT.table, client_row(owner_id=987_654))


def test_a_check_over_two_columns_names_one_of_them(admin: Caller) -> None:
    row = client_row(start_date=date(2026, 2, 1), end_date=date(2026, 1, 1))
    with pytest.raises(ValidationError) as refused, named_refusals(PROJECT):
        records.insert(PROJECT.table, row)
    assert [detail.field for detail in refused.value.details] == ["startDate"]
