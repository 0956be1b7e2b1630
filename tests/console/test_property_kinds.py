"""Each property of the business has one kind, which forms, conditions and files go by."""

from __future__ import annotations

import pytest

from app.console.property_kinds import kind_of
from app.container.model import container
from app.container.words import options_of
from app.odata.model import edm
from tests.console.conftest import SignIn

_PROPERTIES = [
    property_
    for entity_set in container().sets.values()
    for property_ in entity_set.type.properties.values()
]


def _element(type_: edm.EdmType) -> edm.EdmType:
    return type_.element if isinstance(type_, edm.CollectionType) else type_


def test_only_what_has_parts_has_no_kind() -> None:
    for property_ in _PROPERTIES:
        has_parts = isinstance(_element(property_.type), edm.ComplexType)
        assert (kind_of(property_) == "") is has_parts, property_.name


def test_a_choice_has_options_and_an_amount_a_currency() -> None:
    for property_ in _PROPERTIES:
        assert (kind_of(property_) == "choice") is bool(options_of(property_)), property_.name
        is_amount = kind_of(property_) == "amount"
        assert is_amount is (property_.currency_property is not None), property_.name


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (edm.STRING, "text"), (edm.BOOLEAN, "check"), (edm.DATE, "day"), (edm.DATETIME, "moment"),
        (edm.DECIMAL, "number"), (edm.INT32, "whole"), (edm.INT64, "whole"),
        (edm.CollectionType(edm.STRING), "tags"), (edm.EnumType("Shade", {"Red": 0}), "choice"),
    ],
    ids=str,
)  # fmt: skip
def test_a_type_has_a_kind(type_: edm.EdmType, kind: str) -> None:
    assert kind_of(edm.Property(name="a", type=type_, attribute="a")) == kind


def test_a_rate_is_saved_without_a_currency(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("products", name="Pen", unitPrice="2", taxRate="19", currency="EUR")
    assert "tax rate 19." in browser.get(f"products/{key}").text
