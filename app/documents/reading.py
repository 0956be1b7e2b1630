"""Reading rows without holding anybody up: what follows may take as long as a file takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from app.db import records
from app.db.engines import primary_engine
from app.db.transactions import has_begun


@contextmanager
def reading() -> Iterator[Connection]:
    """A connection that sees the last commit; inside a transaction that runs, what it has done.

    It opens no transaction of its own: on SQLite that would keep every writer waiting.
    """
    if has_begun():
        yield records.connection()
    else:
        with primary_engine().connect() as connection:
            yield connection
