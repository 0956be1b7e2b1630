"""A working day in minutes: many people, all that the service does, on PostgreSQL with Redis.

    python -m bench.load [--minutes 10] [--users 60] [--processes 2] [--nginx]
        [--postgresql postgresql://postgres@127.0.0.1:5432] [--redis redis://127.0.0.1:6379/5]

Seventy of a hundred deeds are reads, twenty writes, ten operations (bench/load_mix.py). Everybody
signs in, keeps a connection, pauses between deeds, and tries nothing twice. Printed are errors and
latencies by kind, the memory of each process after a minute and at the end, and the longest queue.
It fails when any request failed, when memory grew by more than a tenth, or when work was left.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from pathlib import Path

from sqlalchemy import func, select

from app.auth.users import create_user
from app.db.engines import transaction
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from app.models.event import Event, OutgoingMail
from app.models.webhook import WebhookDelivery
from app.webhooks.endpoints import register_endpoint
from bench import load_mix
from bench.callers import Answer, Caller
from bench.nginx import nginx
from bench.peers.processes import free_port, process_tree
from bench.receiver import ReceiverProcess
from bench.services import Place, service

PASSWORD = "three-blue-kettles-and-a-cup"
UNLIMITED = "100000000/minute"
PAUSE_SECONDS = 0.4
ARRIVAL_SECONDS = 0.5
WARM_SECONDS = 60
SAMPLE_SECONDS = 5
DRAIN_SECONDS = 120
MOST_GROWTH = 1.10
# Tokens live for fifteen minutes.
SIGN_IN_EVERY_SECONDS = 600


def main() -> int:
    """Load, print, and fail when something failed."""
    options = _options()
    receiver = ReceiverProcess()
    with service(
        options.postgresql, options.redis, WEBHOOK_ALLOW_PRIVATE="1", RATE_LIMIT_USER=UNLIMITED,
        RATE_LIMIT_AUTH=UNLIMITED, WEB_CONCURRENCY=str(options.processes), TRUSTED_PROXIES="0",
    ) as place:  # fmt: skip
        names = prepare(place, receiver.url, options.users)
        port = free_port()
        place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(port))
        place.start_worker()
        front = free_port() if options.nginx else port
        before = (
            nginx(place.folder, f"127.0.0.1:{front}", [f"127.0.0.1:{port}"])
            if options.nginx
            else nullcontext()
        )
        with before:
            wait(port)
            problems = run(place, front, names, options.minutes * 60)
        place.stop_all()
    receiver.stop()
    for problem in problems:
        print(f"PROBLEM {problem}")
    return int(bool(problems))


def prepare(place: Place, url: str, users: int) -> list[str]:
    """Demonstration data, a webhook for everything, and users; returns their names."""
    names = [f"user{number}" for number in range(users)]
    with place.app.app_context():
        load_demo_data()
        with transaction(), acting_as(system_caller("cli")):
            register_endpoint(url=f"{url}/hook/all", patterns=["*"])
            for name in names:
                create_user(
                    username=name, email=None, display_name=name, password=PASSWORD,
                    roles=["Admin"],
                )  # fmt: skip
    return names


def run(place: Place, port: int, names: list[str], seconds: float) -> list[str]:
    """Let everybody work; returns what went wrong."""
    load_mix.TODAY = date.today().isoformat()
    answers: list[Answer] = []
    stop = threading.Event()
    people = [
        threading.Thread(
            target=work, args=(port, name, number * ARRIVAL_SECONDS, answers, stop), daemon=True
        )
        for number, name in enumerate(names)
    ]
    with watching(place) as watch:
        for person in people:
            person.start()
        time.sleep(seconds)
        stop.set()
        for person in people:
            person.join(60)
    waited = drain(place)
    report(answers, seconds)
    return [*judge_answers(answers), *watch.judge(), *waited]


def work(
    port: int, name: str, arrives_after: float, answers: list[Answer], stop: threading.Event
) -> None:
    """A person's day."""
    chance = random.Random(name)
    credentials: dict[str, str] = {}
    one = load_mix.Person(Caller(("127.0.0.1", port), credentials, answers.append), chance)
    signed_in = float("-inf")
    # People come in one after another: a password is to cost a lot of work.
    stop.wait(arrives_after)
    while not stop.is_set():
        if time.monotonic() - signed_in > SIGN_IN_EVERY_SECONDS:
            body = {"username": name, "password": PASSWORD}
            answer = one.caller.send("login", "POST", "/api/auth/login", body)
            if answer.status != 200:
                stop.wait(1)
                continue
            signed_in = time.monotonic()
            credentials["Authorization"] = f"Bearer {answer.body['accessToken']}"
        load_mix.choose(chance)(one)
        stop.wait(chance.expovariate(1 / PAUSE_SECONDS))
    one.caller.close()


