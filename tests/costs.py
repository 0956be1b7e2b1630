"""What tests cost, by folder: ``make test ARGS="--form short --costs 3 -n auto"``.

CPU seconds of the process of the tests and of the processes that they started and saw end, which
do not change much with what else the machine does; what PostgreSQL and Redis do is not in it. And
the seconds in which nothing ran: waits for a process, for a pause, for an answer.
"""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SCHEDULING = Path("/proc/thread-self/schedstat")
NANOSECONDS = 1e-9


@dataclass(frozen=True)
class Cost:
    """Seconds: on a CPU, in ended processes, and since the beginning less the wait for a CPU."""

    own: float = 0.0
    children: float = 0.0
    idle: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.own + other.own, self.children + other.children, self.idle + other.idle)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.own - other.own, self.children - other.children, self.idle - other.idle)

    @property
    def cpu(self) -> float:
        return self.own + self.children


def cost_until_now() -> Cost:
    """Of this process since it began."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    on_cpu, queued = (int(text) * NANOSECONDS for text in SCHEDULING.read_text().split()[:2])
    idle = time.monotonic() - on_cpu - queued
    return Cost(time.process_time(), ended.ru_utime + ended.ru_stime, idle)


class Costs:
    """Measures each phase of each test, and prints the sums at the end.

    A worker of xdist measures; the process that reports gets the figures with the reports.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._before = cost_until_now()
        self._sums: dict[str, Cost] = defaultdict(Cost)
        self._tests: dict[str, set[str]] = defaultdict(set)

    def pytest_collection_finish(self) -> None:
        self._before = cost_until_now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        now = cost_until_now()
        spent = now - self._before
        report.cost = (spent.own, spent.children, spent.idle)
        self._before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path, _, _ = report.nodeid.partition("::")
        place = "/".join(path.split("/")[: self._depth])
        self._sums[place] += Cost(*report.cost)
        self._tests[place].add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("costs")
        terminalreporter.write_line(f"{'tests':>7} {'CPU s':>9} {'of others':>9} {'idle s':>9}")
        whole = sum(self._sums.values(), Cost())
        rows = sorted(self._sums.items(), key=lambda entry: -entry[1].cpu - entry[1].idle)
        for place, cost in [*rows, ("all", whole)]:
            tests = (
                len(self._tests[place])
                if place in self._tests
                else sum(len(names) for names in self._tests.values())
            )
            terminalreporter.write_line(
                f"{tests:>7,} {cost.cpu:>9.1f} {cost.children:>9.1f} {cost.idle:>9.1f}  {place}"
            )
