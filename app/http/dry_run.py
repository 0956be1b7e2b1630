"""``?dryRun=true``: an operation says what it would do, by all its rules, and leaves nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from app.db.transactions import trial
from app.http import schema_fields as fields
from app.http.schema_fields import Schema


class DryRunSchema(Schema):
    """Whether to only try."""

    dry_run = fields.Boolean(
        load_default=False, description="Answer as usual and leave nothing behind.", example=False
    )


def tried(is_trial: bool) -> AbstractContextManager[None]:
    """What an operation stands in: at its end it is undone when it was only tried."""
    return trial() if is_trial else nullcontext()
