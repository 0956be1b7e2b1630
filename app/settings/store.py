"""Reading and changing the settings: rows of ``settings``, one a group, in wire spelling.

What is not set has the default of its group. Reading is one small query: the parsed value is
reused while the rows are the same, so a change counts at once in every process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Text, cast, select, update

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.transactions import (
    advisory_lock,
    advisory_locks,
    forget,
    has_begun,
    once_per_transaction,
)
from app.db.types import json_text
from app.errors import (
    Detail,
    InvalidStateError,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
)
from app.http.request_context import kept_while_reading
from app.http.schema_fields import BadValueError
from app.http.security import current_caller
from app.models.event import Setting
from app.models.invoice import Invoice
from app.odata.names import camel, snake
from app.permissions import require
from app.settings.groups import GROUPS, LOGO, NAMES, RATES, Logo, Organisation, settings_of
from app.settings.values import BadPartsError, check_members, check_rate
from app.writing.normal_forms import forget_national_forms

_KEPT = "organisation"
_READ = "SELECT name, CAST(value AS TEXT) FROM settings ORDER BY name"


def organisation(*, about_to_write: bool = False) -> Organisation:
    """The settings as the running transaction first saw them, or as they were last committed.

    Reading them begins no transaction. A transaction, and a request that only reads, does it once.

    Args:
        about_to_write: the transaction comes next and may begin now; in it they cost least.
    """
    if about_to_write or has_begun():
        return once_per_transaction(_KEPT, lambda: read_organisation(records.connection()))
    return kept_while_reading(_KEPT, _committed)


def hold_settings(*groups: str) -> None:
    """Let nobody change these groups until the transaction ends; what follows sees them as now.

    For what is checked by a setting and must not be committed after the setting has changed.
    """
    advisory_locks(map(_lock_name, groups), shared=True)
    forget(_KEPT)


def _committed() -> Organisation:
    with records.looking() as connection:
        return read_organisation(connection)


def read_organisation(connection: Connection) -> Organisation:
    """The settings as ``connection`` sees them."""
    rows = connection.exec_driver_sql(_READ).all()
    return _parse(tuple((str(name), str(value)) for name, value in rows))


def save_settings(group: str, values: Mapping[str, Any], *, version: str | None = None) -> None:
    """Replace the values of a group of ``NAMES``; what is left out returns to its default.

    Args:
        values: in wire spelling; decimals as Decimal, int or text; None is the default.
        version: of ``version_of``, that must still stand; None asks for none.
    Raises: ForbiddenError; NotFoundError, no such group; ValidationError, with every problem;
        InvalidStateError, the currency stays once documents are issued;
        PreconditionFailedError, the group is another by now.
    """
    _write(group, values, keep=False, version=version)


def change_settings(group: str, values: Mapping[str, Any], *, version: str | None = None) -> None:
    """Set the given values of a group and leave the others; None returns one to its default.

    Args:
        version: of ``version_of``, that must still stand; None asks for none.
    Raises: as ``save_settings``; PreconditionFailedError, the group is another by now.
    """
    _write(group, values, keep=True, version=version)


def version_of(group: str, settings: Organisation) -> str:
    """What tells one state of a group from another: a hash over its values."""
    return hashlib.sha256(json_text(settings_body(group, settings)).encode()).hexdigest()[:32]


def write_row(name: str, value: Mapping[str, Any]) -> None:
    """Put a row of settings into the place of the one there was, and say so in the audit log.

    Raises: ForbiddenError.
    """
    caller = current_caller()
    require(caller, "settings:update")
    before = _stored(name)
    row = {"value": dict(value), "updated_at": utc_now(), "updated_by_id": caller.user_id or None}
    if before is None:
        records.insert(Setting, {"name": name, **row})
    else:
        records.connection().execute(update(Setting).where(Setting.name == name).values(row))
    forget(_KEPT)
    audit.record("settings.updated", "Setting", before={name: before}, after={name: dict(value)})


def _write(
    group: str, values: Mapping[str, Any], *, keep: bool, version: str | None = None
) -> None:
    require(current_caller(), "settings:update")
    if group not in NAMES:
        raise NotFoundError(f"There is no group of settings {group}; there are {', '.join(NAMES)}.")
    checked = _checked(group, values)
    stored = dict(_stored(group) or {})
    if version is not None and version != version_of(group, organisation()):
        raise PreconditionFailedError("These settings were changed by somebody else meanwhile.")
    base = stored if keep else {}
    whole = {name: value for name, value in {**base, **checked}.items() if value is not None}
    if group == "defaults":
        _keep_currency(whole.get("currency") or GROUPS[group]().currency)
    if group == "seller" and whole.get("country") != stored.get("country"):
        forget_national_forms(records.connection())  # a job makes them anew
    write_row(group, whole)


def setting_problems(group: str, values: Mapping[str, Any]) -> Sequence[Detail]:
    """What is wrong with the values of a group of ``NAMES``; nothing is read or written."""
    try:
        _checked(group, values)
    except ValidationError as error:
        return error.details
    return ()


def _checked(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a group, None for what returns to its default."""
    known = {} if group == RATES else settings_of(group)

    def check(name: str, value: Any) -> Any:
        if group == RATES:
            return None if value is None else check_rate(name, value)
        if name not in known:
            raise BadValueError("is not a setting of this group")
        return None if value is None else known[name].check(value)

    try:
        return check_members(values, check)
    except BadPartsError as error:
        raise ValidationError(error.problems) from None
    except BadValueError as error:
        raise ValidationError([Detail(group, str(error))]) from None


def _stored(name: str) -> dict[str, Any] | None:
    """The row as it is, locked until the transaction ends; so is its place where there is none."""
    advisory_lock(_lock_name(name))
    as_text = cast(Setting.value, Text)
    statement = select(as_text).where(Setting.name == name).with_for_update()
    value = records.connection().execute(statement).scalar_one_or_none()
    return None if value is None else _read_json(value)


def _lock_name(group: str) -> str:
    return f"setting {group}"


def _read_json(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return value


def _keep_currency(currency: str) -> None:
    """Amounts of documents are kept in the organisation's currency: another would mix them."""
    now = organisation().defaults.currency
    if currency == now:
        return
    issued = select(Invoice.id).where(Invoice.status != "Draft").limit(1)
    if records.connection().execute(issued).first() is not None:
        raise InvalidStateError(
            f"Documents were issued while the organisation's currency was {now}: it stays.",
            [("currency", f"must stay {now}, documents are issued")],
        )


@lru_cache(maxsize=8)
def _parse(rows: tuple[tuple[str, str], ...]) -> Organisation:
    stored = {name: _read_json(value) for name, value in rows}
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
            attributes[setting.attribute] = setting.check(stored[name])
        except (BadValueError, BadPartsError):
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
