"""Threads that the end of a process does not wait for."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from structlog.testing import capture_logs

from app.jobs.threads import DaemonThreads

HANGS = """
import time
from app.jobs.threads import DaemonThreads

def work(seconds):
    print("begun", flush=True)
    time.sleep(seconds)
    print("done", flush=True)

threads = DaemonThreads(2, "test", end_seconds={end_seconds})
threads.submit(work, {seconds})
time.sleep(0.5)
"""


@pytest.mark.parametrize(
    ("end_seconds", "seconds", "printed"),
    [(0, 60, ["begun"]), (0.5, 60, ["begun"]), (30, 1.5, ["begun", "done"])],
    ids=["none", "too short", "long enough"],
)
def test_a_process_ends_whatever_hangs(
    end_seconds: float, seconds: float, printed: list[str]
) -> None:
    program = HANGS.format(end_seconds=end_seconds, seconds=seconds)
    ended = subprocess.run(
        [sys.executable, "-c", program], timeout=40, check=True, capture_output=True, text=True
    )
    assert ended.stdout.split() == printed


def test_so_many_work_at_the_same_time_and_no_more() -> None:
    threads, release = DaemonThreads(3, "test"), threading.Event()
    names: list[str] = []

    def work() -> None:
        names.append(threading.current_thread().name)
        release.wait(10)

    for _ in range(7):
        threads.submit(work)
    assert not threads.wait(0.3)
    assert names == ["test"] * 3
    release.set()
    assert threads.wait(10)
    assert len(names) == 7
    threads.stop()


def test_one_thread_is_enough_for_one_after_another() -> None:
    threads, idents = DaemonThreads(8, "test"), set()
    for _ in range(20):
        threads.submit(lambda: idents.add(threading.get_ident()))
        assert threads.wait(10)
    threads.stop()
    assert len(idents) == 1


def test_a_thread_goes_on_after_a_failure() -> None:
    threads, done = DaemonThreads(1, "test"), threading.Event()
    with capture_logs() as lines:
        threads.submit(lambda: 1 / 0)
        threads.submit(done.set)
        assert done.wait(10) and threads.wait(10)
    assert [(line["event"], line["thread"]) for line in lines] == [("a thread failed", "test")]
    threads.stop()


def test_threads_that_are_stopped_end() -> None:
    threads, seen = DaemonThreads(2, "test"), []
    for _ in range(2):
        threads.submit(lambda: (seen.append(threading.current_thread()), time.sleep(0.1)))
    threads.stop()
    assert threads.wait(10)
    for thread in seen:
        thread.join(10)
        assert not thread.is_alive()
