"""``?dryRun=true``: an operation says what it would do, by all its rules, and leaves nothing."""

from __future__ import annotations

from typing import Any

from app.extensions import db
from app.http import schema_fields as fields
from app.http.schema_fields import Schema


class DryRunSchema(Schema):
    """Whether to only try."""

    dry_run = fields.Boolean(
        load_default=False, description="Answer as usual and leave nothing behind.", example=False
    )


def undo_if_dry(query: dict[str, Any]) -> bool:
    """At the end of an operation: undo it when it was only tried; returns whether it was."""
    if query["dry_run"]:
        db.session.rollback()
    return bool(query["dry_run"])
