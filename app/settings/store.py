"""Reading the settings: rows of ``settings``, one a group, in wire spelling.

What is not set has the default of its group. Reading is one small query: the parsed value is
reused while the rows are the same, so a change counts at once in every process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from marshmallow import ValidationError as SchemaError
from sqlalchemy import Connection

from app.db import records
from app.db.transactions import (
    advisory_locks,
    forget,
    has_begun,
    once_per_transaction,
)
from app.db.types import json_text
from app.http.request_context import kept_while_reading
from app.odata.names import camel, snake
from app.settings.groups import GROUPS, LOGO, RATES, Logo, Organisation, settings_of

KEPT = "organisation"
_READ = "SELECT name, CAST(value AS TEXT) FROM settings ORDER BY name"


def organisation(*, about_to_write: bool = False) -> Organisation:
    """The settings as the running transaction first saw them, or as they were last committed.

    Reading them begins no transaction. A transaction, and a request that only reads, does it once.

    Args:
        about_to_write: the transaction comes next and may begin now; in it they cost least.
    """
    if about_to_write or has_begun():
        return once_per_transaction(KEPT, lambda: read_organisation(records.connection()))
    return kept_while_reading(KEPT, _committed)


def hold_settings(*groups: str) -> None:
    """Let nobody change these groups until the transaction ends; what follows sees them as now.

    For what is checked by a setting and must not be committed after the setting has changed.
    """
    advisory_locks(map(lock_name, groups), shared=True)
    forget(KEPT)


def _committed() -> Organisation:
    with records.looking() as connection:
        return read_organisation(connection)


def read_organisation(connection: Connection) -> Organisation:
    """The settings as ``connection`` sees them."""
    rows = connection.exec_driver_sql(_READ).all()
    return _parse(tuple((str(name), str(value)) for name, value in rows))


def version_of(group: str, settings: Organisation) -> str:
    """What tells one state of a group from another: a hash over its values."""
    return hashlib.sha256(json_text(settings_body(group, settings)).encode()).hexdigest()[:32]


def lock_name(group: str) -> str:
    return f"setting {group}"


def read_json(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return value


@lru_cache(maxsize=8)
def _parse(rows: tuple[tuple[str, str], ...]) -> Organisation:
    stored = {name: read_json(value) for name, value in rows}
    groups = {_ATTRIBUTES[name]: _build(name, stored.get(name) or {}) for name in GROUPS}
    rates = {name: Decimal(rate) for name, rate in (stored.get(RATES) or {}).items()}
    logo = {snake(name): value for name, value in (stored.get(LOGO) or {}).items()}
    return Organisation(**groups, logo=Logo(**logo), exchange_rates=rates)


def _build(group: str, stored: Mapping[str, Any]) -> Any:
    """A group from its row; what an older or newer release would not take has its default."""
    attributes = {}
    for name, setting in settings_of(group).items():
        if stored.get(name) is None:
            continue
        try:
            attributes[setting.attribute] = setting.read.deserialize(stored[name])
        except SchemaError:
            continue
    return GROUPS[group](**attributes)


def settings_body(group: str, settings: Organisation) -> dict[str, Any]:
    """A group in wire spelling, defaults filled in."""
    if group == RATES:
        return dict(settings.exchange_rates)
    values = getattr(settings, _ATTRIBUTES[group])
    return {name: getattr(values, known.attribute) for name, known in settings_of(group).items()}


def logo_body(settings: Organisation) -> dict[str, Any] | None:
    """What is known of the logo, or None."""
    logo = settings.logo
    if logo.sha256 is None:
        return None
    return {camel(name): value for name, value in vars(logo).items()}


_ATTRIBUTES = {camel(name): name for name in Organisation.__dataclass_fields__}
