"""Indexes of places and times of events hold those that are fanned out (docs/adr/0027).

A change writes its event without either; the worker, which fans it out, enters it into both.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

INDEXES = (("position", True, "position"), ("created_at", False, "dispatched_at"))


def upgrade() -> None:
    for column, is_unique, given in INDEXES:
        rows = sa.text(f"{given} IS NOT NULL")
        op.drop_index(f"ix_events_{column}", "events")
        op.create_index(
            f"ix_events_{column}", "events", [column], unique=is_unique,
            sqlite_where=rows, postgresql_where=rows,
        )  # fmt: skip


def downgrade() -> None:
    for column, is_unique, _ in INDEXES:
        op.drop_index(f"ix_events_{column}", "events")
        op.create_index(f"ix_events_{column}", "events", [column], unique=is_unique)
