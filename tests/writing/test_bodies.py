"""Parts of bodies that name properties of an entity are read by attribute."""

from __future__ import annotations

import pytest

from app.crm.clients import CLIENT
from app.errors import ValidationError
from app.writing.validation import below, body_problems, read_properties

pytestmark = pytest.mark.only_on("sqlite")


def test_names_of_the_wire_become_attributes() -> None:
    values = read_properties(CLIENT, {"taxId": "DE1", "billingAddress": {"city": "Bonn"}})
    assert values == {"tax_id": "DE1", "billing_city": "Bonn"}


def test_no_object_names_no_values() -> None:
    assert read_properties(CLIENT, {"billingAddress": None}) == {}


@pytest.mark.parametrize("name", ["tax_id", "billing_city"])
def test_the_name_of_a_column_is_none_of_the_wire(name: str) -> None:
    assert [detail.field for detail in body_problems(CLIENT, {name: "x"}, partial=True)] == [name]


def test_all_that_is_wrong_is_told_at_once() -> None:
    body = {"colour": "red", "name": 5, "billingAddress": {"planet": "Mars"}}
    with pytest.raises(ValidationError) as refused:
        read_properties(CLIENT, body)
    fields = {detail.field for detail in refused.value.details}
    assert fields == {"colour", "name", "billingAddress.planet"}
    assert {detail.field for detail in body_problems(CLIENT, body, partial=True)} == fields


def test_problems_of_a_member_are_below_its_name() -> None:
    with pytest.raises(ValidationError) as refused, below("client"):
        raise ValidationError([("name", "is required")])
    assert refused.value.details[0].field == "client.name"
