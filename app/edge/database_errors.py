"""What the database refuses, as an error that the caller can do something about.

The services check before they write; here arrives what only the database can decide: two at the
same time, a server that is away, a row that others refer to.
"""

from __future__ import annotations

import re
from typing import Any

from flask import request
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
    TimeoutError as PoolTimeoutError,
)

from app.errors import (
    ApiError,
    DuplicateError,
    InUseError,
    ServiceUnavailableError,
    ValidationError,
)

RETRY_AFTER_SECONDS = 5
# SQLite: "UNIQUE constraint failed: clients.external_id", "... CHECK constraint failed: ck_x_y".
_SQLITE = re.compile(r"(UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed(?:: (\S+))?")
_SQLSTATES = {"23505": "UNIQUE", "23502": "NOT NULL", "23514": "CHECK", "23503": "FOREIGN KEY"}
# PostgreSQL: "Key (external_id)=(7) already exists."
_KEY_OF_DETAIL = re.compile(r"Key \((\w+)")
# SQLite has one class for a full disk, a lock that waited too long, and a mistake in a statement.
_SQLITE_AWAY = re.compile(r"locked|busy|disk|unable to open|readonly", re.IGNORECASE)


def from_database(error: SQLAlchemyError) -> ApiError | None:
    """The error of ours that stands for ``error``; None for a mistake in our own statements."""
    if isinstance(error, IntegrityError):
        return _refused(error)
    if isinstance(error, DataError):
        return ValidationError([("", "A value is outside what its field can hold.")])
    if isinstance(error, PoolTimeoutError) or _is_away(error):
        return ServiceUnavailableError(
            "The database does not answer for a moment; try again.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    return None


def _is_away(error: SQLAlchemyError) -> bool:
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    if type(error.orig).__module__ == "sqlite3":
        return isinstance(error, OperationalError) and bool(_SQLITE_AWAY.search(str(error.orig)))
    return isinstance(error, OperationalError | InterfaceError)


def _refused(error: IntegrityError) -> ApiError:
    rule, field = _rule_and_field(error.orig)
    if rule == "UNIQUE":
        return DuplicateError(
            "A value that must be unique is taken.", [(field, "This value is taken.")]
        )
    if rule == "FOREIGN KEY":
        if request.method == "DELETE":
            return InUseError("Other records need this one.")
        return ValidationError([(field, "There is no such record.")])
    problem = "This field is required." if rule == "NOT NULL" else "This value is not allowed."
    return ValidationError([(field, problem)])


def _rule_and_field(orig: Any) -> tuple[str, str]:
    """Which kind of rule was broken, and the field in wire spelling; empty where nobody says."""
    diagnosis = getattr(orig, "diag", None)
    if diagnosis is not None:
        rule = _SQLSTATES.get(diagnosis.sqlstate, "")
        named = _KEY_OF_DETAIL.match(diagnosis.message_detail or "")
        column = diagnosis.column_name or (named[1] if named else "")
        if rule == "CHECK":
            column = _column_of_check(diagnosis.constraint_name or "")
        return rule, _camel(column)
    found = _SQLITE.search(str(orig))
    if not found:
        return "", ""
    rule, name = found[1], found[2] or ""
    column = _column_of_check(name) if rule == "CHECK" else name.rstrip(",").rpartition(".")[2]
    return rule, _camel(column)


def _column_of_check(constraint: str) -> str:
    """``ck_clients_revenue_range`` -> ``revenue``: constraints of columns are named so."""
    found = re.fullmatch(r"ck_(?:[a-z]+?(?:_[a-z]+?)*?s)_(\w+)_(?:allowed|range)", constraint)
    return found[1] if found else ""


def _camel(column: str) -> str:
    first, *rest = column.split("_")
    return first + "".join(word.title() for word in rest)
