"""The heap of the C library: threads that are done leave nothing large behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Sixteen threads hold 4 MB each in large pieces at the same time, and free them.
PROGRAM = """
import sys, threading
from pathlib import Path
from app.start import heap

if sys.argv[1] == "bound":
    heap.bound()
bytearray(20_000_000)  # glibc takes it for the size that is usual from now on

def held():
    text = Path("/proc/self/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))

def work():
    pieces = [bytearray(b"x") * 800_000 for _ in range(5)]
    together.wait()
    pieces.clear()
    together.wait()
    kept.append(bytearray(1000))
    ended.wait()

kept, together, ended = [], threading.Barrier(16), threading.Event()
before = held()
threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads:
    thread.start()
while len(kept) < 16:
    ended.wait(0.01)
print(held() - before)
ended.set()
"""


def grown_kb(how: str) -> int:
    """What the process holds more afterwards."""
    command = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the heap of glibc")
def test_threads_leave_nothing_large_behind() -> None:
    assert grown_kb("bound") < 8_000
    assert grown_kb("free") > 20_000
