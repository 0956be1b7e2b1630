"""Columns of a table and the properties that they are: by their headings, or as the caller says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Boolean, Date, Integer
from sqlalchemy.types import TypeEngine

from app.crm.clients import CLIENT
from app.crm.contacts import CONTACT
from app.crm.leads import LEAD
from app.db.types import ExactDecimal, UtcDateTime
from app.errors import ValidationError
from app.models.searched import search_text
from app.settings.days import zone
from app.writing.rules import EntityRules
from app.written.columns import Cell, CellError, DateColumn, NumberColumn, cell_text
from app.written.numbers import COMMA, POINT

RULES: Mapping[str, EntityRules[Any]] = {"client": CLIENT, "contact": CONTACT, "lead": LEAD}
TYPES = tuple(RULES)
ALL_OR_NOTHING, SKIP_BAD = "allOrNothing", "skipBad"
UPDATE_BY = ("externalId", "email")
# The decimal sign of a file, as its sender says it.
SIGNS: Mapping[str, str] = {"point": POINT, "comma": COMMA}
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


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to import.

    ``mapping``: heading -> property, None to ignore the column. ``update`` names the property by
    which a record that is there already is found and changed. ``decimal_sign`` (of ``SIGNS``),
    ``date_order`` (of ``ORDERS``) and ``encoding`` (of ``ENCODINGS``) are said where the file
    leaves a question; None leaves them to the file.
    """

    type: str
    mapping: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    mode: str = ALL_OR_NOTHING
    update: str | None = None
    decimal_sign: str | None = None
    date_order: str | None = None
    encoding: str | None = None


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


class Plan:
    """What the columns of a file are, and how their numbers and dates are written.

    Raises: ValidationError, a heading is no property.
    """

    def __init__(self, headings: Sequence[str], options: Options) -> None:
        self.columns, wrong = plan_columns(options.type, headings, options.mapping)
        if wrong:
            raise ValidationError([(heading or "file", message) for heading, message in wrong])
        self._known = properties_of(options.type)
        self._types = RULES[options.type].table.c
        local = zone()
        self._readers: dict[int, NumberColumn | DateColumn] = {}
        for at, column in enumerate(self.columns):
            type_ = self._type_of(column.target)
            if isinstance(type_, Integer | ExactDecimal):
                self._readers[at] = NumberColumn(SIGNS.get(options.decimal_sign or ""))
            elif isinstance(type_, UtcDateTime | Date):
                self._readers[at] = DateColumn(local, options.date_order)

    @property
    def needs_look(self) -> bool:
        """Whether there are columns of which all cells are to be seen before one is read."""
        return bool(self._readers)

    def see(self, cells: Sequence[Cell]) -> None:
        """Note what the cells of a row say of others in their columns."""
        for at, reader in self._readers.items():
            if at < len(cells):
                reader.see(cells[at])

    def described(self) -> list[dict[str, str | None]]:
        """How each column of numbers or dates is read."""
        return [
            {
                "column": self.columns[at].heading, "field": self.columns[at].target,
                "decimalSign": None, "dateOrder": None, **reader.described(),
            }
            for at, reader in self._readers.items()
        ]  # fmt: skip

    def row_values(self, cells: Sequence[Cell]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """The values of a row by attribute, and what cannot be read; blank cells are left out."""
        values: dict[str, Any] = {}
        problems: list[tuple[str, str]] = []
        for at, (column, cell) in enumerate(zip(self.columns, cells, strict=False)):
            if column.target is None or cell == "":
                continue
            if column.target.startswith(CUSTOM):
                fields = values.setdefault("custom_fields", {})
                fields[column.target.removeprefix(CUSTOM)] = cell_text(cell)
                continue
            attribute = self._known[column.target]
            try:
                values[attribute] = self._value(at, attribute, cell)
            except CellError as error:
                problems.append((column.target, str(error)))
        return values, problems

    def _value(self, at: int, attribute: str, cell: Cell) -> Any:
        """A cell as the value of its property; what is none stays text, and is refused later."""
        type_ = self._type_of(self.columns[at].target)
        reader = self._readers.get(at)
        if isinstance(reader, NumberColumn):
            number = reader.read(cell)
            if not isinstance(type_, Integer):
                return number
            if number != number.to_integral_value():
                raise CellError("must be a whole number")
            return int(number)
        if isinstance(reader, DateColumn):
            is_day = isinstance(type_, Date)
            return reader.read_day(cell) if is_day else reader.read_instant(cell)
        text = cell_text(cell)
        if attribute == "tags":
            return _tags(text)
        if isinstance(type_, Boolean):
            folded = text.lower()
            return True if folded in _TRUE else False if folded in _FALSE else text
        return text

    def _type_of(self, target: str | None) -> TypeEngine[Any] | None:
        attribute = self._known.get(target or "", "")
        return self._types[attribute].type if attribute in self._types else None


def _tags(text: str) -> list[str]:
    """Labels, with the first of these between them that there is."""
    sign = next((each for each in ";|," if each in text), ";")
    return [tag.strip() for tag in text.split(sign) if tag.strip()]
