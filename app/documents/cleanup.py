"""What lies in the store and in the trash after its time.

A blob without a row is what an upload left behind that was cut off between the two. It goes in two
looks: one that finds no row that names it, when it is a day old, and another, hours later, that
still finds none. A row is written seconds after its blob, so no blob that a row names, or will
name, is ever removed. ``flask --app wsgi documents clean`` does it from the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import click
from flask.cli import AppGroup
from sqlalchemy import ColumnElement, delete, func, or_, select

from app.blobs import blobs
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.documents.files import AREA
from app.documents.service import DOCUMENTS, TRASH_DAYS
from app.documents.sharing.shares import unshare_expired
from app.http.security import acting_as, system_caller
from app.jobs.leases import is_stopping
from app.models.document import Document, DocumentContent, DocumentVersion, OrphanBlob
from app.settings.days import today

MINIMUM_AGE = timedelta(hours=24)
BETWEEN_LOOKS = timedelta(hours=6)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How much was removed, and how much waits for the second look."""

    removed: int = 0
    noted: int = 0
    unfinished: int = 0


def clean_up() -> int:
    """The job: empty the trash, look through the store; returns how much went."""
    purged = purge_trash()
    outcome = clean_store()
    return purged + outcome.removed + outcome.unfinished


def end_expired_links() -> int:
    """The job: documents whose last link has expired are not shared any more."""
    with transaction(), acting_as(system_caller("job")):
        return unshare_expired()


def purge_trash() -> int:
    """Remove for good what was deleted more than 30 days ago and is not retained."""
    is_due = (
        (Document.status == "Deleted")
        & (Document.deleted_at < utc_now() - timedelta(days=TRASH_DAYS))
        & or_(Document.retain_until.is_(None), Document.retain_until < today())
    )
    due = select(Document.id).where(is_due).order_by(Document.id).limit(_BATCH)
    purged = 0
    while True:
        with primary_engine().connect() as connection:
            keys = connection.execute(due).scalars().all()
        for key in keys:
            if is_stopping():
                return purged
            purged += purge(key, is_due)
        if len(keys) < _BATCH:
            return purged


def clean_store(*, minimum_age: timedelta = MINIMUM_AGE, dry_run: bool = False) -> Cleaned:
    """Look through the store for blobs that no row names.

    Args:
        minimum_age: younger ones are left alone.
        dry_run: only count.
    """
    now = utc_now()
    removed = noted = 0
    for keys in blobs.current.keys_before(AREA, now - minimum_age):
        if is_stopping():
            break
        unnamed = keys - _named(keys)
        known = _noted(unnamed)
        due = {key for key in unnamed if key in known and known[key] <= now - BETWEEN_LOOKS}
        fresh = unnamed - set(known)
        if not dry_run:
            _note(fresh, now)
            for key in sorted(due):
                blobs.current.delete(key)
        removed += len(due)
        noted += len(fresh)
    unfinished = 0
    if not dry_run:
        _forget(now - BETWEEN_LOOKS - timedelta(days=7))
        unfinished = blobs.current.discard_unfinished(now - minimum_age)
    return Cleaned(removed=removed, noted=noted, unfinished=unfinished)


def purge(key: int, is_due: ColumnElement[bool]) -> bool:
    """Remove one document for good, and then its bytes; False when it is not due any more."""
    with transaction(), acting_as(system_caller("job")):
        still_due = select(Document).where(Document.id == key, is_due)
        document = records.find(still_due.with_for_update(key_share=True))
        if document is None:
            return False
        connection = records.connection()
        keys = [
            *connection.execute(
                select(DocumentVersion.blob_key).where(DocumentVersion.document_id == key)
            ).scalars(),
            *connection.execute(
                select(DocumentContent.preview_key).where(
                    DocumentContent.document_id == key, DocumentContent.preview_key.is_not(None)
                )
            ).scalars(),
        ]
        DOCUMENTS.purge(key, document)
    # After the commit: what is cut off here is found by the next look through the store.
    for blob_key in keys:
        blobs.current.delete(blob_key)
    return True


def _named(keys: set[str]) -> set[str]:
    """Those of ``keys`` that a row names."""
    with primary_engine().connect() as connection:
        return {
            key
            for column in (DocumentVersion.blob_key, DocumentContent.preview_key)
            for key in connection.execute(select(column).where(column.in_(keys))).scalars()
            if key is not None
        }


def _noted(keys: set[str]) -> dict[str, datetime]:
    """Key -> when an earlier look found no row that names it."""
    if not keys:
        return {}
    columns = (OrphanBlob.blob_key, OrphanBlob.created_at)
    with primary_engine().connect() as connection:
        noted_at = connection.execute(select(*columns).where(OrphanBlob.blob_key.in_(keys)))
        return {row.blob_key: row.created_at for row in noted_at}


def _note(keys: set[str], now: datetime) -> None:
    for key in sorted(keys):
        with transaction() as session:
            count = select(func.count()).where(OrphanBlob.blob_key == key)
            if not session.connection().execute(count).scalar_one():  # another worker looks, too
                records.insert(OrphanBlob, {"blob_key": key, "created_at": now})


def _forget(before: datetime) -> None:
    """Notes of what is long gone."""
    with transaction() as session:
        session.connection().execute(delete(OrphanBlob).where(OrphanBlob.created_at < before))


@click.group(cls=AppGroup)
def documents() -> None:
    """The files of documents: what lies in the store and in the trash after its time."""


@documents.command("clean")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--older-than",
    default=24,
    show_default=True,
    type=click.IntRange(min=1),
    help="Hours that a file without a record must have been there.",
)
def clean(dry_run: bool, older_than: int) -> None:
    """Empty the trash after 30 days, and remove files that no record names.

    Such a file is left behind by an upload that was cut off. It is noted at the first run, and
    removed by one that comes at least six hours later and still finds no record.
    """
    if not dry_run:
        click.echo(f"{purge_trash()} documents of the trash removed for good.")
    outcome = clean_store(minimum_age=timedelta(hours=older_than), dry_run=dry_run)
    verb = "to remove" if dry_run else "removed"
    click.echo(f"{outcome.removed} files without a record {verb}, {outcome.noted} noted.")
    if outcome.unfinished:
        click.echo(f"{outcome.unfinished} unfinished writes removed.")
