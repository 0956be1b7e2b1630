"""When a saved report is mailed: daily, weekly or monthly, at a time of the organisation's day."""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app import audit
from app.bi.reports.saving import FIRST_SAVED, own_report
from app.clock import local_day, utc_now
from app.db import records
from app.db.types import iso_instant
from app.http.security import current_caller
from app.mail.outbox import check_addresses
from app.models.report import SavedReport
from app.settings.days import zone


def schedule_report(report_id: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """Mail a saved report from now on; ``next`` is the first time.

    Args:
        values: ``every`` (daily, weekly, monthly), ``weekday`` 1 to 7 (Monday is 1), ``day`` of
            the month, ``time`` such as 07:00, ``format``, ``to``.
    Raises: NotFoundError; ForbiddenError; ValidationError.
    """
    own_report(report_id, current_caller())
    schedule = {**values, "to": check_addresses("to", values["to"])}
    first = next_run(schedule, utc_now(), zone())
    changes = {"schedule": schedule, "next_run_at": first, "updated_at": utc_now()}
    records.update(SavedReport.__table__, report_id - FIRST_SAVED, changes)
    audit.record("report.scheduled", "Report", report_id, after=schedule)
    return {**schedule, "nextRunAt": iso_instant(first)}


def unschedule_report(report_id: int) -> None:
    """Mail a saved report no more.

    Raises: NotFoundError; ForbiddenError.
    """
    own_report(report_id, current_caller())
    changes = {"schedule": None, "next_run_at": None, "updated_at": utc_now()}
    records.update(SavedReport.__table__, report_id - FIRST_SAVED, changes)
    audit.record("report.unscheduled", "Report", report_id)


def next_run(schedule: Mapping[str, Any], now: datetime, local: ZoneInfo) -> datetime:
    """The first time after ``now`` at which a schedule is due, as an instant."""
    hour, minute = (int(part) for part in schedule["time"].split(":"))
    day = local_day(now, local)
    while True:
        moment = datetime.combine(day, time(hour, minute), local).astimezone(UTC)
        if moment > now and _is_due(schedule, day):
            return moment
        day += timedelta(days=1)


def _is_due(schedule: Mapping[str, Any], day: date) -> bool:
    if schedule["every"] == "weekly":
        return day.isoweekday() == (schedule.get("weekday") or 1)
    if schedule["every"] == "monthly":
        last = calendar.monthrange(day.year, day.month)[1]
        return day.day == min(schedule.get("day") or 1, last)
    return True
