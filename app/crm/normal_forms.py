"""The normal forms that are missing: after a move to another country, or a restored backup."""

from __future__ import annotations

from app.db import records
from app.db.engines import transaction
from app.settings import organisation
from app.writing.normal_forms import TABLES, fill_forms


def fill_normal_forms() -> int:
    """The job: fill what is empty, a transaction for each batch; returns the number of batches."""
    country = organisation().seller.country
    batches = 0
    for table in TABLES:
        after: int | None = 0
        while after is not None:
            with transaction():
                after = fill_forms(records.connection(), table, country, after)
            batches += after is not None
    return batches
