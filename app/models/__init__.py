"""The tables. Importing this package declares all of them."""

from __future__ import annotations

from app.extensions import Model
from app.models import (  # noqa: F401
    assistant,
    bulk_run,
    client,
    document,
    event,
    import_job,
    invoice,
    kb_article,
    lead,
    opportunity,
    product,
    project,
    report,
    saved_view,
    search,
    ticket,
    user,
    webhook,
)
from app.models.columns import add_checks, add_sparse_indexes, give_keys_once

add_checks(Model.metadata)
add_sparse_indexes(Model.metadata)
give_keys_once(Model.metadata)
