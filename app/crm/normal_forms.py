"""The normal forms that are missing: after a move to another country, or a restored backup."""

from __future__ import annotations

from sqlalchemy import Table, and_, bindparam, or_, select, update

from app.db import records
from app.db.engines import transaction
from app.settings import organisation
from app.writing.normal_forms import TABLES, normal_forms_of

BATCH = 1000


def fill_normal_forms() -> int:
    """The job: fill what is empty, a transaction for each batch; returns the number of batches."""
    country = organisation().seller.country
    return sum(_fill(table, country) for table in TABLES)


def _fill(table: Table, country: str | None) -> int:
    """Fill the forms of ``table`` that are empty though there is a text.

    A row version stays, since nothing of the record is another; a row that is changed meanwhile
    has got its forms by that.
    """
    forms = normal_forms_of(table)
    empty = [and_(table.c[form.of].is_not(None), table.c[form.name].is_(None)) for form in forms]
    batch = (
        select(table.c.id, table.c.version, *(table.c[form.of] for form in forms))
        .where(or_(*empty), table.c.id > bindparam("after"))
        .order_by(table.c.id)
        .limit(BATCH)
    )
    same = and_(table.c.id == bindparam("row_id"), table.c.version == bindparam("row_version"))
    change = update(table).where(same).values({
        form.name: bindparam(f"new_{form.name}") for form in forms
    })  # fmt: skip
    after = batches = 0
    while True:
        with transaction():
            rows = records.connection().execute(batch, {"after": after}).mappings().all()
            if not rows:
                return batches
            values = [
                {"row_id": row["id"], "row_version": row["version"]}
                | {f"new_{form.name}": form.value(row[form.of], country) for form in forms}
                for row in rows
            ]
            records.connection().execute(change, values)
        after, batches = rows[-1]["id"], batches + 1
