"""Whether the database has been migrated: a service may be started before its release step."""

from __future__ import annotations

import time

import structlog
from flask import Flask
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import SQLAlchemyError

from app.db.engines import primary_engine
from app.db.outages import reason_of
from app.extensions import db

log = structlog.get_logger(__name__)


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
