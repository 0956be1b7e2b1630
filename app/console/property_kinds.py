"""What a property holds, by which forms choose a field, lists conditions, files columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.odata.model import edm

NUMBERS = ("amount", "number", "whole")
_OF_TYPES: Mapping[edm.EdmType, str] = {
    edm.STRING: "text", edm.BOOLEAN: "check", edm.DATE: "day", edm.DATETIME: "moment",
    edm.DECIMAL: "number", edm.INT32: "whole", edm.INT64: "whole",
    edm.CollectionType(edm.STRING): "tags",
}  # fmt: skip
# Kind -> the field that it is typed into; one line of text where nothing is said.
INPUTS: Mapping[str, str] = {
    "choice": "choice", "check": "check", "day": "date", "moment": "datetime-local",
    **dict.fromkeys(NUMBERS, "number"),
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A field of a form. ``name`` is that of a property, ``billingAddress.city`` inside one.

    ``value`` is what it begins with; ``options`` are values, or each with its words. ``choices`` is
    the list that suggests records, for a field that names one; ``suggested`` names the texts of
    ``suggestions`` that may be chosen in place of typing another. ``stored`` is what somebody else
    has put into it meanwhile, where that is to be chosen; ``filled_by`` names the amount of a
    record that a step's field begins with.
    """

    name: str
    label: str
    kind: str = "text"
    value: Any = ""
    options: Sequence[str | tuple[str, str]] = ()
    choices: str = ""
    required: bool = False
    hint: str = ""
    problem: str = ""
    stored: str = ""
    suggested: str = ""
    filled_by: str = ""


def kind_of_value(type_: edm.EdmType, options: Sequence[str] | None = None) -> str:
    """``choice``, ``check``, ``day``, ``moment``, ``number``, ``whole``, ``tags`` or ``text``.

    Empty for what has parts.
    """
    if options or isinstance(type_, edm.EnumType):
        return "choice"
    return _OF_TYPES.get(type_, "")


def kind_of(property_: edm.Property) -> str:
    """As ``kind_of_value``; ``amount`` for a number that has a currency."""
    if property_.currency_property is not None:
        return "amount"
    return kind_of_value(property_.type, property_.allowed)


def is_number(property_: edm.Property | None) -> bool:
    """Whether a column is set to the right: figures are, keys of other records are not."""
    if property_ is None or property_.name.endswith("Id"):
        return False
    return kind_of(property_) in NUMBERS
