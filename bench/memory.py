"""Memory of a web process, kind of request by kind, then over thousands of all kinds.

    python -m bench.memory [--stage 400] [--requests 20000] [--steps 8] [--callers 8]
        [--postgresql postgresql://postgres@127.0.0.1:5432] [--redis redis://127.0.0.1:6379/5]

Eight callers ask without a pause for one kind after another (bench/memory_mix.py), then for all of
them together. Printed is the proportional set size (PSS) in MB of the web process, of what it has
started to draw with, and of gunicorn's own: pages that processes share are divided among them, so
that the numbers of all processes add up. Files are mapped ones: libraries, and what the system
keeps of the database while nobody else wants the room. The last kind loads the embedding model,
which the budget leaves out: ``less model`` is without what that stage added. It fails when the
process holds more than its budget without the model, or when the second half of the requests adds
to it. Libraries take in others that they find: with the tools of development installed a process
holds some MB more than with ``requirements.txt`` alone, as production has it. Which it is, is said.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

from app.auth.users import create_user
from app.db.engines import transaction
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from bench import load_mix, memory_mix
from bench.callers import Answer, Caller
from bench.load import PASSWORD, UNLIMITED, wait
from bench.load_mix import Deed, Person
from bench.peers.processes import children, free_port
from bench.services import Place, service

BUDGET_MB = 160
# What the second half of the requests may add.
MOST_GROWTH_MB = 3.0


def main() -> int:
    """Start, load, print; fails when the web process misses its budget or grows."""
    options = _options()
    print("installed:", "tools of development, too" if find_spec("pytest") else "requirements.txt")
    with service(
        options.postgresql, options.redis, RATE_LIMIT_USER=UNLIMITED, RATE_LIMIT_AUTH=UNLIMITED,
        RATE_LIMIT_API_KEY=UNLIMITED, WEB_CONCURRENCY="1", TRUSTED_PROXIES="0",
    ) as place:  # fmt: skip
        prepare(place, options.callers)
        port = free_port()
        arbiter = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app",
                              PORT=str(port))  # fmt: skip
        wait(port)
        watched = Watched(arbiter.pid)
        people = [meet(port, number) for number in range(options.callers)]
        problems = [
            *by_kind(watched, people, options.stage),
            *all_together(watched, people, options.requests, options.steps),
        ]
    for problem in problems:
        print(f"PROBLEM {problem}")
    return int(bool(problems))


class Watched:
    """The web process of an arbiter, and what it held when it was last looked at."""

    def __init__(self, arbiter: int) -> None:
        self.arbiter = arbiter
        (self.web,) = children(arbiter)
        self.model = 0.0
        head = ("requests", "", "web", "own", "files", "less model", "beside", "gunicorn")
        print("{:>8} {:<18}{:>8}{:>8}{:>8}{:>12}{:>8}{:>9}   (MB, PSS)".format(*head))
        self.held = self.show(0, "start")

    def show(self, requests: int, kind: str, is_model: bool = False) -> float:
        """Print a line; returns the PSS of the web process in MB, the model left out."""
        whole, own, files = pss(self.web)
        if is_model:
            self.model = max(0.0, whole - self.held)
        self.held = whole - self.model
        beside = 0.0
        for process in children(self.web):
            with suppress(ProcessLookupError):  # one that draws ends when it has nothing to do
                beside += pss(process)[0]
        print(f"{requests:>8,} {kind:<18}{whole:8.1f}{own:8.1f}{files:8.1f}{self.held:12.1f}"
              f"{beside:8.1f}{pss(self.arbiter)[0]:9.1f}", flush=True)  # fmt: skip
        return self.held

    def problems(self) -> Iterator[str]:
        """What is wrong with it."""
        if children(self.arbiter) != [self.web]:
            yield "the process was renewed on the way"
        elif self.held > BUDGET_MB:
            yield f"{self.held:.1f} MB are more than {BUDGET_MB}"


def by_kind(watched: Watched, people: list[Person], requests: int) -> Iterator[str]:
    """A stage for each kind."""
    for kind, deeds in memory_mix.STAGES:
        yield from load(people, requests, partial(memory_mix.one_of, deeds))
        watched.show(requests, kind, is_model=kind == memory_mix.STAGES[-1][0])
    yield from watched.problems()


def all_together(
    watched: Watched, people: list[Person], requests: int, steps: int
) -> Iterator[str]:
    """All kinds, in equal steps, and the growth over the second half of them."""
    step = requests // steps
    points = []
    for number in range(1, steps + 1):
        yield from load(people, step, memory_mix.choose)
        points.append((number * step, watched.show(number * step, "all kinds")))
    yield from watched.problems()
    late = points[steps // 2 - 1 :]
    slope, _ = statistics.linear_regression(*zip(*late, strict=True))
    print(f"slope over the last {late[-1][0] - late[0][0]:,}: {slope * 1_024_000:+.0f} KB"
          " a thousand requests")  # fmt: skip
    if slope * (late[-1][0] - late[0][0]) > MOST_GROWTH_MB:
        yield "it grows"


def prepare(place: Place, callers: int) -> None:
    """Demonstration data, and a user for each caller."""
    with place.app.app_context():
        load_demo_data()
        with transaction(), acting_as(system_caller("cli")):
            for number in range(callers):
                create_user(
                    username=f"user{number}", email=None, display_name=f"user{number}",
                    password=PASSWORD, roles=["Admin"],
                )  # fmt: skip


def meet(port: int, number: int) -> Person:
    """A user who is signed in, to the API and to the console."""
    load_mix.TODAY = date.today().isoformat()
    credentials: dict[str, str] = {}
    caller = Caller(("127.0.0.1", port), credentials, lambda answer: None)
    body = {"username": f"user{number}", "password": PASSWORD}
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    entered = caller.send("login", "POST", "/admin/sign-in", urlencode(body).encode(), **form)
    credentials["Cookie"] = entered.headers["set-cookie"].partition(";")[0]
    answer = caller.send("login", "POST", "/api/auth/login", body)
    credentials["Authorization"] = f"Bearer {answer.body['accessToken']}"
    return Person(caller, random.Random(number))


def load(
    people: list[Person], requests: int, choose: Callable[[random.Random], Deed]
) -> Iterator[str]:
    """Send so many requests; tells of the answers that were failures of the service."""
    failed: list[Answer] = []
    counter = itertools.count(1)
    enough = threading.Event()

    def note(answer: Answer) -> None:
        if answer.is_error:
            failed.append(answer)
        if next(counter) >= requests:
            enough.set()

    def work(one: Person) -> None:
        while not enough.is_set() and not failed:
            choose(one.chance)(one)

    for one in people:
        one.caller.note = note
    threads = [threading.Thread(target=work, args=(one,)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in failed[:3]:
        yield f"{answer.kind}: {answer.status} {answer.flaw}"


def pss(process: int) -> tuple[float, float, float]:
    """PSS of a process in MB: all of it, what is its own, mapped files."""
    found = {}
    for line in Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()[1:]:
        name, _, rest = line.partition(":")
        found[name] = int(rest.split()[0]) / 1024
    return found["Pss"], found["Pss_Anon"], found["Pss_File"] + found["Pss_Shmem"]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stage", type=int, default=400)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--postgresql")
    parser.add_argument("--redis")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
