"""A worker in this process, receivers on loopback, and an administrator who registers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from flask import Flask

from app.jobs.leases import LoopThreads
from app.jobs.worker import LOOPS
from app.webhooks.deliverer import deliverer
from tests.conftest import KeepApp
from tests.contract.conftest import Api, admin, sign_in
from tests.receivers import Receiver, receiver
from tests.waiting import until

__all__ = ["admin", "sign_in"]

Run = Callable[..., AbstractContextManager[LoopThreads]]


@pytest.fixture
def there() -> Iterator[Receiver]:
    """A receiver on loopback."""
    with receiver() as made:
        yield made


@pytest.fixture
def near(keep_app: KeepApp) -> Flask:
    """The application, allowed to call loopback, with a schedule of split seconds."""
    return keep_app(WEBHOOK_ALLOW_PRIVATE=True, WEBHOOK_RETRY_SCHEDULE=(0, 0, 0))


@pytest.fixture
def api(near: Flask, sign_in: Callable[..., Api]) -> Api:
    """An administrator of ``near``."""
    return sign_in("Admin", near)


@pytest.fixture
def work() -> Run:
    """``with work(app):`` runs the loops of webhooks meanwhile."""

    @contextmanager
    def run(app: Flask) -> Iterator[LoopThreads]:
        loops = [loop for loop in LOOPS if loop.name.startswith("webhook")]
        threads = LoopThreads(app, loops)
        threads.start()
        try:
            yield threads
        finally:
            threads.ask_to_stop()
            assert threads.join(20) == []
            deliverer.unbind(app)

    return run


def register(api: Api, url: str, *events: str) -> dict[str, Any]:
    """A new endpoint, its secret included."""
    answer = api.post("/api/webhooks", {"url": url, "events": list(events or ("*",))})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def make_client(api: Api, **values: Any) -> int:
    """A client; writing one emits client.created."""
    answer = api.post("/odata/Clients", {"name": "Acme", **values})
    assert answer.status_code == 201, answer.text
    return int(answer.json["id"])


def deliveries(api: Api, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    """The deliveries of an endpoint, the newest first."""
    options = "&".join(f"{name}={value}" for name, value in query.items())
    answer = api.get(f"/api/webhooks/{webhook['id']}/deliveries?{options}")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json["items"]
    return items


def when_all(api: Api, webhook: dict[str, Any], status: str, count: int = 1) -> Any:
    """The deliveries of an endpoint, once ``count`` of them are in a state."""

    def look() -> Any:
        found = deliveries(api, webhook)
        return found if sum(item["status"] == status for item in found) == count else None

    return until(look, 40)
