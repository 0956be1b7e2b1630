"""Kill -9 of the web process and of the worker under load: nothing answered for is lost.

    python -m bench.kills [--kills 50] [--postgresql ... --redis ...]

Callers create and change clients all the time, a receiver takes every event of theirs. Web and
worker are killed in turn, with all their processes, and started again. Afterwards: every write that
was answered with success is in the database; every event in the database was delivered, also those
of writes whose answer was cut off (DUR-13); nothing was delivered that is not in the database
(DUR-15); a message that came twice came with the same id (DUR-14).
"""

from __future__ import annotations

import argparse
import math
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import orjson
from sqlalchemy import func, select, update

from app.auth.api_keys import create_api_key
from app.clock import utc_now
from app.db.engines import primary_engine, steady_read, transaction
from app.http.security import acting_as, system_caller
from app.models.client import Client
from app.models.event import Event
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.endpoints import register_endpoint
from bench.receiver import ReceiverProcess
from bench.services import Place, service, signal_group

CALLERS = 4
# How long a process lives before it is killed: long enough to begin working.
LIFE_SECONDS = (0.2, 1.2)
DRAIN_SECONDS = 120
UNLIMITED = "100000000/minute"
T = TypeVar("T")


@dataclass
class Ledger:
    """What callers were told."""

    created: set[int] = field(default_factory=set)
    changed: dict[int, str] = field(default_factory=dict)
    cut: int = 0
    refused: list[str] = field(default_factory=list)


def main() -> int:
    """Kill, print, and fail when something was lost."""
    options = _options()
    with service(options.postgresql, options.redis, **settings()) as place:
        problems = run(place, options.kills)
    for problem in problems:
        print(f"PROBLEM {problem}", file=sys.stderr)
    return int(bool(problems))


def settings() -> dict[str, str]:
    """The environment of the processes."""
    return {
        "WEBHOOK_ALLOW_PRIVATE": "1",
        "WEBHOOK_RETRY_SCHEDULE": ",".join(["1"] * 30),
        "RATE_LIMIT_API_KEY": UNLIMITED,
    }


def run(place: Place, kills: int, *, hurry: bool = False) -> list[str]:
    """Kill web and worker in turn, ``kills`` times; returns what went wrong.

    Args:
        hurry: end the leases of the killed at the end, instead of waiting until they run out.
    """
    receiver = ReceiverProcess()
    try:
        key = prepare(place, receiver.url)
        services = Services(place)
        ledger, stop = Ledger(), threading.Event()
        callers = [
            threading.Thread(target=call, args=(services.url, key, ledger, stop))
            for _ in range(CALLERS)
        ]
        for caller in callers:
            caller.start()
        for number in range(kills):
            wait_for_messages(receiver)  # both work
            shortest, longest = LIFE_SECONDS
            time.sleep(shortest + secrets.randbelow(1000) / 1000 * (longest - shortest))
            services.kill("web" if number % 2 else "worker")
        services.wait_until_ready()
        stop.set()
        for caller in callers:
            caller.join()
        if hurry:
            run_out_leases(place)
        return settled(lambda: judge(place, receiver, ledger, kills), len)
    finally:
        place.stop_all()
        receiver.stop()


class Services:
    """The web process and the worker, each started again when it was killed."""

    def __init__(self, place: Place) -> None:
        self._place = place
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("web", "worker"):
            self._start(name)

    def kill(self, name: str) -> None:
        """End a process and its children at once, and start it anew."""
        signal_group(self._running[name], signal.SIGKILL)
        self._running[name].wait()
        self._start(name)

    def wait_until_ready(self) -> None:
        """Until the web process answers."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urlopen(f"{self.url}/healthz", timeout=2):
                    return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError("the service did not come up again")

    def _start(self, name: str) -> None:
        self._running[name] = (
            self._place.start(
                "gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(self._port)
            )
            if name == "web"
            else self._place.start_worker()
        )


def prepare(place: Place, url: str) -> str:
    """An endpoint for all events of clients; returns an API key to write them with."""
    with place.app.app_context(), transaction(), acting_as(system_caller("cli")):
        register_endpoint(url=f"{url}/late/all", patterns=["client.*"])
        return create_api_key(name="load", role="Admin").key


def call(url: str, key: str, ledger: Ledger, stop: threading.Event) -> None:
    """Create clients and change them, until told to stop."""
    while not stop.is_set():
        try:
            made = send("POST", f"{url}/odata/Clients", key, {"name": secrets.token_hex(8)})
            ledger.created.add(made["id"])
            phone = f"+4930{secrets.randbelow(10**7):07d}"
            send("PATCH", f"{url}/odata/Clients({made['id']})", key, {"phone": phone})
            ledger.changed[made["id"]] = phone
        except HTTPError as error:
            if error.code != 503:
                ledger.refused.append(f"{error.code} {error.read()[:200]!r}")
            time.sleep(0.05)
        except (OSError, HTTPException, ValueError):
            ledger.cut += 1
            time.sleep(0.05)


def send(method: str, url: str, key: str, body: dict[str, Any]) -> Any:
    """The answer's JSON."""
    request = Request(
        url, orjson.dumps(body), {"X-API-Key": key, "Content-Type": "application/json"},
        method=method,
    )  # fmt: skip
    with urlopen(request, timeout=10) as answer:
        return orjson.loads(answer.read())


