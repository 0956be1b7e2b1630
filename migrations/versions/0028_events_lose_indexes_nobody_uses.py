"""Events are found by their place, their time and what is not fanned out, and by nothing else."""

from __future__ import annotations

from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.drop_index("ix_events_entity_entity_id", table_name="events")
    op.drop_index("ix_events_type", table_name="events")


def downgrade() -> None:
    op.create_index("ix_events_type", "events", ["type"])
    op.create_index("ix_events_entity_entity_id", "events", ["entity", "entity_id"])
