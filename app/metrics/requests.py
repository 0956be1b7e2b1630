"""Requests, counted and timed as their answers leave, by method, route and status.

One process keeps its numbers in memory. Several share them in files below the folder that
PROMETHEUS_MULTIPROC_DIR names, which gunicorn.conf.py sets, so that each of them tells of all.
"""

from __future__ import annotations

import os
from typing import Any

import prometheus_client
from prometheus_client import multiprocess
from prometheus_client.registry import Collector

from app.extensions import Extension
from app.http.route_names import RouteNames

# Seconds; a point read takes less than the first, a large export longer than the last.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# A method of somebody's own making must not become a series of its own.
_METHODS = frozenset(("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"))


class RequestMetrics:
    """The counters of one application."""

    def __init__(self, names: RouteNames) -> None:
        self._names = names
        self.registry = prometheus_client.CollectorRegistry()
        labels = ("method", "route", "status")
        self._count = prometheus_client.Counter(
            "http_requests", "Requests answered.", labels, registry=self.registry
        )
        self._seconds = prometheus_client.Histogram(
            "http_request_duration_seconds", "Time until the answer began to leave.",
            ("method", "route"), buckets=BUCKETS, registry=self.registry,
        )  # fmt: skip
        self._refused = prometheus_client.Counter(
            "rate_limit_refusals", "Requests over a limit, by whose it was.", ("kind",),
            registry=self.registry,
        )  # fmt: skip
        # Finding the series of three labels takes longer than counting.
        self._series: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def note(
        self, environ: dict[str, Any], status: int, seconds: float, principal: str | None
    ) -> None:
        """Count a request whose answer leaves; ``principal`` is None where nobody was known."""
        method = environ["REQUEST_METHOD"]
        name = (method if method in _METHODS else "other", self._names.of(environ), status)
        series = self._series.get(name)
        if series is None:
            series = self._series[name] = (
                self._count.labels(name[0], name[1], str(status)),
                self._seconds.labels(name[0], name[1]),
            )
        series[0].inc()
        series[1].observe(seconds)
        if status == 429:
            self._refused.labels("address" if principal is None else principal.split(":")[0]).inc()

    def text(self, *more: Collector) -> bytes:
        """All numbers and those of ``more``, in the text format of Prometheus."""
        registry = prometheus_client.CollectorRegistry()
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        else:
            registry.register(_Collected(self.registry))
        for collector in more:
            registry.register(collector)
        return prometheus_client.generate_latest(registry)


request_metrics = Extension[RequestMetrics]("request_metrics")


class _Collected:
    """A registry as a collector of another."""

    def __init__(self, registry: prometheus_client.CollectorRegistry) -> None:
        self.collect = registry.collect
