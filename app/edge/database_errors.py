"""What the database refuses, as an error that the caller can do something about."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from app.errors import ApiError, DuplicateError, ServiceUnavailableError


def from_database(error: SQLAlchemyError) -> ApiError | None:
    """The error of ours that stands for ``error``; None for a mistake in our own statements."""
    if isinstance(error, IntegrityError):
        return DuplicateError("A value that must be unique is taken.")
    if isinstance(error, OperationalError):
        return ServiceUnavailableError(
            "The database is not available.", headers={"Retry-After": "5"}
        )
    return None
