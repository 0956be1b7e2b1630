"""What a measurement starts does not outlive it, whoever ends it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import is_alive
from tests.waiting import until

STARTER = """
import sys, tempfile, time
from pathlib import Path
from bench.peers.processes import ended_in_order
from bench.services import Place
with ended_in_order(), tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
    place = Place(Path(folder), "", None, None, {})
    print(place.start("http.server", "--bind", "127.0.0.1", "0").pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not shutil.which("setpriv"), reason="only Linux tells a process of such an end")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_started_ends_with_who_started_it(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        started = int(starter.stdout.readline())
        assert is_alive(started)
        starter.send_signal(number)
    until(lambda: not is_alive(started))
    assert number == signal.SIGKILL or not list(tmp_path.iterdir())
