"""The loops of the worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask, current_app

from app.jobs.leases import Loop, LoopThreads, is_stopping, rest_after, running_loops, wake
from app.jobs.worker import SHUTDOWN_SECONDS
from tests.waiting import until

pytestmark = pytest.mark.only_on("sqlite")


@pytest.fixture(autouse=True)
def no_loops_afterwards(app: Flask) -> Iterator[None]:
    """Other tests work with the same application, and are not asked to stop."""
    yield
    running_loops.unbind(app)


def run(app: Flask, *loops: Loop) -> LoopThreads:
    threads = LoopThreads(app, loops)
    threads.start()
    return threads


def stop(threads: LoopThreads) -> list[str]:
    threads.ask_to_stop()
    return threads.join(5)


def test_loop_runs_again_at_once_while_there_is_work(app: Flask) -> None:
    left, idle = [5, 4, 3, 2, 1], threading.Event()

    def work() -> int:
        assert current_app.name == app.name
        if left:
            return left.pop()
        idle.set()
        return 0

    threads = run(app, Loop("work", work, idle_seconds=60))
    assert idle.wait(5)
    assert stop(threads) == []


def test_a_portion_is_told_that_it_should_end(app: Flask) -> None:
    has_begun, seen = threading.Event(), []

    def work() -> int:
        seen.append(is_stopping())
        has_begun.set()
        until(lambda: is_stopping())
        seen.append(is_stopping())
        return 1

    threads = run(app, Loop("work", work))
    assert has_begun.wait(5)
    assert stop(threads) == []
    assert seen == [False, True]


def test_resting_loop_wakes_when_it_is_told(app: Flask) -> None:
    calls: list[float] = []

    def work() -> int:
        calls.append(time.monotonic())
        return 0

    threads = run(app, Loop("work", work, idle_seconds=60))
    until(lambda: len(calls) == 1)
    wake(app, "work")
    wake(app, "another")
    until(lambda: len(calls) == 2)
    assert stop(threads) == []


def test_loop_that_fails_goes_on_after_a_rest(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.leases.FIRST_REST_SECONDS", 0.01)
    calls: list[int] = []

    def work() -> int:
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("no luck")
        return 0

    other = threading.Event()
    threads = run(
        app, Loop("fails", work, idle_seconds=60), Loop("other", lambda: other.set() or 0)
    )
    until(lambda: len(calls) == 3)
    assert other.is_set()
    assert stop(threads) == []


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 5), (5000, 5)])
def test_rests_grow_and_stay_short(failures: int, seconds: float) -> None:
    assert rest_after(failures) == seconds


def test_stop_waits_for_the_portion_in_hand_and_calls_end(app: Flask) -> None:
    started, ended = threading.Event(), []

    def work() -> int:
        started.set()
        time.sleep(0.3)
        ended.append("portion")
        return 1

    threads = run(app, Loop("work", work, threads=2, end=lambda: ended.append("end")))
    assert started.wait(5)
    assert stop(threads) == []
    assert sorted(ended) == ["end", "end", "portion", "portion"]


def test_threads_that_hang_are_named(app: Flask) -> None:
    release = threading.Event()
    threads = run(app, Loop("hangs", lambda: int(release.wait(10))))
    threads.ask_to_stop()
    assert threads.join(0.1) == ["hangs-0"]
    release.set()
    assert threads.join(5) == []


# Beside its work a delivery hangs for ever, as in the name server of a receiver.
WORKER = """
import sys, threading, time
from app.clock import utc_now
from app.config import Config
from app.factory import create_app
from app.jobs.worker import run_worker
from app.jobs.leases import Loop
from app.webhooks.delivery_pool import DeliveryPool
from app.webhooks.messages import Message
from pathlib import Path

pool = DeliveryPool(lambda message: threading.Event().wait())
pool.add([Message(1, utc_now(), 1, "http://x", (), "msg_1", "{}", 0, False)])

def end():
    assert pool.stop(0.1) == [] and pool.is_busy
    print("ended", flush=True)

def work():
    print("working", flush=True)
    time.sleep(1)
    print("worked", flush=True)
    return 1

folder = Path(sys.argv[1])
app = create_app(Config(SECRET_KEY="k" * 40, DATA_DIR=folder, STORAGE_URL="file:///tmp",
    SQLALCHEMY_DATABASE_URI=sys.argv[2], LOG_FORMAT="json"))
run_worker(app, loops=(Loop("work", work, end=end),))
print("left", flush=True)
"""


@pytest.mark.requirement("OPS-10")
@pytest.mark.costly(2)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_worker_told_to_stop_finishes_what_it_works_on(
    app: Flask, database: str, tmp_path: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(tmp_path), database],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2], env={**os.environ},
    )  # fmt: skip
    assert process.stdout is not None
    lines: list[str] = []
    read: Callable[[], str] = process.stdout.readline
    while "working" not in (lines[-1] if lines else ""):
        lines.append(read())
        assert lines[-1], "the worker ended"
    process.send_signal(number)
    rest, _ = process.communicate(timeout=SHUTDOWN_SECONDS)
    assert process.returncode == 0
    if number is signal.SIGTERM:
        assert [line for line in rest.splitlines() if not line.startswith("{")][-3:] == [
            "worked", "ended", "left",
        ]  # fmt: skip
