"""The supervisor of web and worker."""

from __future__ import annotations

import io
import os
import runpy
import signal
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from honcho import manager

from app.ai.turns import END_SECONDS
from app.jobs.worker import SHUTDOWN_SECONDS
from app.start.processes import KILL_SECONDS, ROOT, Printer, supervisor


class _Interrupted(io.StringIO):
    """Output in whose midst a signal comes, once, and which then writes for nobody else."""

    def __init__(self) -> None:
        super().__init__()
        self.is_writing = False
        self.signals = 1

    def write(self, text: str) -> int:
        if self.is_writing:
            raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stdout>'>")
        self.is_writing = True
        try:
            if "a line" in text and self.signals:
                self.signals -= 1
                os.kill(os.getpid(), signal.SIGTERM)
            return super().write(text)
        finally:
            self.is_writing = False


def test_a_signal_in_the_middle_of_a_line_ends_all() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    output = _Interrupted()
    processes = supervisor(Printer(output=output))
    processes.add_process("talker", "while true; do echo a line; sleep 0.1; done")
    try:
        processes.loop()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert output.signals == 0
    assert processes.returncode == 143
    assert "talker stopped" in output.getvalue()


STUBBORN = "trap '' TERM; while true; do echo still here; sleep 0.05; done"
POLITE = "trap 'exit 0' TERM; while true; do echo at work; sleep 0.05; done"
LINES = 5


class _Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.at = datetime(2026, 6, 17)

    def now(self) -> datetime:
        return self.at


class _Watched(io.StringIO):
    """Output that ends all once both have said something, and sets the clock by what it hears."""

    def __init__(self, clock: _Clock, steps: list[float]) -> None:
        super().__init__()
        self._clock, self._steps, self._heard = clock, steps, 0

    def write(self, text: str) -> int:
        written = super().write(text)
        whole = self.getvalue()
        if "SIGTERM" not in whole and "still here" in whole and "at work" in whole:
            os.kill(os.getpid(), signal.SIGTERM)
        if "polite stopped" in whole and "still here" in text:
            self._heard += 1
            if self._heard % LINES == 0 and self._steps:
                self._clock.at += timedelta(seconds=self._steps.pop(0))
        return written


def test_who_does_not_end_is_killed_when_its_time_is_over_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    clock = _Clock()
    output = _Watched(clock, [KILL_SECONDS, 1])
    times = SimpleNamespace(datetime=clock, timedelta=timedelta)
    monkeypatch.setattr(manager, "datetime", times)
    processes = supervisor(Printer(output=output))
    processes.add_process("stubborn", STUBBORN)
    processes.add_process("polite", POLITE)
    try:
        processes.loop()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    told = output.getvalue()
    assert "polite stopped (rc=0)" in told and "stubborn stopped (rc=-9)" in told
    behind = told.partition("polite stopped")[2].partition("sending SIGKILL to stubborn")[0]
    # The clock was set twice: to the last moment that is allowed, and behind it.
    assert behind.count("still here") >= 2 * LINES


def test_web_and_worker_have_the_time_that_they_give_themselves() -> None:
    web = runpy.run_path(str(ROOT / "gunicorn.conf.py"))["graceful_timeout"]
    assert web > END_SECONDS
    assert max(web, SHUTDOWN_SECONDS) < KILL_SECONDS
    supervisor(Printer(io.StringIO()))
    assert manager.KILL_WAIT == KILL_SECONDS
