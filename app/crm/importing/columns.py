"""Columns of a table and the properties that they are: by their headings, or as the caller says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import Boolean, Integer
from sqlalchemy.types import TypeEngine

from app.crm.clients import CLIENT
from app.crm.contacts import CONTACT
from app.crm.leads import LEAD
from app.models.searched import search_text
from app.types import ExactDecimal, UtcDateTime
from app.writing.rules import EntityRules

RULES: Mapping[str, EntityRules] = {"client": CLIENT, "contact": CONTACT, "lead": LEAD}
# Not the column of a record: the client of a contact, by its id in another system.
CLIENT_EXTERNAL_ID = "clientExternalId"
CUSTOM = "customFields."
# Plain form of a heading -> property, for what people write above their columns.
_USUAL = {
    "company": "name", "companyname": "name", "clientname": "name", "vatid": "taxId",
    "vatnumber": "taxId", "taxnumber": "taxId", "emailaddress": "email", "mail": "email",
    "telephone": "phone", "web": "website", "homepage": "website", "surname": "lastName",
    "familyname": "lastName", "givenname": "firstName", "position": "jobTitle",
    "street": "billingAddress.street", "city": "billingAddress.city",
    "state": "billingAddress.state", "zip": "billingAddress.postalCode",
    "postalcode": "billingAddress.postalCode", "country": "billingAddress.country",
}  # fmt: skip
_TRUE = frozenset(("true", "yes", "y", "1", "x", "ja", "oui", "si"))
_FALSE = frozenset(("false", "no", "n", "0", "nein", "non"))
_GROUPED = re.compile(r"-?\d{1,3}(?:[ '\u00a0\u202f]\d{3})+(?:[.,]\d+)?")
_COMMA_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+\.\d+")
_POINT_THOUSANDS = re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d+")
_COMMA = re.compile(r"-?\d+,(?:\d{1,2}|\d{4,})")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; ``target`` is a property on the wire, None for one that is ignored."""

    heading: str
    target: str | None


def plan_columns(
    type_: str, headings: Sequence[str], mapping: Mapping[str, Any]
) -> tuple[list[Column], list[tuple[str, str]]]:
    """What each column is, and what is wrong with the headings: (heading, message).

    Args:
        mapping: heading -> property, or null for a column to ignore; the others are recognised.
    """
    known = properties_of(type_)
    problems = [(name, "is no column of the file") for name in mapping if name not in headings]
    columns: list[Column] = []
    taken: dict[str, str] = {}
    for heading in headings:
        target = _mapped(mapping[heading], known) if heading in mapping else _named(heading, known)
        ignored = heading in mapping and mapping[heading] in (None, "")
        if target is None and not ignored and heading:
            problems.append((heading, _unknown(mapping.get(heading))))
        if target is not None and target in taken:
            problems.append((heading, f"is {target}, as {taken[target]} is"))
        elif target is not None:
            taken[target] = heading
        columns.append(Column(heading, target))
    if not taken and not problems:
        problems.append(("", "no column is a property"))
    return columns, problems


def properties_of(type_: str) -> Mapping[str, str]:
    """Property on the wire -> attribute, of all that a file may give."""
    rules = RULES[type_]
    names = {rules.wire(name): name for name in rules.all_writable if name != "custom_fields"}
    return names | ({CLIENT_EXTERNAL_ID: CLIENT_EXTERNAL_ID} if type_ == "contact" else {})


def _mapped(target: Any, known: Mapping[str, str]) -> str | None:
    is_known = isinstance(target, str) and (target in known or _is_custom(target))
    return target if is_known else None


def _named(heading: str, known: Mapping[str, str]) -> str | None:
    if heading in known or _is_custom(heading):
        return heading
    plain = _plain(heading)
    by_plain = {_plain(name): name for name in known}
    usual = _USUAL.get(plain)
    return by_plain.get(plain) or (usual if usual in known else None)


def _is_custom(name: str) -> bool:
    return name.startswith(CUSTOM) and len(name) > len(CUSTOM)


def _plain(heading: str) -> str:
    return search_text(heading).replace(" ", "")


def _unknown(target: Any) -> str:
    if isinstance(target, str):
        return f"is mapped to {target}, which is no property"
    return "is no property: map it to one, or to null to ignore it"


def row_values(type_: str, columns: Sequence[Column], cells: Sequence[str]) -> dict[str, Any]:
    """The values of a row by attribute; blank cells are left out."""
    known, rules = properties_of(type_), RULES[type_]
    values: dict[str, Any] = {}
    for column, text in zip(columns, cells, strict=False):
        if column.target is None or not text:
            continue
        if column.target.startswith(CUSTOM):
            fields = values.setdefault("custom_fields", {})
            fields[column.target.removeprefix(CUSTOM)] = text
            continue
        attribute = known[column.target]
        type_of = rules.columns.c[attribute].type if attribute in rules.columns.c else None
        values[attribute] = _value(attribute, type_of, text)
    return values


def _value(attribute: str, type_: TypeEngine[Any] | None, text: str) -> Any:
    """A cell as the value of its property; what is none stays text, and is refused later."""
    if attribute == "tags":
        return [tag.strip() for tag in re.split("[;,|]", text) if tag.strip()]
    if isinstance(type_, Boolean):
        folded = text.lower()
        return True if folded in _TRUE else False if folded in _FALSE else text
    if isinstance(type_, ExactDecimal):
        return _number(text)
    if isinstance(type_, Integer):
        return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
    if isinstance(type_, UtcDateTime) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return f"{text}T00:00:00Z"
    if isinstance(type_, UtcDateTime) and re.fullmatch(r"[\d-]{10}[T ][\d:.]+", text):
        return f"{text.replace(' ', 'T')}Z"
    return text


def _number(text: str) -> Any:
    """``1 234,50``, ``1,234.50`` and ``1234,5`` alike; ``1,234`` may be two numbers and is none."""
    if _GROUPED.fullmatch(text):
        text = re.sub("[ '\u00a0\u202f]", "", text)
    if _COMMA_THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    elif _POINT_THOUSANDS.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    elif _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        number = Decimal(text) if len(text) <= 40 else None
    except InvalidOperation:
        return text
    return text if number is None or not number.is_finite() else number
