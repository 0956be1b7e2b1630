"""What one host and two hosts serve, and that what must hold across hosts does.

    python -m bench.scaling [--seconds 20] [--share 40]        (Linux, root; make load beside it)

Hosts are network namespaces on one bridge: two with web processes, two with a worker, one with
PostgreSQL, Redis and S3. A web host may use ``share`` per cent of one core, so that two of them and
their neighbours fit on the machine that measures. Callers go to one of them, then to both. Printed
are requests a second, and the share of a core that web and PostgreSQL used for them.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path

import boto3
import psycopg
import pytest

from app.auth.api_keys import create_api_key
from app.auth.users import create_user
from app.config import database_url
from app.db.engines import transaction
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from app.webhooks.endpoints import register_endpoint
from bench import load_mix
from bench.callers import Answer, Caller
from bench.hosts import OWN, Host, network
from bench.kills import drain
from bench.load import UNLIMITED
from bench.peers.processes import ended_in_order, process_tree
from bench.receiver import ReceiverProcess
from bench.services import Place, service
from tests.faults.servers import ObjectStore, PostgreSQL, Redis, running
from tests.object_store import CREDENTIALS

WEB_PORT = 8000
USERS = 24
PASSWORD = "three-blue-kettles-and-a-cup"
EVENTS = 200
CPU_CONTROL = Path("/sys/fs/cgroup/cpu")
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure, check, print; 1 when something does not hold."""
    options = _options()
    with ended_in_order(), ExitStack() as stack:
        web1, web2, work1, work2, store = stack.enter_context(
            network("web1", "web2", "work1", "work2", "store")
        )
        servers = stack.enter_context(stores(store))
        receiver = ReceiverProcess(OWN)
        stack.callback(receiver.stop)
        with placed(servers, receiver) as place:
            key = prepare(place, receiver)
            groups = [start_web(place, host, options.share) for host in (web1, web2)]
            for host in (work1, work2):
                place.start_worker(prefix=host.prefix)
            for host in (web1, web2):
                wait(host)
            measure(place, [web1, web2], groups, key, servers, options.seconds)
            problems = check(place, [web1, web2], key, receiver)
            place.stop_all()
        for group in groups:
            group.remove()
    for problem in problems:
        print(f"PROBLEM {problem}")
    return int(bool(problems))


@contextmanager
def stores(host: Host) -> Iterator[tuple[PostgreSQL, Redis, ObjectStore]]:
    """PostgreSQL, Redis and S3 on ``host``."""
    with tempfile.TemporaryDirectory(prefix="scaling-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        made = []
        for kind, port in ((PostgreSQL, 5432), (Redis, 6379), (ObjectStore, 9000)):
            own = folder / kind.__name__.lower()
            own.mkdir()
            made.append(kind(own, port, host.address, prefix=host.prefix))
        postgresql, redis, s3 = made
        with running(*made):
            assert isinstance(postgresql, PostgreSQL)
            assert isinstance(redis, Redis)
            assert isinstance(s3, ObjectStore)
            yield postgresql, redis, s3


@contextmanager
def placed(
    servers: tuple[PostgreSQL, Redis, ObjectStore], receiver: ReceiverProcess
) -> Iterator[Place]:
    """The service on these servers, migrated."""
    postgresql, redis, s3 = servers
    with psycopg.connect(postgresql.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE scaling")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": s3.url}.items():
            patch.setenv(name, value)
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="scaling")
        with service(
            None, redis.url, database=database_url(f"{postgresql.url}/scaling"),
            STORAGE_URL="s3://scaling/files", WEBHOOK_ALLOW_PRIVATE="1",
            RATE_LIMIT_API_KEY=UNLIMITED, RATE_LIMIT_AUTH=UNLIMITED, WEB_CONCURRENCY="2",
        ) as place:  # fmt: skip
            yield place


