"""``flask --app wsgi documents ...``: the store and the trash from the command line."""

from __future__ import annotations

from datetime import timedelta

import click
from flask.cli import AppGroup

from app.documents.cleanup import clean_store, purge_trash


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
