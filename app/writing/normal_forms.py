"""Columns that hold the normal form of another one, so that an index finds what is the same.

They follow their column with every write, and show nowhere. The migration that adds such a column,
and the job that runs after the organisation has moved to another country, fill what is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, and_, bindparam, or_, select, update

from app.models.client import Client, Contact
from app.models.lead import Lead
from app.writing.equivalence import FORMS, is_national

TABLES: tuple[Any, ...] = (Client.__table__, Contact.__table__, Lead.__table__)
BATCH = 1000


class NormalForm(NamedTuple):
    """The column ``name`` holds the form of the column ``of``; ``kind`` is that of ``FORMS``."""

    name: str
    of: str
    kind: str


@lru_cache(maxsize=64)
def normal_forms_of(table: Table) -> tuple[NormalForm, ...]:
    """The columns of a table that hold a form."""
    return tuple(
        NormalForm(column.name, *column.info["normal_form"])
        for column in table.columns
        if "normal_form" in column.info
    )


def forms_of(
    table: Table, row: Mapping[str, Any], country: Callable[[], str | None]
) -> dict[str, str | None]:
    """The forms of the values that ``row`` has, by the names of their columns.

    Args:
        country: that of the organisation, asked for where a number is dialled within it.
    """
    forms: dict[str, str | None] = {}
    for form in normal_forms_of(table):
        if form.of in row:
            text = row[form.of]
            asks = text is not None and form.kind == "phone" and is_national(text)
            forms[form.name] = _form(form, text, country() if asks else None)
    return forms


def _form(form: NormalForm, text: str | None, country: str | None) -> str | None:
    return None if text is None else FORMS[form.kind](text, country)


def forget_national_forms(connection: Connection) -> None:
    """Empty the forms of numbers that are dialled otherwise in another country.

    ``fill_forms`` makes them anew.
    """
    for table in TABLES:
        for form in normal_forms_of(table):
            if form.kind == "phone":
                source = table.c[form.of]
                national = and_(source.is_not(None), ~source.startswith("+"))
                connection.execute(update(table).where(national).values({form.name: None}))


def fill_forms(
    connection: Connection, table: Table, country: str | None, after: int = 0
) -> int | None:
    """Fill the forms of ``table`` that are empty though there is a text: one batch.

    A row version stays, since nothing of the record is another; a row that is changed meanwhile
    has got its forms by that.

    Args:
        after: the key that the batch before returned.
    Returns: the last key of the batch; None where nothing was left.
    """
    forms = normal_forms_of(table)
    empty = [and_(table.c[form.of].is_not(None), table.c[form.name].is_(None)) for form in forms]
    columns = ("id", "version", *(form.of for form in forms))
    statement = (
        select(*(table.c[name] for name in columns))
        .where(or_(*empty), table.c.id > after)
        .order_by(table.c.id)
        .limit(BATCH)
    )
    rows = connection.execute(statement).mappings().all()
    if not rows:
        return None
    same = and_(table.c.id == bindparam("row_id"), table.c.version == bindparam("row_version"))
    change = update(table).where(same).values({
        form.name: bindparam(f"new_{form.name}") for form in forms
    })  # fmt: skip
    values = [
        {
            "row_id": row["id"],
            "row_version": row["version"],
            **{f"new_{form.name}": _form(form, row[form.of], country) for form in forms},
        }
        for row in rows
    ]
    connection.execute(change, values)
    return int(rows[-1]["id"])
