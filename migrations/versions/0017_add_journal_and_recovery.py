"""The place of events in the journal; recovery of endpoints; the headers of attempts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime

revision = "0017"
down_revision = "0016"

DUE = "ix_webhook_deliveries_due"
PENDING = sa.text("status = 'pending'")


def upgrade() -> None:
    op.add_column("events", sa.Column("position", Identifier))
    op.create_index("ix_events_position", "events", ["position"], unique=True)
    op.add_column("webhook_endpoints", sa.Column("disabled_at", UtcDateTime()))
    op.add_column("webhook_endpoints", sa.Column("recover_after", Identifier))
    op.add_column("webhook_endpoints", sa.Column("recover_until", Identifier))
    op.add_column("webhook_attempts", sa.Column("request_headers", JsonText()))
    index_due_deliveries(["endpoint_id", "next_attempt_at"])


def downgrade() -> None:
    index_due_deliveries(["next_attempt_at"])
    op.drop_column("webhook_attempts", "request_headers")
    op.drop_column("webhook_endpoints", "recover_until")
    op.drop_column("webhook_endpoints", "recover_after")
    op.drop_column("webhook_endpoints", "disabled_at")
    op.drop_index("ix_events_position", "events")
    op.drop_column("events", "position")


def index_due_deliveries(columns: list[str]) -> None:
    op.drop_index(DUE, "webhook_deliveries")
    op.create_index(
        DUE, "webhook_deliveries", columns, sqlite_where=PENDING, postgresql_where=PENDING
    )
