"""Revisions of articles know when they were published; drafts have no such instant.

Of what was there, those are known: the text of a published article, what it was changed to since
its publication, and the text that it was published with. The others count as drafts.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import UtcDateTime

revision = "0032"
down_revision = "0031"

_KNOWN = """
UPDATE kb_revisions SET published_at = (
    SELECT CASE WHEN a.published_at > kb_revisions.created_at THEN a.published_at
        ELSE kb_revisions.created_at END
    FROM kb_articles a WHERE a.id = kb_revisions.article_id
)
WHERE EXISTS (
    SELECT 1 FROM kb_articles a WHERE a.id = kb_revisions.article_id AND (
        (a.status = 'Published' AND (
            a.revision = kb_revisions.revision OR kb_revisions.created_at >= a.published_at
        ))
        OR kb_revisions.revision = (
            SELECT max(r.revision) FROM kb_revisions r
            WHERE r.article_id = a.id AND r.created_at <= a.published_at
        )
    )
)
"""


def upgrade() -> None:
    op.add_column("kb_revisions", sa.Column("published_at", UtcDateTime()))
    op.execute(_KNOWN)


def downgrade() -> None:
    op.drop_column("kb_revisions", "published_at")
