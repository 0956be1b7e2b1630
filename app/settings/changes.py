"""Changing the settings: a group is checked, and its row takes the place of the one there was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from marshmallow import ValidationError as SchemaError
from sqlalchemy import Text, cast, select, update

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.transactions import advisory_lock, forget
from app.errors import (
    Detail,
    InvalidStateError,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
)
from app.http.areas import field_problems
from app.http.security import current_caller
from app.models.event import Setting
from app.models.invoice import Invoice
from app.permissions import require
from app.settings.days import today
from app.settings.groups import GROUPS, NAMES, schema_of
from app.settings.store import KEPT, lock_name, organisation, read_json, version_of
from app.writing.normal_forms import forget_national_forms


def save_settings(group: str, values: Mapping[str, Any], *, version: str | None = None) -> None:
    """Replace the values of a group of ``NAMES``; what is left out returns to its default.

    Args:
        values: in wire spelling; decimals as Decimal or int; None is the default.
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
    forget(KEPT)
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
    """What is wrong with the values of a group of ``NAMES``; nothing is written."""
    try:
        _checked(group, values)
    except ValidationError as error:
        return error.details
    return ()


def _checked(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a group, None for what returns to its default."""
    try:
        checked: dict[str, Any] = schema_of(group)().load(values)
    except SchemaError as error:
        raise ValidationError(field_problems(error.messages)) from None
    if day := checked.get("closedUntil"):
        _check_closing_day(day)
    return checked


def _check_closing_day(day: str) -> None:
    """Books that were closed in the future would let nobody issue or pay anything until then.

    Only a new value is checked: what is stored closes the books, whatever day the clocks show.

    Raises: ValidationError.
    """
    now = today()
    if date.fromisoformat(day) > now:
        raise ValidationError([("closedUntil", f"must not be after today, {now}")])


def _stored(name: str) -> dict[str, Any] | None:
    """The row as it is, locked until the transaction ends; so is its place where there is none."""
    advisory_lock(lock_name(name))
    as_text = cast(Setting.value, Text)
    statement = select(as_text).where(Setting.name == name).with_for_update()
    value = records.connection().execute(statement).scalar_one_or_none()
    return None if value is None else read_json(value)


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
