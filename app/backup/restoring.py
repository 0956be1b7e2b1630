"""Bringing a backup into an empty database, on either kind of database: all of it or nothing."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import flask_migrate
from sqlalchemy import Connection, Table, func, insert, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from app.backup.archive import MANIFEST, BackupError, Manifest, TableEntry, insert_rows, read_lines
from app.backup.writing import Progress
from app.blobs import blobs
from app.clock import utc_now
from app.db.engines import is_known, read_catalogue
from app.db.outages import is_in_the_way
from app.db.row_keys import go_on_after
from app.extensions import Model, configuration, db
from app.models.event import AuditRecord
from app.models.webhook import WebhookEndpoint
from app.sealing import UnsealError, derived_keys, unseal
from app.webhooks.fan_out import leap

# What is in the way of a restore, besides what the migrations put in themselves.
_SIGNS_OF_USE = ("users", "clients", "audit_records", "events")
PIECE_BYTES = 1024 * 1024
# What the reader of archives says of one whose bytes were changed, or cut off.
_DAMAGED = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError)


def read_manifest(path: Path) -> Manifest:
    """What the archive at ``path`` says of itself.

    Raises: BackupError, it is no backup.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return Manifest.load(archive.read(MANIFEST))
    except (*_DAMAGED, OSError) as error:
        raise BackupError(f"{path} is no backup of this service") from error


def restore_backup(path: Path, progress: Progress | None = None) -> Manifest:
    """Bring the archive at ``path`` into the database and the store of the settings.

    The files come first and the rows in one transaction, so a restore that is cut off leaves
    nothing that the service would show. Delta links and the journal of events tell who follows the
    changes that they went back.

    Raises: BackupError: no backup, a damaged one, one of a newer version, or a database in use.
    """
    manifest = read_manifest(path)
    tell = progress or (lambda label, done, total: None)
    _require_known(manifest)
    _require_empty()
    flask_migrate.upgrade(revision=manifest.revision)
    with zipfile.ZipFile(path) as archive:
        _restore_files(archive, manifest, tell)
        try:
            _restore_rows(archive, manifest, tell)
        except SQLAlchemyError as error:
            if not is_in_the_way(error):
                raise
            message = "others use the database: stop web and worker processes, and restore again"
            raise BackupError(message) from error
    flask_migrate.upgrade()
    return manifest


def is_readable_key(manifest: Manifest) -> bool:
    """Whether the secrets that the backup holds sealed can be opened with this SECRET_KEY."""
    keys = derived_keys(configuration.current, "sealing")
    return manifest.key_id in {key.id for key in keys}


def unreadable_secrets() -> int:
    """How many secrets of webhooks this service cannot open: each is sealed with a key of its time,
    which may be an older one than that of the backup."""
    columns = (WebhookEndpoint.secret, WebhookEndpoint.previous_secret)
    with db.engine.connect() as connection:
        sealed = [text for column in columns for text in connection.scalars(select(column)) if text]
    return sum(not _opens(text) for text in sealed)


def _opens(sealed: str) -> bool:
    try:
        unseal(sealed)
    except UnsealError:
        return False
    return True


def _require_known(manifest: Manifest) -> None:
    if not is_known(manifest.revision):
        raise BackupError("the backup was made by a newer version of the service")


def _require_empty() -> None:
    with db.engine.connect() as connection:
        read_catalogue(connection)
        there = set(inspect(connection).get_table_names())
    with db.engine.connect() as connection:
        for name in _SIGNS_OF_USE:
            if name not in there:
                continue
            table = Model.metadata.tables[name]
            if connection.execute(select(table.c.id).limit(1)).first() is not None:
                raise BackupError(
                    "the database is in use: restore into an empty one (DATABASE_URL, DATA_DIR)"
                )


@contextmanager
def unchecked_references(connection: Connection) -> Iterator[None]:
    """References are checked at the end: tables refer to each other in circles."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        yield
        return
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    constraints = connection.execute(
        text(
            "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)"
            " FROM pg_constraint"
            " WHERE contype = 'f' AND connamespace = current_schema::regnamespace"
        )
    ).all()
    for table, name, _ in constraints:
        connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    yield
    for table, name, definition in constraints:
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")


def _restore_rows(archive: zipfile.ZipFile, manifest: Manifest, tell: Progress) -> None:
    with db.engine.begin() as connection, unchecked_references(connection):
        _restore_tables(archive, connection, manifest, tell)
        record = {"created_at": utc_now(), "via": "cli", "action": "backup.restored"}
        connection.execute(insert(AuditRecord).values(record))
        connection.execute(leap())


def _restore_tables(
    archive: zipfile.ZipFile, connection: Connection, manifest: Manifest, tell: Progress
) -> None:
    tables = Model.metadata.tables
    for table in reversed(Model.metadata.sorted_tables):
        if table.name in manifest.tables:  # what the migrations put in comes with the backup
            connection.execute(table.delete())
    total = sum(entry.rows for entry in manifest.tables.values())
    done = 0
    for name, entry in manifest.tables.items():
        if name not in tables:
            raise BackupError(f"the backup has a table {name} that this version does not know")
        for rows in _load(archive, connection, tables[name], entry):
            done += rows
            tell("Restoring rows", done, total)
        _check_count(connection, tables[name], entry)
        _go_on_with_keys(connection, tables[name], manifest)


def _go_on_with_keys(connection: Connection, table: Table, manifest: Manifest) -> None:
    """Keys go on behind those of the backup, deleted rows included.

    SQLite goes by the rows itself, and counts nothing in tables of before migration 0046.
    """
    if table.name in manifest.last_keys:
        go_on_after(connection, table, manifest.last_keys[table.name])
    elif connection.dialect.name == "postgresql" and table.autoincrement_column is not None:
        highest = connection.scalar(select(func.max(table.c.id)))
        go_on_after(connection, table, highest or 0)


def _load(
    archive: zipfile.ZipFile, connection: Connection, table: Table, entry: TableEntry
) -> Iterator[int]:
    statement = insert_rows(table, entry.columns)
    for part, sha256 in entry.parts.items():
        lines = _read_part(archive, part)
        if hashlib.sha256(lines).hexdigest() != sha256:
            raise BackupError(f"the backup is damaged: {part} is not what was written")
        rows = read_lines(table, entry.columns, lines)
        connection.execute(statement, rows)
        yield len(rows)


def _read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except _DAMAGED as error:
        raise BackupError(f"the backup is damaged: {name} cannot be read") from error


def _check_count(connection: Connection, table: Table, entry: TableEntry) -> None:
    there = connection.scalar(select(func.count()).select_from(table))
    if there != entry.rows:
        raise BackupError(f"{table.name} has {there} rows after the restore, not {entry.rows}")


def _restore_files(archive: zipfile.ZipFile, manifest: Manifest, tell: Progress) -> None:
    files = manifest.files or {}
    for number, (key, sha256) in enumerate(files.items(), 1):
        blob = blobs.current.put(key, _pieces(archive, f"files/{key}"))
        if blob.sha256 != sha256:
            raise BackupError(f"the backup is damaged: files/{key} is not what was written")
        tell("Restoring files", number, len(files))


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    try:
        with archive.open(name) as source:
            while piece := source.read(PIECE_BYTES):
                yield piece
    except _DAMAGED as error:
        raise BackupError(f"the backup is damaged: {name} cannot be read") from error
