"""What a report is: a query with gaps, parameters that fill them, columns, a chart."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from app.bi.charts import Chart
from app.bi.periods.spans import Calendar, midnight
from app.bi.query import Query, Row
from app.clock import day_after
from app.errors import ValidationError
from app.money import written
from app.odata.syntax.literals import quoted

TYPES = ("text", "integer", "number", "money", "percent", "date", "instant", "boolean")
_GAP = re.compile(r"\{(today|now)(?:-(\d+))?\}")
_LONGEST_TEXT = 200


@dataclass(frozen=True)
class Column:
    """A column of a report; ``is_total``: its sum is told, for each currency by itself.

    ``currency`` is the one of all its amounts, where it is known.
    """

    name: str
    label: str
    type: str
    is_total: bool = False
    currency: str | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter: ``filter`` is OData with ``{}`` for the value; ``default`` names a day."""

    name: str
    filter: str
    type: str  # text, integer, date, instant (the begin of a day), instant-after (its end)
    default: str
    description: str

    @property
    def wire_type(self) -> str:
        """The type as the API shows it."""
        return "date" if self.type.startswith("instant") else self.type


@dataclass(frozen=True)
class Report:
    """A report that can be run; ``id`` below 100 is built in."""

    id: int
    key: str | None
    name: str
    description: str | None
    entity: str
    options: Mapping[str, str]
    base: str = "true"
    parameters: tuple[Parameter, ...] = ()
    columns: tuple[Column, ...] = ()
    chart: Chart | None = None
    owner_id: int | None = None
    is_shared: bool = True
    question: str | None = None
    schedule: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_built_in(self) -> bool:
        return self.owner_id is None

    @property
    def currency(self) -> str | None:
        """The column that names the currency of amounts."""
        names = [
            column.name for column in self.columns if column.name.rpartition("/")[2] == "currency"
        ]
        return names[0] if names else None

    def row(self, values: Row) -> Row:
        """Values with amounts in the digits of their currency, which a sum of cases lacks."""
        currency = str(values.get(self.currency or "") or "")
        amounts = {
            column.name: written(Decimal(amount), column.currency or currency)
            for column in self.columns
            if column.type == "money"
            and isinstance(amount := values.get(column.name), int | Decimal)
        }
        return values | amounts

    def query(self, filters: Mapping[str, Any], now: Calendar) -> Query:
        """The query with the values of its parameters.

        Raises: ValidationError, an unknown parameter or a value of another type.
        """
        conditions = [] if self.base == "true" else [self.base]
        for name, value in self.values(filters, now).items():
            parameter = next(declared for declared in self.parameters if declared.name == name)
            conditions.append(parameter.filter.replace("{}", _literal(parameter, value, now)))
        where = " and ".join(conditions) or "true"
        return Query(
            self.entity,
            {name: _filled(text, where, now) for name, text in self.options.items()},
        )

    def values(self, filters: Mapping[str, Any], now: Calendar) -> dict[str, Any]:
        """The values in force: those given, else the defaults; none where there is no value."""
        known = {declared.name: declared for declared in self.parameters}
        problems = [
            (f"filters.{name}", f"is not a parameter: {', '.join(known) or 'there are none'}")
            for name in filters
            if name not in known
        ]
        if problems:
            raise ValidationError(problems)
        values = {}
        for name, parameter in known.items():
            value = filters.get(name)
            if value is None and name not in filters and parameter.default:
                value = str(DEFAULTS[parameter.default](now))
            if value is not None and value != "":
                values[name] = _checked(parameter, value)
        _check_order(known, values)
        return values


DEFAULTS: Mapping[str, Callable[[Calendar], date]] = {
    "today": lambda now: now.today,
    "year-start": lambda now: now.today.replace(month=1, day=1),
    "year-ago": lambda now: now.today.replace(year=now.today.year - 1, day=1),
}


def _filled(text: str, where: str, now: Calendar) -> str:
    def gap(match: re.Match[str]) -> str:
        day = now.today - timedelta(days=int(match[2] or 0))
        return str(day) if match[1] == "today" else midnight(day, now.zone)

    return _GAP.sub(gap, text).replace("{where}", where)


def _checked(parameter: Parameter, value: Any) -> Any:
    """A value of the parameter's type, in wire spelling."""
    field_name = f"filters.{parameter.name}"
    if parameter.type == "integer":
        if isinstance(value, bool) or not re.fullmatch(r"\d{1,18}", str(value)):
            raise ValidationError([(field_name, "must be a whole number")])
        return int(value)
    if not isinstance(value, str):
        raise ValidationError([(field_name, "must be a string")])
    if parameter.wire_type == "date":
        try:
            if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
                raise ValueError
            return str(date.fromisoformat(value))
        except ValueError:
            raise ValidationError([(field_name, "must be a date such as 2026-01-31")]) from None
    if len(value) > _LONGEST_TEXT or "\x00" in value:
        raise ValidationError([(field_name, f"must be a text of at most {_LONGEST_TEXT} letters")])
    return value


def _check_order(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    """Raises: ValidationError, a time ends before it begins: nothing could ever be found."""
    is_time = "from" in values and "to" in values and known["to"].wire_type == "date"
    if is_time and values["to"] < values["from"]:
        raise ValidationError([("filters.to", f"must not be before from, {values['from']}")])


def _literal(parameter: Parameter, value: Any, now: Calendar) -> str:
    if parameter.type == "text":
        return quoted(str(value))
    if parameter.type == "instant":
        return midnight(date.fromisoformat(value), now.zone)
    if parameter.type == "instant-after":
        return midnight(day_after(date.fromisoformat(value)), now.zone)
    return str(value)
