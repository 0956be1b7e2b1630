"""Settings of the organisation that runs the platform: who sells, in which currency, by when.

They lie in the table ``settings``, one row per group, in wire spelling; what is not set has the
default declared here. Reading is one small query: the parsed value is reused while the rows are
the same, so a change counts at once in every process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import select

from app import audit, records, statements
from app.clock import utc_now
from app.errors import NotFoundError, ValidationError
from app.models.event import Setting
from app.odata.declare import camel
from app.permissions import require
from app.security import current_caller

Group = TypeVar("Group")

_READ = "SELECT name, CAST(value AS TEXT) FROM settings ORDER BY name"


@dataclass(frozen=True, kw_only=True)
class Seller:
    """The party that invoices come from."""

    name: str = "My Company"
    legal_name: str | None = None
    tax_id: str | None = None
    registration_number: str | None = None
    email: str | None = None
    phone: str | None = None
    website: str | None = None
    street: str | None = None
    city: str | None = None
    state: str | None = None
    postal_code: str | None = None
    country: str | None = None


@dataclass(frozen=True, kw_only=True)
class Bank:
    """Where invoices are paid to."""

    account_holder: str | None = None
    iban: str | None = None
    bic: str | None = None
    bank_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What new records get; ``tax_rate`` in percent."""

    currency: str = "EUR"
    language: str = "en"
    time_zone: str = "UTC"
    tax_rate: Decimal = Decimal("19.00")


@dataclass(frozen=True, kw_only=True)
class ServiceLevel:
    """Hours from a ticket's creation, by priority; the clocks stand still while it waits."""

    first_response_hours: Mapping[str, int] = field(
        default_factory=lambda: {"Urgent": 1, "High": 4, "Normal": 8, "Low": 24}
    )
    resolution_hours: Mapping[str, int] = field(
        default_factory=lambda: {"Urgent": 8, "High": 24, "Normal": 72, "Low": 120}
    )


@dataclass(frozen=True, kw_only=True)
class Organisation:
    """All settings. ``exchange_rates``: units of the own currency for one of another."""

    seller: Seller = Seller()
    bank: Bank = Bank()
    defaults: Defaults = Defaults()
    service_level: ServiceLevel = field(default_factory=ServiceLevel)
    exchange_rates: Mapping[str, Decimal] = field(default_factory=dict)

    def exchange_rate(self, currency: str) -> Decimal:
        """Units of the organisation's currency for one of ``currency``; 0 where none is known."""
        if currency == self.defaults.currency:
            return Decimal(1)
        return self.exchange_rates.get(currency, Decimal(0))


_GROUPS: Mapping[str, type[Any]] = {
    "seller": Seller,
    "bank": Bank,
    "defaults": Defaults,
    "serviceLevel": ServiceLevel,
}
_RATES = "exchangeRates"


def organisation() -> Organisation:
    """The settings as they stand in this transaction."""
    rows = statements.execute(records.connection(), _READ)
    return _parse(tuple((str(name), str(value)) for name, value in rows))


def save_settings(group: str, values: Mapping[str, Any]) -> None:
    """Replace the values of a group: ``seller``, ``bank``, ``defaults``, ``serviceLevel`` or
    ``exchangeRates``; what is left out returns to its default.

    Args:
        values: in wire spelling, decimals as Decimal, int or text.
    Raises: ForbiddenError; NotFoundError, no such group; ValidationError.
    """
    caller = current_caller()
    require(caller, "settings:update")
    if group != _RATES and group not in _GROUPS:
        raise NotFoundError(f"There is no group of settings {group}.")
    _read_group(group, values)
    table = Setting.__table__
    row = {"value": dict(values), "updated_at": utc_now(), "updated_by_id": caller.user_id or None}
    known = records.connection().execute(
        select(table.c.value).where(table.c.name == group).with_for_update()
    )
    before = known.scalar_one_or_none()
    if before is None:
        records.insert(table, {"name": group, **row})
    else:
        records.connection().execute(
            Setting.__table__.update().where(table.c.name == group).values(row)  # type: ignore[attr-defined]  # a Table
        )
    audit.record("settings.updated", "Setting", before={group: before}, after={group: dict(values)})


@lru_cache(maxsize=8)
def _parse(rows: tuple[tuple[str, str], ...]) -> Organisation:
    groups = {name: json.loads(value, parse_float=Decimal) for name, value in rows}
    read = {name: _read_group(name, groups.get(name) or {}) for name in (*_GROUPS, _RATES)}
    return Organisation(
        seller=read["seller"],
        bank=read["bank"],
        defaults=read["defaults"],
        service_level=read["serviceLevel"],
        exchange_rates=read[_RATES],
    )


def _read_group(name: str, values: Mapping[str, Any]) -> Any:
    if name == _RATES:
        return {currency: _decimal(currency, rate) for currency, rate in values.items()}
    return _build(_GROUPS[name], values)


def _build(kind: type[Group], values: Mapping[str, Any]) -> Group:
    """A group from its values in wire spelling.

    Raises: ValidationError, naming an unknown setting or a value that is no number.
    """
    attributes = {camel(item.name): item for item in fields(kind)}  # type: ignore[arg-type]
    _refuse_unknown(attributes, values)
    given = {}
    for name, value in values.items():
        item = attributes[name]
        given[item.name] = _decimal(name, value) if isinstance(item.default, Decimal) else value
    return kind(**given)


def _refuse_unknown(known: Iterable[str], values: Iterable[str]) -> None:
    unknown = [name for name in values if name not in set(known)]
    if unknown:
        raise ValidationError([(name, "is not a setting of this group") for name in unknown])


def _decimal(name: str, value: Any) -> Decimal:
    try:
        number = Decimal(value if not isinstance(value, float) else repr(value))
    except (InvalidOperation, TypeError, ValueError):
        raise ValidationError([(name, "must be a number")]) from None
    if not number.is_finite() or number < 0:
        raise ValidationError([(name, "must be 0 or more")])
    return number