def prepare(place: Place, receiver: ReceiverProcess) -> str:
    """Demonstration data, an endpoint, a user; returns an API key."""
    with place.app.app_context():
        load_demo_data()
        with transaction(), acting_as(system_caller("cli")):
            register_endpoint(url=f"{receiver.url}/hook/all", patterns=["client.*"])
            create_user(
                username="anna", email=None, display_name="Anna", password=PASSWORD,
                roles=["Admin"],
            )  # fmt: skip
            return create_api_key(name="scaling", role="Admin").key


class CpuGroup:
    """A limit of CPU for the processes of one host, and how much they used."""

    def __init__(self, name: str, share: int) -> None:
        self._folder = CPU_CONTROL / f"bp-{name}"
        self._folder.mkdir(exist_ok=True)
        (self._folder / "cpu.cfs_period_us").write_text("50000")
        (self._folder / "cpu.cfs_quota_us").write_text(str(500 * share))

    def add(self, pid: int) -> None:
        """Put a process in, and all that it will start."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Give the limit up; its processes have ended."""
        self._folder.rmdir()


def start_web(place: Place, host: Host, share: int) -> CpuGroup:
    """gunicorn on a host, with its share of a core."""
    group = CpuGroup(host.name, share)
    process = place.start(
        "gunicorn", "--config", "gunicorn.conf.py", "--bind", f"0.0.0.0:{WEB_PORT}", "wsgi:app",
        prefix=host.prefix,
    )  # fmt: skip
    group.add(process.pid)
    return group


def measure(
    place: Place, hosts: Sequence[Host], groups: Sequence[CpuGroup], key: str,
    servers: tuple[PostgreSQL, Redis, ObjectStore], seconds: float,
) -> None:  # fmt: skip
    """Throughput with one host and with two."""
    print(f"{'hosts':>6}{'requests/s':>12}{'p50':>8}{'p99':>8} ms{'errors':>8}"
          f"{'PostgreSQL, core':>18}")  # fmt: skip
    for used in (hosts[:1], hosts):
        before = cpu_seconds(servers[0].pid)
        answers = load(used, key, seconds)
        spent = cpu_seconds(servers[0].pid) - before
        times = sorted(one.seconds * 1000 for one in answers)
        bad = [one for one in answers if not 200 <= one.status < 400]
        print(
            f"{len(used):6}{len(answers) / seconds:12.0f}{times[len(times) // 2]:8.0f}"
            f"{times[int(len(times) * 0.99)]:8.0f}   {len(bad):8}{spent / seconds:18.2f}",
            flush=True,
        )
        for text in {f"{one.kind} {one.status}: {one.flaw or one.body}"[:300] for one in bad}:
            print(f"    {text}")


def load(hosts: Sequence[Host], key: str, seconds: float) -> list[Answer]:
    """The mix of bench/load_mix.py against hosts, without pauses."""
    load_mix.TODAY = date.today().isoformat()
    answers: list[Answer] = []
    stop = threading.Event()

    def work(number: int) -> None:
        host = hosts[number % len(hosts)]
        caller = Caller((host.address, WEB_PORT), {"X-API-Key": key}, answers.append)
        one = load_mix.Person(caller, random.Random(number))
        while not stop.is_set():
            load_mix.choose(one.chance)(one)
        caller.close()

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(USERS)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    found = list(answers)
    for thread in threads:
        thread.join(60)
    return found


def check(place: Place, hosts: Sequence[Host], key: str, receiver: ReceiverProcess) -> list[str]:
    """What must hold however many hosts there are; returns what does not."""
    results = {
        "100 of 160 requests of one user pass, whichever host they meet": limit(hosts),
        "a key sent to both hosts at once has one effect and one answer": idempotency(hosts, key),
        "whoever signs out at one host is out at the other at once": revocation(hosts),
        "two workers deliver each event once": leases(place, hosts, key, receiver),
    }
    for requirement, problem in results.items():
        print(f"{'holds' if problem is None else 'FAILS':6} {requirement}")
    return [f"{requirement}: {problem}" for requirement, problem in results.items() if problem]


