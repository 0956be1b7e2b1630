"""The real server is stopped and killed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from app.extensions import db
from bench.peers.processes import free_port
from bench.services import Place
from tests.contract.conftest import PASSWORD
from tests.migrated import MigratedDatabases
from tests.served import answers, ask, start, unlimited_service
from tests.waiting import until


@pytest.fixture(scope="module")
def place(migrated: MigratedDatabases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A service with an administrator, not yet started."""
    folder = tmp_path_factory.mktemp("server")
    with (
        migrated.new("sqlite", folder, "platform") as database,
        unlimited_service(database) as service,
    ):
        yield service


def token_of(number: int) -> str:
    status, _, body = ask(
        number, "POST", "/api/auth/login", {"username": "admin", "password": PASSWORD}
    )
    assert status == 200, body
    return str(json.loads(body)["accessToken"])


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-09", "DUR-11", "DUR-17", "DUR-12")
def test_a_graceful_stop_cuts_nothing_and_tokens_outlive_it(place: Place) -> None:
    number = free_port()
    process = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number))
    until(lambda: answers(number), 90)
    token = token_of(number)
    created: set[int] = set()
    cut: list[str] = []
    stop = threading.Event()

    def write(worker: int) -> None:
        while not stop.is_set():
            try:
                status, _, body = ask(
                    number, "POST", "/odata/Clients", {"name": f"w{worker}"}, token
                )
            except ConnectionRefusedError:
                return  # no longer taken, and so not cut off
            except (OSError, http.client.HTTPException) as error:
                cut.append(repr(error))
                return
            if status == 201:
                created.add(json.loads(body)["id"])
            else:
                cut.append(f"{status} {body[:80]!r}")

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(write, worker) for worker in range(4)]
        until(lambda: len(created) > 20)
        process.send_signal(signal.SIGTERM)
        for future in running:
            future.result(60)
    stop.set()
    assert process.wait(60) == 0
    # A connection that is taken by the system and by nobody else is reset, unread.
    assert [one for one in cut if "Reset" not in one and "Disconnected" not in one] == []
    start(place, number)
    listed = json.loads(ask(number, "GET", "/odata/Clients?$select=id&$top=5000", token=token)[2])
    assert created <= {row["id"] for row in listed["value"]}


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-03", "DUR-04", "DUR-05", "DUR-08", "DUR-10", "DUR-12")
def test_invoices_and_deletions_survive_kills_without_a_gap(place: Place) -> None:
    number = free_port()
    client = 0
    issued: dict[int, str] = {}
    deleted: set[int] = set()
    token = ""
    for _ in range(4):
        process = place.start(
            "gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number)
        )
        until(lambda: answers(number), 90)
        token = token or token_of(number)
        client = (
            client
            or json.loads(ask(number, "POST", "/odata/Clients", {"name": "ACME"}, token)[2])["id"]
        )
        before = len(issued)

        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(work, number, client, token, issued, deleted) for _ in range(3)]
            until(lambda before=before: len(issued) > before + 6)
            for pid in children(process.pid):
                signal_hard(pid)
            process.kill()
            process.wait(30)
            for future in running:
                future.result(60)
    with place.app.app_context(), db.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
        rows = connection.execute(
            text("SELECT id, number FROM invoices WHERE status <> 'Draft'")
        ).all()
        kept = {row[0]: row[1] for row in rows}
        everything = set(connection.execute(text("SELECT id FROM invoices")).scalars())
    assert issued.items() <= kept.items()
    assert not deleted & everything
    places = sorted(int(name.rpartition("-")[2]) for name in kept.values())
    assert places == list(range(1, len(places) + 1))


def work(number: int, client: int, token: str, issued: dict[int, str], deleted: set[int]) -> None:
    """Issue invoices and delete drafts until nothing answers; notes what was acknowledged."""
    body = {"clientId": client, "LineItems": [{"description": "x", "unitPrice": 1}]}
    while True:
        try:
            key = json.loads(ask(number, "POST", "/odata/Invoices", body, token)[2])["id"]
            if key % 3 == 0:
                if ask(number, "DELETE", f"/odata/Invoices({key})", None, token)[0] == 204:
                    deleted.add(key)
                continue
            path = f"/api/invoices/{key}/send"
            status, _, sent = ask(number, "POST", path, {"markOnly": True}, token)
            if status == 200:
                issued[key] = json.loads(sent)["number"]
        except (OSError, http.client.HTTPException):
            return


def children(pid: int) -> list[int]:
    """The processes that ``pid`` started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def signal_hard(pid: int) -> None:
    """Kill one process."""
    os.kill(pid, signal.SIGKILL)
