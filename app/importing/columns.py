"""Columns of a table and the properties that they are: by their headings, or as the caller says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Date, Integer
from sqlalchemy.types import TypeEngine

from app.container.words import word_text
from app.crm.clients import CLIENT, CONTACT
from app.crm.leads import LEAD
from app.db.types import ExactDecimal, UtcDateTime
from app.errors import ValidationError
from app.http.schema_bounds import CONTROLS
from app.http.security import current_caller
from app.importing.units import unit_code
from app.invoices.lines import UNKNOWN_UNIT
from app.invoices.products import PRODUCT
from app.localisation.catalogue import languages
from app.localisation.code_names import (
    UNKNOWN_COUNTRY,
    country_code,
    language_code,
    read_currency,
    without_currency,
)
from app.localisation.columns import Cell, CellError, DateColumn, NumberColumn, cell_text
from app.localisation.data_files import data_beside
from app.localisation.numbers import COMMA, POINT
from app.models.searched import search_text
from app.permissions import allowed
from app.settings.days import zone
from app.writing.fields import has_one_line
from app.writing.rules import EntityRules

# --- a whole name in one cell, as the first and the last name of a person

# What stands before a last name and belongs to it.
_PARTICLES = frozenset((
    "af", "al", "bin", "da", "dal", "de", "del", "della", "den", "der", "di", "dos", "du", "el",
    "ibn", "la", "las", "le", "los", "ten", "ter", "van", "vom", "von", "zu", "zum", "zur",
))  # fmt: skip
# Words of address are no part of a name; titles are, and go with the first one.
_ADDRESS = frozenset((
    "herr", "herrn", "frau", "mr", "mrs", "ms", "miss", "mx", "monsieur", "madame", "mme",
))  # fmt: skip
_TITLE = re.compile(r"(dr|prof|dipl|mag|ing|med|univ|jur|phil|rer|nat|h\.c)\b[\w.-]*", re.I)
_SUFFIX = re.compile(r"(jr|sr|ii|iii|iv|mba|phd|ph\.d|msc|bsc|llm|ll\.m)\.?", re.I)


def split_name(text: str) -> tuple[str, str]:
    """``Müller, Jens`` and ``Jens Müller`` -> ``("Jens", "Müller")``; the first may be empty.

    What stands before a comma is the last name, else it begins at the first particle (``von``,
    ``van der``), or is the last word. ``Dr.`` stays before the first name, ``Jr.`` behind the last.
    """
    before, comma, after = (part.strip() for part in text.partition(","))
    if comma and after and not _SUFFIX.fullmatch(after):
        return " ".join(_without_address(after.split())), " ".join(_without_address(before.split()))
    words = _without_address(text.replace(",", " ").split())
    ends = len(words)
    while ends > 1 and _SUFFIX.fullmatch(words[ends - 1]):
        ends -= 1
    titles = 0
    while titles < ends - 1 and _TITLE.fullmatch(words[titles]):
        titles += 1
    particles = (at for at in range(titles, ends - 1) if _is_particle(words[at], at == titles))
    at = next(particles, ends - 1)
    return " ".join(words[:at]), " ".join(words[at:])


def _is_particle(word: str, is_first: bool) -> bool:
    """Whether a last name begins with a word; at the beginning ``Van`` is a first name."""
    return word.casefold() in _PARTICLES and (word.islower() or not is_first)


def _without_address(words: list[str]) -> list[str]:
    names = [word for word in words if word.rstrip(".").casefold() not in _ADDRESS]
    return names or words


RULES: Mapping[str, EntityRules[Any]] = {
    "client": CLIENT, "contact": CONTACT, "lead": LEAD, "product": PRODUCT,
}  # fmt: skip
TYPES = tuple(RULES)
ALL_OR_NOTHING, SKIP_BAD = "allOrNothing", "skipBad"
# What a record that is there already is found by -> the column that has it.
UPDATE_BY = {"externalId": "external_id", "email": "email_form", "sku": "sku"}
# The decimal sign of a file, as its sender says it.
SIGNS: Mapping[str, str] = {"point": POINT, "comma": COMMA}
# Not the column of a record: the client of a contact, by its id in another system.
CLIENT_EXTERNAL_ID = "clientExternalId"
CUSTOM = "customFields."
# The name of a contact's client, where there is one client of that name.
CLIENT_NAME = "clientName"
# The owner of a record, by user name, name or e-mail address.
OWNER_NAME = "ownerName"
# First and last name of a person in one cell; columns of their own go before it.
FULL_NAME = "fullName"
_NAMES = {"firstName": "first_name", "lastName": "last_name"}
# What becomes of a column that is not recognised.
REFUSE, IGNORE = "refuse", "ignore"
UNKNOWN_COLUMNS = (REFUSE, IGNORE)
# A host without the scheme before it.
_DOMAIN = re.compile(r"[^\s/:@]+\.[^\s/:@.]{2,}(/\S*)?")
_TRUE = frozenset(("true", "yes", "y", "1", "x", "ja", "oui", "si"))
_FALSE = frozenset(("false", "no", "n", "0", "nein", "non"))


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to import.

    ``mapping``: heading -> property, None to ignore the column. ``update`` names the property by
    which a record that is there already is found and changed. ``decimal_sign`` (of ``SIGNS``),
    ``date_order`` (of ``ORDERS``) and ``encoding`` (of ``ENCODINGS``) are said where the file
    leaves a question; None leaves them to the file. ``unknown_columns`` (of ``UNKNOWN_COLUMNS``) is
    what becomes of a column that is not recognised. ``remembered`` asks for the mapping that was
    said of the last file with the same headings.
    """

    type: str
    mapping: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    mode: str = ALL_OR_NOTHING
    update: str | None = None
    decimal_sign: str | None = None
    date_order: str | None = None
    encoding: str | None = None
    unknown_columns: str = REFUSE
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; ``target`` is a property on the wire, None for one that is ignored."""

    heading: str
    target: str | None


def plan_columns(
    headings: Sequence[str], options: Options
) -> tuple[list[Column], list[tuple[str, str]]]:
    """What each column is, and what is wrong with the headings: (heading, message).

    What the mapping says goes before the name of a property, and that before what is usually
    meant by a heading; of two columns that usually mean the same the first is it.
    """
    mapping = options.mapping
    problems = [(name, "is no column of the file") for name in mapping if name not in headings]
    recognised = [_recognise(heading, options) for heading in headings]
    targets: list[str | None] = [None] * len(headings)
    taken: dict[str, int] = {}  # by which column
    for at in sorted(range(len(headings)), key=lambda at: recognised[at][1]):
        target, way = recognised[at]
        if target is not None and target not in taken:
            targets[at] = target
            taken[target] = at
    for heading, target, (wanted, way) in zip(headings, targets, recognised, strict=True):
        if target is not None or not heading:
            continue
        if wanted is not None and (way is not _Way.USUAL or options.unknown_columns == REFUSE):
            problems.append((heading, f"is the same property as column {taken[wanted] + 1}"))
        elif wrong := mapping.get(heading):
            problems.append((heading, f"is mapped to {wrong}, which is no property"))
        elif heading not in mapping and options.unknown_columns == REFUSE:
            unknown = "is no property: map it to one, or to null to ignore it"
            problems.append((heading, unknown))
    if not taken and not problems:
        problems.append(("", "No column is a property."))
    return list(map(Column, headings, targets)), problems


class _Way(IntEnum):
    """How a column was recognised, surest first."""

    MAPPED = 0
    NAMED = 1
    USUAL = 2


def _recognise(heading: str, options: Options) -> tuple[str | None, _Way]:
    known, plain = properties_of(options.type), _plain(heading)
    if heading in options.mapping:
        target = options.mapping[heading]
        is_known = isinstance(target, str) and (target in known or _is_custom(target))
        return (target if is_known else None), _Way.MAPPED
    if heading in known or _is_custom(heading):
        return heading, _Way.NAMED
    if (named := _plain_properties(options.type).get(plain)) is not None:
        return named, _Way.NAMED
    return usual_headings(options.type).get(plain), _Way.USUAL


def importable() -> list[str]:
    """The types of which the caller may create records."""
    caller = current_caller()
    return [name for name in TYPES if allowed(caller, RULES[name].permissions["create"])]


def properties_of(type_: str) -> Mapping[str, str]:
    """Property on the wire -> attribute, of all that a file may give."""
    rules = RULES[type_]
    names = {rules.wire(name): name for name in rules.all_writable if name != "custom_fields"}
    more: tuple[str, ...] = (CLIENT_EXTERNAL_ID, CLIENT_NAME) if type_ == "contact" else ()
    if type_ in ("contact", "lead"):
        more += (FULL_NAME,)
    if "owner_id" in rules.all_writable:
        more += (OWNER_NAME,)
    return names | {name: name for name in more}


@cache
def _plain_properties(type_: str) -> Mapping[str, str]:
    """Plain form of its name -> a property that a file may give."""
    return {_plain(name): name for name in properties_of(type_)}


@cache
def usual_headings(type_: str) -> Mapping[str, str]:
    """Plain form of a heading -> the property that is meant by it in exports and workbooks."""
    kinds = data_beside(__file__, "headings.toml")
    return {
        _plain(heading): target for target, headings in kinds[type_].items() for heading in headings
    }


def _is_custom(name: str) -> bool:
    return name.startswith(CUSTOM) and len(name) > len(CUSTOM)


def _plain(heading: str) -> str:
    return search_text(heading).replace(" ", "")


class Plan:
    """What the columns of a file are, and how their numbers and dates are written.

    Raises: ValidationError, a heading is no property.
    """

    def __init__(self, headings: Sequence[str], options: Options) -> None:
        self.columns, wrong = plan_columns(headings, options)
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
                reader.see(self._without_currency(at, cells[at])[0])

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
        amounts: dict[str, tuple[str, ...]] = {}
        full_name = ""
        for at, (column, cell) in enumerate(zip(self.columns, cells, strict=False)):
            if column.target is None or cell == "":
                continue
            if column.target.startswith(CUSTOM):
                fields = values.setdefault("custom_fields", {})
                fields[column.target.removeprefix(CUSTOM)] = cell_text(cell)
                continue
            if column.target == FULL_NAME:
                full_name = cell_text(cell)
                continue
            attribute = self._known[column.target]
            written, currencies = self._without_currency(at, cell)
            if currencies:
                amounts[column.target] = currencies
            try:
                values[attribute] = self._value(at, attribute, written)
            except CellError as error:
                problems.append((column.target, str(error)))
        for attribute, text in zip(_NAMES.values(), split_name(full_name), strict=True):
            if text:
                values.setdefault(attribute, text)
        problems += _take_currency(values, amounts)
        return values, problems

    def preview(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a row as texts, by property in the order of the columns."""
        texts: dict[str, Any] = {}
        targets = [column.target or "" for column in self.columns]
        if FULL_NAME in targets:
            at = targets.index(FULL_NAME)
            targets[at : at + 1] = [name for name in _NAMES if name not in targets]
        for name in targets:
            value = values.get(self._known.get(name, ""))
            if name.startswith(CUSTOM):
                value = values.get("custom_fields", {}).get(name.removeprefix(CUSTOM))
            if value is not None:
                texts[name] = _text_of(value)
        if values.get("currency") is not None:
            texts["currency"] = values["currency"]
        return texts

    def _without_currency(self, at: int, cell: Cell) -> tuple[Cell, tuple[str, ...]]:
        """A cell without the currency beside its amount, and what that may be."""
        is_amount = isinstance(self._type_of(self.columns[at].target), ExactDecimal)
        return without_currency(cell) if is_amount and isinstance(cell, str) else (cell, ())

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
        if attribute == "unit_code":
            if (code := unit_code(text)) is None:
                raise CellError(UNKNOWN_UNIT)
            return code
        column = self._types.get(attribute)
        if column is None or has_one_line(column):
            text = CONTROLS.sub(" ", text)  # lines that a cell has
        facets = column.info if column is not None else {}
        if (allowed := facets.get("allowed")) is not None:
            return _values_by_word(tuple(allowed)).get(_plain(text), text)
        return _as_written(facets.get("format"), text)

    def _type_of(self, target: str | None) -> TypeEngine[Any] | None:
        attribute = self._known.get(target or "", "")
        return self._types[attribute].type if attribute in self._types else None


