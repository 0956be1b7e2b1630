"""Fixtures for tests of the services: a transaction, a caller, and what events need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from flask import Flask

from app.events import addresses, representations
from app.extensions import db
from app.http.security import Caller, acting_as
from app.writing.deletion import services
from app.writing.services import SERVICES
from tests.factories import make_user, plain_representations


def bind_services(app: Flask) -> None:
    """What the services ask of an application, when the test's application has none."""
    if services.find(app) is None:
        services.bind(app, SERVICES)
    if representations.find(app) is None:
        representations.bind(app, plain_representations)
    if addresses.find(app) is None:
        addresses.bind(app, lambda entity, key: f"/odata/{entity}({key})")


@pytest.fixture
def admin(app: Flask) -> Iterator[Caller]:
    """An administrator calls, in one transaction that is rolled back at the end."""
    bind_services(app)
    with app.app_context(), ExitStack() as stack:
        try:
            caller = make_user("Admin")
            stack.enter_context(acting_as(caller))
            yield caller
        finally:
            db.session.rollback()
            db.session.remove()
