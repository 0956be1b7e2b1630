"""What was measured, as a table of ratios against the budgets."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.peers.workloads import BUDGETS

Figures = Mapping[str, Any]  # the JSON of measure.py: workload -> server -> figures


@dataclass(frozen=True)
class Line:
    """One workload on one database; CPU in milliseconds a request, medians of the rounds."""

    workload: str
    ours: float
    peer: float
    plain: float | None
    limit: float
    problem: str

    @property
    def ratio(self) -> float:
        """Our cost as a part of the peer's."""
        return self.ours / self.peer

    @property
    def passes(self) -> bool:
        """Whether the budget is kept and the answers were good."""
        return not self.problem and self.ratio <= self.limit


def lines(figures: Figures, database: str) -> list[Line]:
    """The workloads that were measured, in their order."""
    return [
        _line(workload, figures[workload], BUDGETS[workload].on(database))
        for workload in BUDGETS
        if workload in figures
    ]


def render(found: list[Line], database: str, memory: Mapping[str, float]) -> str:
    """The table as text."""
    head = (
        f"{'':4}{'CPU ms a request':32}{'ours':>8}{'CAP':>8}{'ratio':>8}{'budget':>8}"
        f"{'plain':>8}{'ratio':>8}"
    )
    rows = [f"\n{database}", head]
    for line in found:
        plain = "" if line.plain is None else f"{line.plain:8.3f}{line.plain / line.peer:8.2f}"
        verdict = "pass" if line.passes else line.problem or "FAIL"
        rows.append(
            f"{line.workload:4}{BUDGETS[line.workload].about:32}{line.ours:8.3f}{line.peer:8.3f}"
            f"{line.ratio:8.2f}{line.limit:8.2f}{plain:16}  {verdict}"
        )
    kept = ", ".join(f"{name} {mebibytes:.0f}" for name, mebibytes in memory.items())
    return "\n".join([*rows, f"memory, MiB: {kept}"])


def _line(workload: str, servers: Figures, limit: float) -> Line:
    plain = servers.get("plain")
    return Line(
        workload=workload,
        ours=statistics.median(servers["ours"]["cpu_ms"]),
        peer=statistics.median(servers["cap"]["cpu_ms"]),
        plain=statistics.median(plain["cpu_ms"]) if plain else None,
        limit=limit,
        problem=_problem(servers),
    )


def _problem(servers: Figures) -> str:
    """Failed requests, or answers of different length: then there is nothing to compare."""
    failed = {name: found["errors"] for name, found in servers.items() if found["errors"]}
    if failed:
        return "ERRORS " + ", ".join(f"{name} {count}" for name, count in failed.items())
    if len({found["rows"] for found in servers.values()}) > 1:
        return "ROWS " + ", ".join(f"{name} {found['rows']}" for name, found in servers.items())
    return ""
