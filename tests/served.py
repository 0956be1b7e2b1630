"""A service of its own for tests of the real server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.auth.users import create_user
from app.http.security import acting_as, system_caller
from bench.services import Place, service, transaction
from tests.contract.conftest import PASSWORD
from tests.waiting import until

_UNLIMITED = "1000000/minute"


@contextmanager
def unlimited_service(database: str) -> Iterator[Place]:
    """A service with an administrator, ``admin``, and no limits; not yet started."""
    limits = {"RATE_LIMIT_USER": _UNLIMITED, "RATE_LIMIT_AUTH": _UNLIMITED}
    with service(database=database, **limits) as place:
        with place.app.app_context(), transaction(), acting_as(system_caller("test")):
            create_user(
                username="admin", email=None, display_name="Admin", password=PASSWORD,
                roles=["Admin"],
            )  # fmt: skip
        yield place


def start(place: Place, number: int) -> object:
    process = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number))
    until(lambda: answers(number), 90)
    return process


def answers(number: int) -> bool:
    try:
        return ask(number, "GET", "/healthz")[0] == 200
    except OSError:
        return False


def ask(
    number: int, method: str, path: str, body: object = None, token: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    content = json.dumps(body) if body is not None else None
    with closing(http.client.HTTPConnection("127.0.0.1", number, timeout=30)) as connection:
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        named = {name.lower(): text for name, text in answer.getheaders()}
        return answer.status, named, answer.read()
