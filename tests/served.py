"""A service of its own for tests of the real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.auth.users import create_user
from app.http.security import acting_as, system_caller
from bench.services import Place, service, transaction
from tests.contract.conftest import PASSWORD

_UNLIMITED = "1000000/minute"


@contextmanager
def unlimited_service() -> Iterator[Place]:
    """A service with an administrator, ``admin``, and no limits; not yet started."""
    with service(RATE_LIMIT_USER=_UNLIMITED, RATE_LIMIT_AUTH=_UNLIMITED) as place:
        with place.app.app_context(), transaction(), acting_as(system_caller("test")):
            create_user(
                username="admin", email=None, display_name="Admin", password=PASSWORD,
                roles=["Admin"],
            )  # fmt: skip
        yield place
