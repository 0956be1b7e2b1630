"""Today is the day of the organisation's clocks, wherever the service says it (docs/adr/0016)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from flask import Flask

from app.ai.free_text import read_text
from app.ai.parts import Ask
from app.ai.provider.answering import first_messages
from app.ai.wording import value_text
from app.bi.periods.calendar import calendar
from app.clock import local_day, local_start, utc_now
from app.container import engine
from app.db.engines import transaction
from app.db.types import iso_instant
from app.errors import ValidationError
from app.http.security import acting_as, system_caller
from app.invoices.clocks import tell_overdue_invoices
from app.invoices.payments import register_payment
from app.invoices.steps import issue_invoice
from app.kb.service import archive_expired
from app.settings import save_settings
from app.settings.days import day_of, start_of, today
from tests.business import bind_services
from tests.factories import (
    event_names,
    make_article,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_project,
    put,
    stored,
)

ZONES = (
    "Pacific/Pago_Pago", "America/New_York", "America/Havana", "UTC", "Europe/Berlin",
    "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Kiritimati",
)  # fmt: skip
# The last days before a new year, before clocks go on (Havana's skip midnight) and go back.
LAST_DAYS = (date(2026, 12, 31), date(2026, 3, 7), date(2026, 3, 28), date(2026, 10, 31))
SECOND = timedelta(seconds=1)


def test_the_hours_of_a_day_belong_to_it_and_to_no_other() -> None:
    for name, day in product(ZONES, LAST_DAYS):
        zone = ZoneInfo(name)
        begin, end = local_start(day, zone), local_start(day + timedelta(days=1), zone)
        assert begin.tzinfo is UTC
        moments = (begin - SECOND, begin, end - SECOND, end)
        days = [(local_day(moment, zone) - day).days for moment in moments]
        assert days == [-1, 0, 0, 1], (name, day)


@pytest.fixture
def company(app: Flask) -> Iterator[None]:
    """A transaction of the system in which clocks and settings may be moved."""
    bind_services(app)
    with app.app_context(), acting_as(system_caller("test")), transaction():
        yield


def test_overdue_begins_at_the_organisations_midnight_in_sql_and_in_python(company: None) -> None:
    with time_machine.travel(datetime(2026, 1, 5, 12, tzinfo=UTC), tick=False):
        late = {
            day: make_issued_invoice(client_id=make_client(), due_date=day) for day in LAST_DAYS
        }
        running = {day: make_project(status="Active", end_date=day) for day in LAST_DAYS}
    for name in ZONES:
        save_settings("defaults", {"timeZone": name})
        for day in LAST_DAYS:
            midnight = start_of(day + timedelta(days=1))
            for moment, days in ((midnight - SECOND, 0), (midnight, 1)):
                with time_machine.travel(moment, tick=False):
                    where = (name, day, moment)
                    assert today() == day + timedelta(days=days), where
                    assert calendar(utc_now()).today == today(), where
                    invoice = engine.read_one(
                        f"Invoices({late[day]})", select="isOverdue,late",
                        compute="BusinessPlatform.DaysOverdue() as late",
                    )  # fmt: skip
                    assert (invoice["isOverdue"], invoice["late"]) == (bool(days), days), where
                    project = engine.read_one(f"Projects({running[day]})", select="isOverdue")
                    assert project["isOverdue"] is bool(days), where


def moments() -> Iterator[tuple[str, datetime, date]]:
    """Both sides of a New Year's midnight, far from that of UTC."""
    for name in ("Pacific/Pago_Pago", "Europe/Berlin", "Pacific/Kiritimati"):
        midnight = local_start(date(2027, 1, 1), ZoneInfo(name))
        yield name, midnight - SECOND, date(2026, 12, 31)
        yield name, midnight, date(2027, 1, 1)


MOMENTS = tuple(moments())


@pytest.mark.parametrize(("zone", "moment", "day"), MOMENTS)
def test_what_is_done_today_has_the_day_of_the_organisation(
    company: None, zone: str, moment: datetime, day: date
) -> None:
    save_settings("defaults", {"timeZone": zone})
    with time_machine.travel(moment, tick=False):
        invoice_id = make_invoice(client_id=make_client(payment_terms_days=14))
        issue_invoice(invoice_id)
        invoice = stored("Invoice", invoice_id)
        assert (invoice["issue_date"], invoice["due_date"]) == (day, day + timedelta(days=14))
        assert invoice["number"].startswith(f"INV-{day.year}-")
        payment: dict[str, Any] = {"amount": 1, "method": "cash"}
        register_payment(invoice_id, **payment | {"paid_on": day + timedelta(days=1)})
        with pytest.raises(ValidationError, match="tomorrow"):
            register_payment(invoice_id, **payment | {"paid_on": day + timedelta(days=2)})
        task = read_text("remind me to call Eva tomorrow", "en", "task")
        assert task is not None
        assert task.due.day == day + timedelta(days=1)
        rules = next(first_messages(Ask("?", None)))["content"]
        assert f", {day.isoformat()}." in rules
        assert day_of(start_of(day, 12)) == day
        assert value_text(iso_instant(moment)) == value_text(str(day))


@pytest.mark.parametrize(("zone", "moment", "day"), MOMENTS)
def test_clocks_strike_at_the_midnight_of_the_organisation(
    app: Flask, zone: str, moment: datetime, day: date
) -> None:
    bind_services(app)
    with app.app_context(), acting_as(system_caller("test")):
        before = datetime(2026, 12, 1, 12, tzinfo=UTC)
        with time_machine.travel(before, tick=False), transaction():
            save_settings("defaults", {"timeZone": zone})
            invoice = make_issued_invoice(client_id=make_client(), due_date=date(2026, 12, 31))
            article = make_article()
            put("KbArticle", article, status="Published", expires_at=date(2027, 1, 1))
        with time_machine.travel(moment, tick=False):
            is_over = int(day == date(2027, 1, 1))
            assert (tell_overdue_invoices(), archive_expired()) == (is_over, is_over)
        with transaction():
            assert event_names("Invoice", invoice).count("invoice.overdue") == is_over