@cache
def _values_by_word(allowed: tuple[str, ...]) -> Mapping[str, str]:
    """Plain form of a value, or of the word for it that pages show in some language -> the value.

    What a list was exported as is so read again.
    """
    values = {_plain(value): value for value in allowed}
    for language in languages():
        for value in allowed:
            values.setdefault(_plain(word_text(value, language)), value)
    return values


def _as_written(format_: str | None, text: str) -> str:
    """What people write for a country, a language, a currency or an address, as the API has it.

    Raises: CellError, a sign of several currencies, or no country.
    """
    if format_ == "country":
        if (code := country_code(text)) is None:
            raise CellError(UNKNOWN_COUNTRY)
        return code
    if format_ == "language":
        return language_code(text) or text
    if format_ == "url" and _DOMAIN.fullmatch(text):
        return f"https://{text}"
    if format_ == "currency" and len(known := read_currency(text)) > 0:
        if len(known) > 1:
            raise CellError(f"could be {_either(known)}: write its code")
        return known[0]
    return text


def _take_currency(
    values: dict[str, Any], amounts: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, str]]:
    """What signs beside amounts say of a record's currency; what is wrong with them.

    Args:
        amounts: property -> the currencies that the sign beside it stands for.
    """
    problems = []
    for target, known in amounts.items():
        currency = values.get("currency")
        if currency is None and len(known) == 1:
            values["currency"] = known[0]
        elif currency is None:
            problems.append((target, f"could be in {_either(known)}: add a column of currencies"))
        elif currency not in known:
            problems.append((target, f"is in {_either(known)}, the record in {currency}"))
    return problems


def _text_of(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return str(value) if type(value) is int else cell_text(value)


def _either(codes: Sequence[str]) -> str:
    return " or ".join((", ".join(codes[:-1]), codes[-1])) if len(codes) > 1 else codes[0]


def _tags(text: str) -> list[str]:
    """Labels, with the first of these between them that there is."""
    sign = next((each for each in ";|," if each in text), ";")
    return [tag.strip() for tag in text.split(sign) if tag.strip()]
