"""An export has the language of the page that it was asked for on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import string

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.add_column("report_exports", sa.Column("language", string(10)))


def downgrade() -> None:
    op.drop_column("report_exports", "language")
