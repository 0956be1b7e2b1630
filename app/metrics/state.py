"""What is so at this moment: the database, queues and their age, deliveries, plans, signs of life.

The numbers of the database are asked for when somebody reads them, a few statements a time; while
it is away, ``database_up`` is 0 and they are missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from time import perf_counter

from flask import Flask
from prometheus_client import metrics_core
from sqlalchemy import Connection, case, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from app.ai.provider.answering import ai_provider
from app.clock import utc_now
from app.db.engines import read_engine
from app.http.limits import rate_limits
from app.jobs.leases import waiting
from app.jobs.schedule import last_beat
from app.models.event import OutgoingMail
from app.models.webhook import WebhookAttempt, WebhookEndpoint
from app.odata.service import odata_service

Metrics = Iterator["metrics_core.Metric"]
_QUEUES = ("events", "webhooks", "mail", "search")
# Of attempts the last minutes are told, and of those a thousand: reading them costs little then.
RECENT = timedelta(minutes=5)
_RECENT_ROWS = 1000


class StateCollector:
    """A collector in the sense of prometheus_client; lives for one answer."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def collect(self) -> Metrics:
        """Every number of the state."""
        yield from self._plans()
        yield from provider_metrics(self._app)
        is_away = not rate_limits.current.limiter.storage.check()
        yield _gauge("redis_away", "1 while Redis does not answer.", is_away)
        try:
            began = perf_counter()
            with read_engine().connect() as connection:
                connection.execute(text("SELECT 1"))
                seconds = perf_counter() - began
                gauges = [*_connections(connection), *_queues(connection), *_deliveries(connection)]
            age = _age(last_beat())
        except SQLAlchemyError:
            yield _gauge("database_up", "Whether the database answers.", 0)
            return
        yield _gauge("database_up", "Whether the database answers.", 1)
        yield _gauge("database_ping_seconds", "A connection and the smallest query.", seconds)
        yield _gauge("worker_heartbeat_age_seconds", "Since the worker's last sign.", age)
        yield from gauges

    def _plans(self) -> Metrics:
        """Of the process that answers: each remembers its own."""
        plans = odata_service.of(self._app).reader.plans
        yield _gauge("odata_plans", "Plans of queries that are remembered.", len(plans))
        for name, meaning, value in (
            ("odata_plan_hits", "Queries that found their plan.", plans.hits),
            ("odata_plan_misses", "Queries that had none.", plans.misses),
        ):
            yield metrics_core.CounterMetricFamily(name, meaning, value=value)


def _connections(connection: Connection) -> Metrics:
    """On PostgreSQL those of all processes; an embedded database has none worth telling."""
    if connection.dialect.name != "postgresql":
        return
    metric = metrics_core.GaugeMetricFamily(
        "database_connections", "Connections to the database, by state.", labels=["state"]
    )
    counted = text(
        "SELECT coalesce(state, 'none'), count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() GROUP BY 1 ORDER BY 1"
    )
    for state, count in connection.execute(counted):
        metric.add_metric([state], count)
    yield metric
    most = connection.scalar(text("SELECT current_setting('max_connections')::int"))
    yield _gauge("database_connections_max", "Connections that the server takes.", most or 0)


def _queues(connection: Connection) -> Metrics:
    depth = metrics_core.GaugeMetricFamily("queue_depth", "Work that waits.", labels=["queue"])
    oldest = metrics_core.GaugeMetricFamily(
        "queue_oldest_seconds", "Age of the oldest work.", labels=["queue"]
    )
    for name in _QUEUES:
        count, since = waiting(connection, name)
        depth.add_metric([name], count)
        oldest.add_metric([name], 0.0 if since is None else _age(since))
    yield depth
    yield oldest


def _deliveries(connection: Connection) -> Metrics:
    attempts = metrics_core.GaugeMetricFamily(
        "webhook_attempts_recent",
        "Attempts of the last five minutes, at most a thousand.",
        labels=["outcome"],
    )
    last = (
        select(WebhookAttempt.__table__)
        .order_by(WebhookAttempt.id.desc())
        .limit(_RECENT_ROWS)
        .subquery()
    )
    taken = case((last.c.status_code.between(200, 299), 1), else_=0)
    number, successes, longest = connection.execute(
        select(func.count(), func.sum(taken), func.max(last.c.duration_ms)).where(
            last.c.created_at > utc_now() - RECENT
        )
    ).one()
    attempts.add_metric(["succeeded"], successes or 0)
    attempts.add_metric(["failed"], number - (successes or 0))
    yield attempts
    yield _gauge(
        "webhook_attempt_recent_seconds_max", "The longest of them.", (longest or 0) / 1000
    )
    endpoints = metrics_core.GaugeMetricFamily(
        "webhook_endpoints", "Endpoints, by status.", labels=["status"]
    )
    by_status = select(WebhookEndpoint.status, func.count()).group_by(WebhookEndpoint.status)
    for status, count in connection.execute(by_status):
        endpoints.add_metric([status], count)
    yield endpoints
    failed = select(func.count()).where(OutgoingMail.status == "failed")
    yield _gauge(
        "mail_failed", "Mails given up, kept until removed.", connection.scalar(failed) or 0
    )


def _gauge(name: str, meaning: str, value: float) -> metrics_core.Metric:
    return metrics_core.GaugeMetricFamily(name, meaning, value=float(value))


def _age(instant: datetime | str | None) -> float:
    """Seconds since ``instant``; of what never was, infinity."""
    if instant is None:
        return float("inf")
    known = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    return max((utc_now() - known).total_seconds(), 0.0)


def provider_metrics(app: Flask) -> Iterator[metrics_core.Metric]:
    """Answers, tokens, and whether it is left alone; nothing where no provider is set."""
    provider = ai_provider.of(app)
    if provider is None:
        return
    health = provider.health
    yield metrics_core.GaugeMetricFamily(
        "ai_provider_failing", "1 while the provider is left alone.", value=not health.is_well()
    )
    answers = metrics_core.CounterMetricFamily(
        "ai_answers", "Answers by the model, or by the built-in assistant instead.",
        labels=["outcome"],
    )  # fmt: skip
    for outcome in ("answered", "fallback"):
        answers.add_metric([outcome], health.outcomes[outcome])
    yield answers
    tokens = metrics_core.CounterMetricFamily(
        "ai_tokens", "Tokens that the model has read and written.", labels=["kind"]
    )
    for kind in ("input", "output"):
        tokens.add_metric([kind], health.tokens[kind])
    yield tokens
