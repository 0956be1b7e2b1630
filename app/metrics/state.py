"""What stands in the database at this moment: queues and how old their oldest work is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from flask import Flask
from sqlalchemy import ColumnElement, Connection, func, select

from app.clock import utc_now
from app.database import read_engine
from app.heartbeat import last_beat
from app.models.event import Event, OutgoingMail
from app.models.webhook import WebhookDelivery

_EVENTS: Any = Event.__table__
_MAIL: Any = OutgoingMail.__table__
_DELIVERIES: Any = WebhookDelivery.__table__


class Gauge(NamedTuple):
    """A number that goes up and down."""

    name: str
    meaning: str
    value: float
    labels: str = ""


def gauges(app: Flask) -> Iterator[Gauge]:
    """The state of ``app`` as numbers; asks the database once a queue."""
    with read_engine().connect() as connection:
        waiting = {
            "events": (_EVENTS, _EVENTS.c.dispatched_at.is_(None)),
            "webhooks": (_DELIVERIES, _DELIVERIES.c.status == "pending"),
            "mail": (_MAIL, _MAIL.c.status.in_(("queued", "sending"))),
        }
        for name, (table, condition) in waiting.items():
            count, age = _queue(connection, table, condition)
            label = f'{{queue="{name}"}}'
            yield Gauge("queue_depth", "Work that waits.", count, label)
            yield Gauge("queue_oldest_seconds", "Age of the oldest work.", age, label)
    plans = app.extensions["odata"].reader.plans
    yield Gauge("odata_plans", "Plans of queries that are remembered.", len(plans))
    yield Gauge("odata_plan_hits_total", "Queries that found their plan.", plans.hits)
    yield Gauge("odata_plan_misses_total", "Queries that had none.", plans.misses)
    beat = last_beat()
    yield Gauge("worker_heartbeat_age_seconds", "Since the worker's last sign.", _age(beat))
    redis = app.extensions["redis"]
    yield Gauge("redis_away", "1 while Redis does not answer.", float(bool(redis and redis.away)))


def text(app: Flask) -> bytes:
    """The gauges in the text format of Prometheus."""
    lines: list[str] = []
    told: set[str] = set()
    for gauge in sorted(gauges(app), key=lambda one: one.name):
        if gauge.name not in told:
            told.add(gauge.name)
            kind = "counter" if gauge.name.endswith("_total") else "gauge"
            lines += [f"# HELP {gauge.name} {gauge.meaning}", f"# TYPE {gauge.name} {kind}"]
        lines.append(f"{gauge.name}{gauge.labels} {gauge.value:g}")
    return ("\n".join(lines) + "\n").encode()


def _queue(connection: Connection, table: Any, condition: ColumnElement[bool]) -> tuple[int, float]:
    row = connection.execute(
        select(func.count(), func.min(table.c.created_at)).where(condition)
    ).one()
    return int(row[0]), _age(row[1]) if row[1] is not None else 0.0


def _age(instant: datetime | str | None) -> float:
    if instant is None:
        return float("inf")
    known = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    return max((utc_now() - known).total_seconds(), 0.0)
