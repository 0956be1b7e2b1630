"""Memory of a web process, from its start to its last request, on a company's year of data.

    python -m bench.memory [--requests 1000,5000,20000] [--callers 8]
        [--postgresql postgresql://postgres@127.0.0.1:5432] [--redis redis://127.0.0.1:6379/5]

Eight callers do without a pause what people do all day (bench/load_mix.py). Printed is the
proportional set size (PSS) of the web process and of gunicorn's own in MB: pages that processes
share are divided among them, so that the numbers of all processes add up. Files are mapped ones:
libraries, and what the system keeps of the database while nobody else wants the room.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import threading
from datetime import date
from pathlib import Path

from app.auth.users import create_user
from app.database import transaction
from app.demo.load import load_demo_data
from app.security import acting_as, system_caller
from bench import load_mix
from bench.callers import Answer, Caller
from bench.load import PASSWORD, UNLIMITED, wait
from bench.peers.processes import free_port
from bench.services import Place, service

BUDGET_MB = 100


def main() -> int:
    """Start, load, print; fails when the web process holds more than its budget in the end."""
    options = _options()
    steps = [int(text) for text in options.requests.split(",")]
    with service(
        options.postgresql, options.redis, RATE_LIMIT_USER=UNLIMITED, RATE_LIMIT_AUTH=UNLIMITED,
        WEB_CONCURRENCY="1", TRUSTED_PROXIES="0",
    ) as place:  # fmt: skip
        prepare(place, options.callers)
        port = free_port()
        arbiter = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app",
                              PORT=str(port))  # fmt: skip
        wait(port)
        (web,) = children(arbiter.pid)
        print(f"{'requests':>9} {'web':>7} {'own':>7} {'files':>7} {'gunicorn':>9}   (MB, PSS)")
        whole = show(0, web, arbiter.pid)
        done = 0
        for step in steps:
            failed = load(port, options.callers, step - done)
            done = step
            whole = show(done, web, arbiter.pid)
            if failed:
                print(f"PROBLEM {failed[0].kind}: {failed[0].status} {failed[0].flaw}")
                return 1
        if children(arbiter.pid) != [web]:
            print("PROBLEM the process was renewed on the way")
            return 1
    return int(whole > BUDGET_MB)


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


def load(port: int, callers: int, requests: int) -> list[Answer]:
    """Send so many requests; returns the answers that were failures of the service."""
    load_mix.TODAY = date.today().isoformat()
    failed: list[Answer] = []
    counter = itertools.count(1)
    enough = threading.Event()

    def note(answer: Answer) -> None:
        if answer.is_error:
            failed.append(answer)
        if next(counter) >= requests:
            enough.set()

    def work(number: int) -> None:
        credentials: dict[str, str] = {}
        chance = random.Random(f"{number} {requests}")
        one = load_mix.Person(Caller(("127.0.0.1", port), credentials, note), chance)
        body = {"username": f"user{number}", "password": PASSWORD}
        answer = one.caller.send("login", "POST", "/api/auth/login", body)
        credentials["Authorization"] = f"Bearer {answer.body['accessToken']}"
        while not enough.is_set():
            load_mix.choose(chance)(one)
        one.caller.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def show(requests: int, web: int, arbiter: int) -> float:
    """Print a line; returns the PSS of the web process in MB."""
    whole, own, files = pss(web)
    print(f"{requests:>9,} {whole:7.1f} {own:7.1f} {files:7.1f} {pss(arbiter)[0]:9.1f}", flush=True)
    return whole


def pss(process: int) -> tuple[float, float, float]:
    """PSS of a process in MB: all of it, what is its own, mapped files."""
    found = {}
    for line in Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()[1:]:
        name, _, rest = line.partition(":")
        found[name] = int(rest.split()[0]) / 1024
    return found["Pss"], found["Pss_Anon"], found["Pss_File"] + found["Pss_Shmem"]


def children(process: int) -> list[int]:
    """The processes that a process started and that still run."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    return [int(word) for word in text.split()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", default="1000,5000,20000")
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--postgresql")
    parser.add_argument("--redis")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
