"""``flask --app wsgi reindex``: the search takes everything in anew."""

from __future__ import annotations

import time

import click
from flask.cli import with_appcontext
from tqdm import tqdm

from app.kb.indexing import count_indexed, index_articles, index_tickets, mark_all, tidy_index
from app.search.embedding import find_model


@click.command()
@with_appcontext
def reindex() -> None:
    """Take all articles and solved tickets into the search anew.

    The search goes on with what it knows until each text has its new entry. It may be interrupted,
    and run beside the worker, which helps.
    """
    started_at = time.monotonic()
    tidy_index()
    total = mark_all()
    if find_model() is None:
        click.echo("The embedding model is not installed: texts will be found by words alone.")
    with tqdm(total=total, unit=" texts", desc="Indexing", disable=None) as progress:
        for portion in (index_articles, index_tickets):
            while done := portion():
                progress.update(done)
    seconds = time.monotonic() - started_at
    click.echo(f"Texts in the search: {count_indexed()}, after {seconds:.0f} s.")
