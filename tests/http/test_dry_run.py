"""What was only tried is not there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.clock import utc_now
from app.db import records
from app.db.engines import transaction
from app.http.dry_run import DryRunSchema, tried
from app.models.user import Role


@pytest.mark.parametrize(
    ("query", "is_trial"), [({}, False), ({"dryRun": "false"}, False), ({"dryRun": "true"}, True)]
)
def test_a_trial_is_undone_before_it_is_committed(
    app: Flask, query: Mapping[str, str], is_trial: bool
) -> None:
    role = {"name": "Auditor", "created_at": utc_now(), "is_builtin": False, "permissions": {}}
    with app.app_context():
        with transaction(), tried(DryRunSchema().load(query)["dry_run"]):
            records.insert(Role.__table__, role)
        count = select(func.count()).select_from(Role).where(Role.name == "Auditor")
        assert records.connection().execute(count).scalar_one() == (0 if is_trial else 1)
