"""``flask backup FILE`` and ``flask restore FILE`` (docs/operations.md)."""

from __future__ import annotations

from pathlib import Path

import click
from flask.cli import with_appcontext

from app.backup.archive import BackupError
from app.backup.restoring import is_readable_key, restore_backup, unreadable_secrets
from app.backup.writing import describe, write_backup
from app.config import KEY_FILE
from app.extensions import configuration
from app.importing.progress import progress_bar


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--without-files", is_flag=True, help="Rows only: the store of files is kept by itself."
)
@with_appcontext
def backup(file: Path, without_files: bool) -> None:
    """Write the whole service to FILE, while it runs; FILE holds secrets, keep it like one."""
    try:
        with progress_bar() as report:
            manifest = write_backup(file, files=not without_files, progress=report)
    except BackupError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{file}: {describe(manifest)}")
    click.echo(f"Not in it, and needed to restore it: {_place_of_key()}", err=True)
    if manifest.missing_files:
        for key in manifest.missing_files[:20]:
            click.echo(f"missing from the store of files: {key}", err=True)
        raise click.ClickException(
            f"missing files of documents and invoices: {len(manifest.missing_files)};"
            " the rest is kept"
        )


def _place_of_key() -> str:
    """Where the key is with which secrets are sealed: in the settings, or in a file made here."""
    config = configuration.current
    path = config.DATA_DIR / KEY_FILE
    is_kept = path.is_file() and path.read_text(encoding="utf-8") == config.SECRET_KEY
    return f"the key in {path}" if is_kept else "SECRET_KEY, as it is set here"


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@with_appcontext
def restore(file: Path) -> None:
    """Bring a backup into an empty database and store; SQLite's into PostgreSQL as well."""
    try:
        with progress_bar() as report:
            manifest = restore_backup(file, report)
    except BackupError as error:
        raise click.ClickException(f"Nothing was restored: {error}") from error
    click.echo(f"Restored: {describe(manifest)}")
    unreadable = unreadable_secrets()
    if not is_readable_key(manifest):
        click.echo(
            "SECRET_KEY is another than that of the backup: people sign in again, links in mails"
            f" open nothing; unreadable secrets of webhooks: {unreadable}. The old key is"
            " SECRET_KEY of the service that was backed up or, where none was set, in the file"
            " secret_key of its DATA_DIR: set it as SECRET_KEY, or in SECRET_KEY_PREVIOUS.",
            err=True,
        )
    elif unreadable:
        click.echo(
            f"Unreadable secrets of webhooks: {unreadable}, sealed with a key from before that of"
            " the backup. Set it in SECRET_KEY_PREVIOUS.",
            err=True,
        )
