"""Making a backup while the service runs: one instant of the database, then the files it names.

Rows are read inside one snapshot, so what belongs together is together. Files never change once
they are written, so they are copied after the rows; one that is deleted meanwhile is reported.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, func, select

from app.backup.archive import (
    MANIFEST,
    BackupError,
    Manifest,
    TableEntry,
    select_rows,
    stored_columns,
    write_lines,
)
from app.blobs import BlobMissingError, blobs
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, steady_read
from app.db.row_keys import last_key
from app.db.types import iso_instant
from app.extensions import Model, configuration
from app.invoices.chain import key_of
from app.models.document import DocumentVersion
from app.models.invoice import Invoice
from app.output_file import OutputError, output_file
from app.sealing import derived_keys

PART_ROWS = 2000
# (what is being written, how much of it is done, how much there is)
Progress = Callable[[str, int, int], None]


def write_backup(path: Path, *, files: bool = True, progress: Progress | None = None) -> Manifest:
    """Write everything to ``path``, which appears when all of it is there.

    Args:
        files: whether the files of documents and invoices go in; not where the store that they
            lie in is backed up by itself.
    Returns: what the archive says of itself.
    Raises: BackupError, the file exists or cannot be written.
    """
    if path.exists():
        raise BackupError(f"{path} exists already")
    tell = progress or (lambda label, done, total: None)
    try:
        with output_file(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            manifest = _fill(archive, files, tell)
    except OutputError as error:
        raise BackupError(str(error)) from error
    return manifest


def _fill(archive: zipfile.ZipFile, files: bool, tell: Progress) -> Manifest:
    with steady_read(primary_engine()) as connection:
        if records.is_served():  # a table may take longer than any query of a request
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision is None:
            raise BackupError("the database is empty: there is nothing to back up")
        tables = _write_tables(archive, connection, tell)
        last_keys = {
            str(table.name): last_key(connection, table)
            for table in Model.metadata.sorted_tables
            if table.autoincrement_column is not None
        }
        named = _named_files(connection)
    copied = _write_files(archive, tell) if files else None
    manifest = Manifest(
        revision=revision,
        created_at=iso_instant(utc_now()),
        key_id=derived_keys(configuration.current, "sealing")[0].id,
        tables=tables,
        last_keys=last_keys,
        files=copied,
        missing_files=sorted(named - copied.keys()) if copied is not None else [],
    )
    archive.writestr(MANIFEST, manifest.dump())
    return manifest


def _write_tables(
    archive: zipfile.ZipFile, connection: Connection, tell: Progress
) -> dict[str, TableEntry]:
    tables = list(Model.metadata.sorted_tables)
    totals = {
        table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0)
        for table in tables
    }
    total, done = sum(totals.values()), 0
    entries = {}
    for table in tables:
        names = stored_columns(table)
        parts: dict[str, str] = {}
        rows = 0
        reading = select_rows(table, names).execution_options(yield_per=PART_ROWS)
        for part in connection.execute(reading).partitions():
            name = f"tables/{table.name}/{len(parts):06d}.jsonl"
            lines = write_lines(part)
            archive.writestr(name, lines)
            parts[name] = hashlib.sha256(lines).hexdigest()
            rows += len(part)
            done += len(part)
            tell("Saving rows", done, total)
        entries[str(table.name)] = TableEntry(names, rows, parts)
    return entries


def _named_files(connection: Connection) -> set[str]:
    """The files that nothing could make again: those of documents, and the PDFs of invoices."""
    frozen = select(Invoice.pdf_sha256).where(Invoice.pdf_sha256.is_not(None))
    invoices = {key_of(str(sha256)) for sha256 in connection.scalars(frozen)}
    return invoices.union(connection.scalars(select(DocumentVersion.blob_key)))


def _write_files(archive: zipfile.ZipFile, tell: Progress) -> dict[str, str]:
    store = blobs.current
    copied: dict[str, str] = {}
    entries = list(store.entries())
    for number, entry in enumerate(entries, 1):
        digest = hashlib.sha256()
        try:
            pieces = store.stream(entry.key)
        except BlobMissingError:  # deleted since the listing
            continue
        # Files are mostly compressed already.
        info = zipfile.ZipInfo(f"files/{entry.key}")
        with archive.open(info, "w", force_zip64=True) as out:
            for piece in pieces:
                digest.update(piece)
                out.write(piece)
        copied[entry.key] = digest.hexdigest()
        tell("Saving files", number, len(entries))
    return copied


def describe(manifest: Manifest) -> str:
    """``184,213 rows and 12 files of 2026-11-21T02:00:00.000Z``."""
    rows = sum(entry.rows for entry in manifest.tables.values())
    files = "no files" if manifest.files is None else f"{len(manifest.files):,} files"
    return f"{rows:,} rows and {files} of {manifest.created_at}"
