"""Runs the migrations on the application's writing engine; called by Flask-Migrate."""

from __future__ import annotations

from alembic import context
from alembic.runtime.migration import MigrationContext
from flask import current_app
from sqlalchemy import Connection

from app.db.engines import read_catalogue, require_icu, require_known
from app.db.schema import migrate_between_others
from app.models.indexes import autogenerates

ONE_AT_A_TIME = 7_202_611  # any number, known to nobody else
database = current_app.extensions["migrate"].db


def migrate(connection: Connection) -> None:
    """Each migration is one transaction: it is made whole, or not at all."""
    require_known(MigrationContext.configure(connection).get_current_revision())
    connection.rollback()
    context.configure(
        connection=connection,
        target_metadata=database.metadata,
        include_object=lambda _, name, kind, *more: autogenerates(database.metadata, kind, name),
        transaction_per_migration=True,
        transactional_ddl=True,
        render_as_batch=connection.dialect.name == "sqlite",
        process_revision_directives=number_the_revision,
    )
    with context.begin_transaction():
        context.run_migrations()


def number_the_revision(migration: object, revision: object, directives: list) -> None:
    """Four digits in a row, so that the folder reads in order."""
    if directives:
        directives[0].rev_id = f"{int(context.script.get_current_head() or 0) + 1:04d}"


def migrate_sqlite(connection: Connection) -> None:
    """With foreign keys off: dropping a table would else delete its rows one by one.

    The setting can only be changed outside a transaction, hence on the driver's connection.
    """
    driver = connection.connection.driver_connection
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        migrate(connection)
        if broken := driver.execute("PRAGMA foreign_key_check").fetchall():
            raise RuntimeError(f"rows refer to rows that do not exist: {broken[:5]}")
    finally:
        connection.rollback()  # with nothing to migrate, the look at the version is still open
        driver.execute("PRAGMA foreign_keys=ON")


def migrate_postgresql(connection: Connection) -> None:
    """One at a time, however many hosts start at once; a statement may outlast a request's."""
    read_catalogue(connection)  # detached: what is set here ends with the connection
    connection.exec_driver_sql("SET statement_timeout = 0")
    connection.exec_driver_sql("SET lock_timeout = 0")
    require_icu(connection)
    connection.exec_driver_sql(f"SELECT pg_advisory_lock({ONE_AT_A_TIME})")
    connection.commit()
    migrate_between_others(connection, migrate)


with database.engine.connect() as connection:
    if connection.dialect.name == "sqlite":
        migrate_sqlite(connection)
    else:
        migrate_postgresql(connection)
