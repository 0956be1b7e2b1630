"""What the database refuses, as an error that the caller can do something about.

The services check before they write; here arrives what only the database can decide: two at the
same time, a server that is away, a row that others refer to.
"""

from __future__ import annotations

import structlog
from flask import request
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from app.db.constraint_refusals import FOREIGN_KEY, NOT_NULL, UNIQUE, read_refusal
from app.db.outages import is_away, is_in_the_way, reason_of
from app.errors import (
    ApiError,
    DuplicateError,
    InUseError,
    ServiceUnavailableError,
    ValidationError,
)
from app.odata.names import camel

_log = structlog.get_logger(__name__)
RETRY_AFTER_SECONDS = 5


def from_database(error: SQLAlchemyError, method: str | None = None) -> ApiError | None:
    """The error of ours that stands for ``error``; None for a mistake in our own statements.

    Args:
        method: of what was tried; else that of the request.
    """
    if isinstance(error, IntegrityError):
        return _refused(error, method or request.method)
    if isinstance(error, DataError):
        return ValidationError([("", "A value is outside what its field can hold.")])
    if is_in_the_way(error):
        return ServiceUnavailableError(
            "Another request is changing the same records; try again.",
            headers={"Retry-After": "1"},
        )
    if is_away(error):
        _log.warning("the database cannot be used", reason=reason_of(error))
        return ServiceUnavailableError(
            "The database does not answer for a moment; try again.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    return None


def _refused(error: IntegrityError, method: str) -> ApiError:
    refusal = read_refusal(error)
    fields = [camel(name) for name in refusal.columns] or [""]
    if refusal.kind == UNIQUE:
        return DuplicateError(
            "A value that must be unique is taken.",
            [(field, "is taken by another record") for field in fields],
        )
    if refusal.kind == FOREIGN_KEY:
        if method == "DELETE":
            return InUseError("Other records need this one.")
        return ValidationError([(field, "refers to no record") for field in fields])
    is_missing = refusal.kind == NOT_NULL
    problem = "is required" if is_missing else "is not allowed"
    return ValidationError([(field, problem) for field in fields])