def callers(hosts: Sequence[Host], credentials: dict[str, str]) -> list[Caller]:
    """One for each host."""
    return [Caller((host.address, WEB_PORT), credentials, lambda answer: None) for host in hosts]


def sign_in(caller: Caller) -> dict[str, str]:
    """The header of a new session."""
    body = {"username": "anna", "password": PASSWORD}
    answer = caller.send("login", "POST", "/api/auth/login", body)
    return {"Authorization": f"Bearer {answer.body['accessToken']}"}


def limit(hosts: Sequence[Host]) -> str | None:
    """None, or what is wrong."""
    first, second = callers(hosts, {})
    header = sign_in(first)
    statuses = Counter(
        (first, second)[turn % 2].send("read", "GET", "/odata/Leads?$top=1", **header).status
        for turn in range(160)
    )
    return None if statuses == {200: 100, 429: 60} else str(dict(statuses))


def idempotency(hosts: Sequence[Host], key: str) -> str | None:
    """None, or what is wrong."""
    for _ in range(20):
        token, name = secrets.token_hex(8), secrets.token_hex(8)
        lead = callers(hosts, {"X-API-Key": key})
        made = lead[0].send("lead", "POST", "/odata/Leads", {"lastName": name})
        path = f"/api/crm/leads/{made.body['id']}/convert"
        with ThreadPoolExecutor(len(hosts)) as pool:
            answers = list(
                pool.map(
                    lambda one, path=path, token=token: one.send(
                        "convert", "POST", path, {}, Idempotency_Key=token
                    ),
                    lead,
                )
            )
        good = [one.body for one in answers if one.status in (200, 201)]
        others = [one.status for one in answers if one.status not in (200, 201, 409)]
        if not good or others or any(body != good[0] for body in good):
            return str([(one.status, one.body) for one in answers])[:300]
    return None


def revocation(hosts: Sequence[Host]) -> str | None:
    """None, or what is wrong."""
    first, second = callers(hosts, {})
    time.sleep(61)  # the user's limit was used up
    for _ in range(5):
        header = sign_in(first)
        before = second.send("me", "GET", "/api/auth/me", **header).status
        first.send("logout", "POST", "/api/auth/logout", {}, **header)
        after = second.send("me", "GET", "/api/auth/me", **header).status
        if (before, after) != (200, 401):
            return f"{before}, then {after}"
    return None


def leases(place: Place, hosts: Sequence[Host], key: str, receiver: ReceiverProcess) -> str | None:
    """None, or what is wrong."""
    drain(place)
    before = receiver.ask("stats").get("all", {"arrived": 0, "different": 0})
    with ThreadPoolExecutor(8) as pool:
        makers = callers([hosts[n % 2] for n in range(8)], {"X-API-Key": key})
        list(pool.map(lambda one: [one.send("create", "POST", "/odata/Clients", {"name": "x"})
                                   for _ in range(EVENTS // 8)], makers))  # fmt: skip
    drain(place)
    after = receiver.ask("stats")["all"]
    arrived, different = (after[name] - before[name] for name in ("arrived", "different"))
    if (arrived, different) == (EVENTS, EVENTS):
        return None
    return f"{arrived} arrived, {different} of them different, of {EVENTS}"


def cpu_seconds(pid: int) -> float:
    """CPU that a process and all that it has started used so far, the ended among them."""
    total = 0
    for one in process_tree(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(ticks) for ticks in (fields[11:15] if one == pid else fields[11:13]))
    return total / TICKS


def wait(host: Host) -> None:
    """Until the service answers there."""
    (caller,) = callers([host], {})
    deadline = time.monotonic() + 90
    while caller.send("ready", "GET", "/readyz").status != 200:
        if time.monotonic() > deadline:
            sys.exit(f"nothing answers at {host.address}")
        time.sleep(0.2)
    caller.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--share", type=int, default=40, help="of a core, in per cent, a web host")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