def wait_for_messages(receiver: ReceiverProcess) -> None:
    """Until some more have arrived: writes are answered, and their events delivered.

    Raises: TimeoutError, none comes.
    """
    before = arrived(receiver)
    deadline = time.monotonic() + 60
    while arrived(receiver) < before + 3:
        if time.monotonic() > deadline:
            raise TimeoutError("no message arrives any more")
        time.sleep(0.05)


def arrived(receiver: ReceiverProcess) -> int:
    """How many messages the receiver has taken."""
    return sum(found["arrived"] for found in receiver.ask("stats").values())


def run_out_leases(place: Place) -> None:
    """As if a minute had passed since the kills; the living finish what they hold all the same."""
    with place.app.app_context(), transaction() as session:
        session.execute(
            update(WebhookDelivery)
            .where(WebhookDelivery.leased_until.is_not(None))
            .values(leased_until=utc_now())
        )


def settled(look: Callable[[], T], left: Callable[[T], int]) -> T:
    """What ``look`` gives once nothing is left, or that has not become less for ``DRAIN_SECONDS``.

    What is looked at goes on: a request whose caller has been cut off may yet be done.
    """
    deadline, least = time.monotonic() + DRAIN_SECONDS, math.inf
    while (count := left(seen := look())) and time.monotonic() < deadline:
        if count < least:
            deadline, least = time.monotonic() + DRAIN_SECONDS, count
        time.sleep(0.5)
    return seen


def drain(place: Place) -> None:
    """Until nothing is due any more."""

    def due() -> int:
        conditions = (
            (Event, Event.dispatched_at.is_(None)),
            (WebhookDelivery, WebhookDelivery.status == "pending"),
        )
        with place.app.app_context(), steady_read(primary_engine()) as connection:
            return sum(
                connection.execute(
                    select(func.count()).select_from(model).where(condition)
                ).scalar_one()
                for model, condition in conditions
            )

    settled(due, int)


def judge(place: Place, receiver: ReceiverProcess, ledger: Ledger, kills: int) -> list[str]:
    """What is wrong; figures are printed."""
    with place.app.app_context(), steady_read(primary_engine()) as connection:
        clients = {row.id: row.phone for row in connection.execute(select(Client.id, Client.phone))}
        of_clients = select(Event.id, Event.type).where(Event.type.like("client.%"))
        events = {row.id: row.type for row in connection.execute(of_clients)}
        deliveries = {
            row.event_id: row.message_id
            for row in connection.execute(
                select(WebhookDelivery.event_id, WebhookDelivery.message_id).join(WebhookEndpoint)
            )
        }
    came: dict[str, int] = dict(receiver.ask("counts").get("all", {}))
    twice = sum(count - 1 for count in came.values())
    print(
        f"{kills} kills: {len(ledger.created)} creations and {len(ledger.changed)} changes"
        f" answered, {ledger.cut} requests cut off; {len(events)} events,"
        f" {len(came)} messages arrived, {twice} of them again",
        file=sys.stderr,
    )
    created = sum(name == "client.created" for name in events.values())
    return [
        *_missing("acknowledged clients are not there", ledger.created - clients.keys()),
        *_missing(
            "acknowledged changes are not there",
            (key for key, phone in ledger.changed.items() if clients.get(key) != phone),
        ),
        *_missing("events have no delivery", events.keys() - deliveries.keys()),
        *_missing("messages never arrived", set(deliveries.values()) - came.keys()),
        *_missing("messages are of no event", came.keys() - set(deliveries.values())),
        *_missing("writes were refused", ledger.refused),
        *([] if created == len(clients) else [f"{len(clients)} clients, {created} created events"]),
        *([] if ledger.created else ["nothing was written"]),
    ]


def _missing(what: str, found: Iterable[Any]) -> list[str]:
    listed = list(found)
    return [f"{len(listed)} {what}: {listed[:3]}"] if listed else []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--postgresql", help="a server; SQLite when left out")
    parser.add_argument("--redis", help="limits and queue in Redis")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
