"""The company's day: what "today" means wherever the service says it (docs/adr/0016).

A calendar day is the one that the clocks of the organisation show, in ``defaults.timeZone``.
Nothing else makes a day of an instant; only OData's own functions keep to UTC, by its standard.
"""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from app.clock import local_day, local_start, utc_now
from app.db.transactions import has_begun
from app.extensions import db
from app.settings.store import organisation, read_organisation

# When a task is due for which a day was said and no time.
NOON = 12


def today() -> date:
    """The current day of the organisation: asked when it is needed, never kept."""
    return day_of(utc_now())


def zone() -> ZoneInfo:
    """The time zone of the organisation."""
    return ZoneInfo(organisation().defaults.time_zone)


def day_of(instant: datetime) -> date:
    """The day of the organisation on which an aware instant falls."""
    return local_day(instant, zone())


def start_of(day: date, hour: int = 0) -> datetime:
    """The instant in UTC at which a day of the organisation begins, or an hour of it."""
    return local_start(day, zone(), hour)


def day_on(connection: Connection, instant: datetime) -> date:
    """As ``day_of``, by the settings that ``connection`` reads: for who holds one already."""
    is_own = has_begun() and connection is db.session.connection()
    settings = organisation() if is_own else read_organisation(connection)
    return local_day(instant, ZoneInfo(settings.defaults.time_zone))