class Watch:
    """Memory of each process and length of the queues, looked at all the time."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.memory: dict[int, list[tuple[float, float]]] = defaultdict(list)
        self.longest: dict[str, int] = defaultdict(int)

    def look(self) -> None:
        """One look."""
        now = time.monotonic()
        processes = self._place.processes
        for pid in [one for process in processes for one in process_tree(process.pid)]:
            self.memory[pid].append((now, memory_mb(pid)))
        for name, count in queues(self._place).items():
            self.longest[name] = max(self.longest[name], count)

    def judge(self) -> list[str]:
        """Print, and say which process grew."""
        problems = []
        for pid, seen in self.memory.items():
            began, ended = seen[0][0], seen[-1][0]
            warm = min(began + WARM_SECONDS, began + (ended - began) / 2)
            first = next(mb for at, mb in seen if at >= warm)
            last = seen[-1][1]
            print(f"memory of {command(pid)} {pid}: {first:.0f} MB warm, {last:.0f} MB at the end")
            if last > first * MOST_GROWTH + 2:
                problems.append(f"process {pid} grew from {first:.0f} to {last:.0f} MB")
        print("longest queues: " + ", ".join(f"{k} {v}" for k, v in sorted(self.longest.items())))
        return problems


@contextmanager
def watching(place: Place) -> Iterator[Watch]:
    """A watch that looks every few seconds for the length of the block."""
    watch, stop = Watch(place), threading.Event()

    def run() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            watch.look()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        stop.set()
        thread.join()
        watch.look()


def queues(place: Place) -> dict[str, int]:
    """What waits for the worker."""
    waiting = {
        "events": select(func.count()).select_from(Event).where(Event.dispatched_at.is_(None)),
        "deliveries": select(func.count())
        .select_from(WebhookDelivery)
        .where(WebhookDelivery.status == "pending"),
        "mail": select(func.count())
        .select_from(OutgoingMail)
        .where(OutgoingMail.status.in_(("queued", "sending"))),
    }
    with place.app.app_context(), transaction() as session:
        return {name: session.execute(query).scalar() or 0 for name, query in waiting.items()}


def drain(place: Place) -> list[str]:
    """Until the worker has done everything; what it has not, otherwise."""
    began = time.monotonic()
    while time.monotonic() - began < DRAIN_SECONDS:
        left = {name: count for name, count in queues(place).items() if count}
        if not left:
            print(f"all queues empty {time.monotonic() - began:.1f} s after the last request")
            return []
        time.sleep(0.5)
    return [f"left in the queues: {left}"]


def report(answers: list[Answer], seconds: float) -> None:
    """Latencies by kind, in milliseconds."""
    kinds: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        kinds[answer.kind].append(answer.seconds * 1000)
        kinds["all"].append(answer.seconds * 1000)
    print(f"{len(answers)} requests in {seconds:.0f} s: {len(answers) / seconds:.0f} a second")
    print(f"{'':18}{'count':>8}{'p50':>8}{'p95':>8}{'p99':>8}{'max':>8} ms")
    for kind, found in sorted(kinds.items()):
        found.sort()
        points = [
            found[min(int(len(found) * share), len(found) - 1)] for share in (0.5, 0.95, 0.99)
        ]
        figures = "".join(f"{point:8.0f}" for point in (*points, found[-1]))
        print(f"{kind:18}{len(found):8}{figures}")


def judge_answers(answers: list[Answer]) -> list[str]:
    """What was not answered with success."""
    bad = [one for one in answers if not 200 <= one.status < 400]
    print(f"errors: {len(bad)} of {len(answers)}")
    shown = {(one.kind, one.status): str(one.flaw or one.body)[:300] for one in bad}
    return [f"{kind} {status}: {text}" for (kind, status), text in list(shown.items())[:10]]


def memory_mb(pid: int) -> float:
    """Resident memory; 0 when the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * 4096 / 1e6
    except OSError:
        return 0.0


def command(pid: int) -> str:
    """What a process runs, in a word."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "ended"
    return next((name for name in ("gunicorn", "worker") if name.encode() in words), "child")


def wait(port: int) -> None:
    """Until the service answers."""
    caller = Caller(("127.0.0.1", port), {}, lambda answer: None)
    deadline = time.monotonic() + 60
    while caller.send("ready", "GET", "/readyz").status != 200:
        if time.monotonic() > deadline:
            sys.exit("the service did not start")
        time.sleep(0.1)
    caller.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--users", type=int, default=60)
    parser.add_argument("--processes", type=int, default=2, help="web processes")
    parser.add_argument("--nginx", action="store_true", help="behind docs/nginx.conf")
    parser.add_argument("--postgresql", default="postgresql://postgres@127.0.0.1:5432")
    parser.add_argument("--redis", default="redis://127.0.0.1:6379/5")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
