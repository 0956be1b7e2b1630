"""Which formats exports have is said by their list alone (app/bi/exports/formats.py)."""

from __future__ import annotations

from alembic import op

revision = "0039"
down_revision = "0038"

RULE = "ck_report_exports_format_allowed"


def upgrade() -> None:
    with op.batch_alter_table("report_exports") as table:
        table.drop_constraint(op.f(RULE), type_="check")


def downgrade() -> None:
    op.execute("DELETE FROM report_exports WHERE format NOT IN ('xlsx', 'csv', 'pdf', 'json')")
    with op.batch_alter_table("report_exports") as table:
        table.create_check_constraint(op.f(RULE), "format IN ('xlsx', 'csv', 'pdf', 'json')")
