"""Whether the database has been migrated: a service may be started before its release step.

And how it is migrated while the service runs: nobody waits for long behind a migration that waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from flask import Flask
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import SQLAlchemyError

from app.config import ConfigError
from app.db.engines import primary_engine
from app.db.outages import is_in_the_way, reason_of
from app.extensions import db

log = structlog.get_logger(__name__)

# Who needs a table that a migration waits for waits behind it, and gives up after five seconds.
LOCK_TIMEOUT = "2s"
PATIENCE_SECONDS, REST_SECONDS = 300.0, 5.0
_OLDEST = """
    SELECT pid, application_name, state, date_trunc('second', xact_start AT TIME ZONE 'UTC')
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
    ORDER BY xact_start LIMIT 1"""


def has_all_tables(connection: Connection) -> bool:
    """Whether every table of the models is there."""
    return db.metadata.tables.keys() <= set(inspect(connection).get_table_names())


def wait_for_tables(app: Flask, rest_seconds: float = 1.0) -> None:
    """Return when the database answers and has been migrated; the log says what is waited for."""
    last_reason = ""
    while reason := _what_is_missing(app):
        if reason != last_reason:
            log.warning("waiting for the database", reason=reason)
            last_reason = reason
        time.sleep(rest_seconds)


def _what_is_missing(app: Flask) -> str:
    """In words; empty where nothing is."""
    try:
        with app.app_context(), primary_engine().connect() as connection:
            if has_all_tables(connection):
                return ""
    except SQLAlchemyError as error:
        return f"it cannot be used: {reason_of(error)}"
    return "it is not migrated: run `python -m app.start.release`, or `flask --app wsgi db upgrade`"


def migrate_between_others(connection: Connection, migrate: Callable[[Connection], None]) -> None:
    """Migrate a PostgreSQL that others use.

    A migration that does not get a lock at once is undone, and tried again a while later; the log
    says who may be in its way.

    Args:
        connection: for this alone; its limit of waiting for a lock is changed.
        migrate: goes on behind the last migration that was made.
    Raises: ConfigError, it has not got the lock for too long.
    """
    connection.exec_driver_sql(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
    connection.commit()
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return migrate(connection)
        except SQLAlchemyError as error:
            if not is_in_the_way(error):
                raise
            connection.rollback()
            holder = _oldest_transaction(connection)
            if time.monotonic() > until:
                raise ConfigError(
                    "a migration needs a table that others have held all the time, and was undone:"
                    f" {holder}; end what holds it, and migrate again"
                ) from error
            log.warning("a migration waits for a table that is in use", oldest_transaction=holder)
            time.sleep(REST_SECONDS)


def _oldest_transaction(connection: Connection) -> str:
    row = connection.exec_driver_sql(_OLDEST).first()
    connection.rollback()
    if row is None:
        return "no transaction is open any more"
    pid, program, state, since = row
    return (
        f"the oldest transaction is that of process {pid} ({program or '?'}), {state}, {since} UTC"
    )
