"""Whether the database can be used, and in one line for an operator why not."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    OperationalError,
    PendingRollbackError,
    SQLAlchemyError,
    TimeoutError as PoolTimeoutError,
)

# SQLite has one class of error for all of these and for a mistake in a statement; its primary
# result codes tell them apart (https://www.sqlite.org/rescode.html).
_SQLITE_AWAY = frozenset(
    (
        sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL,
    )
)  # fmt: skip
_PRIMARY = 0xFF
# A server that takes no writes: a standby that the address leads to, or one that was demoted.
_READ_ONLY = "25006"
# The account may not do what migrations do: insufficient privilege, no schema to create in.
_RIGHTS = frozenset(("42501", "3F000"))
_NO_TABLE = "42P01"
# Two that wait for each other, and a lock that is held for too long.
_IN_THE_WAY = frozenset(("40P01", "55P03"))
# SQLite has no code of its own for it, and says it in no other language.
_NO_TABLE_OF_SQLITE = "no such table: "


def is_away(error: SQLAlchemyError) -> bool:
    """Whether the database does not answer, or takes no writes, for whatever reason."""
    # The second: the connection was lost earlier in the transaction, which cannot go on.
    if isinstance(error, PoolTimeoutError | PendingRollbackError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated or sqlstate_of(error) == _READ_ONLY:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & _PRIMARY in _SQLITE_AWAY
    return isinstance(error, OperationalError | InterfaceError)


def is_in_the_way(error: SQLAlchemyError) -> bool:
    """Whether another transaction of PostgreSQL has held what this one needs for too long."""
    return sqlstate_of(error) in _IN_THE_WAY


def sqlstate_of(error: SQLAlchemyError) -> str | None:
    """PostgreSQL's code of ``error``."""
    return getattr(getattr(error, "orig", None), "sqlstate", None)


def reason_of(error: BaseException) -> str:
    """What the database, or its driver, says: the first line, without statement and values."""
    words = str(getattr(error, "orig", None) or error).strip()
    return words.splitlines()[0] if words else type(error).__name__


def problem_for_operator(error: SQLAlchemyError) -> str | None:
    """What keeps a command from using the database; None where the mistake is ours.

    A full disk ends the transaction: what is told last is only that there is none any more.
    """
    cause: BaseException | None = error
    while cause is not None:
        if getattr(cause, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_FULL:
            return "the disk is full, or the quota of the data folder"
        cause = cause.__cause__ or cause.__context__
    reason = reason_of(error)
    if _lacks_table(error):
        return f"it is not migrated, run `flask --app wsgi db upgrade` first: {reason}"
    return reason if is_away(error) or sqlstate_of(error) in _RIGHTS else None


def _lacks_table(error: SQLAlchemyError) -> bool:
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        is_unnamed = getattr(cause, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR
        return is_unnamed and str(cause).startswith(_NO_TABLE_OF_SQLITE)
    return sqlstate_of(error) == _NO_TABLE
