"""What time does to records: once, however often and on however many hosts the clocks run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.invoices import clocks
from app.invoices.clocks import due_step, remind_clients, tell_overdue_invoices
from app.invoices.payments import reverse_payment
from app.invoices.steps import mark_uncollectible, void_invoice
from app.jobs.schedule import SCHEDULE
from app.kb.service import archive_expired
from app.models.event import AuditRecord, OutgoingMail
from app.models.invoice import Invoice
from app.projects.service import tell_overdue_tasks
from app.settings import save_settings
from app.tickets.clocks import close_solved, resume_waiting, run_ticket_clocks, watch_service_levels
from tests.business import bind_services
from tests.factories import (
    event_names,
    make_article,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_task,
    make_ticket,
    make_user,
    pay,
    rows,
    stored,
    update,
)

UTC_ZONE = ZoneInfo("UTC")
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)  # a Monday


class Company:
    """Records made at the start, and a clock that can be set."""

    def __init__(self, app: Flask, traveller: Any) -> None:
        self.app = app
        self._traveller = traveller

    def at(self, **after: float) -> None:
        """Set the clock to a time after the start: ``at(days=3)``."""
        self._traveller.move_to(START + timedelta(**after), tick=False)

    def do(self, work: Callable[[], Any]) -> Any:
        """Do something in a transaction of its own, as the system."""
        with self.app.app_context(), acting_as(system_caller("test")), transaction():
            return work()

    def run(self, clock: Callable[[], int]) -> int:
        """Run a clock as a worker does."""
        with self.app.app_context():
            return clock()

    def events(self, entity: str, key: int) -> list[str]:
        """The names of a record's events."""
        found: list[str] = self.do(lambda: event_names(entity, key))
        return found

    def row(self, entity: str, key: int) -> dict[str, Any]:
        """A record."""
        found: dict[str, Any] = self.do(lambda: stored(entity, key))
        return found

    def mails(self) -> list[Any]:
        """The mails in the outbox."""
        found: list[Any] = self.do(lambda: rows(OutgoingMail))
        return found


@pytest.fixture
def company(app: Flask) -> Iterator[Company]:
    """A company whose clock stands still at the start."""
    bind_services(app)
    with time_machine.travel(START, tick=False) as traveller:
        yield Company(app, traveller)


def invoice(**values: Any) -> int:
    """Due on 1 April; the client has an address."""
    client = values.pop("client_id", None) or make_client(email="a@acme.example")
    return make_issued_invoice(client_id=client, due_date=date(2026, 4, 1), **values)


def test_a_ticket_is_at_risk_and_then_breached_and_it_is_said_once(company: Company) -> None:
    key = company.do(make_ticket)  # normal: an answer in 8 hours
    for hours, status in ((6.3, "OnTrack"), (6.5, "AtRisk"), (7.9, "AtRisk"), (8.1, "Breached")):
        company.at(hours=hours)
        company.run(watch_service_levels)
        assert company.row("Ticket", key)["sla_status"] == status, hours
        assert company.run(watch_service_levels) == 0
    company.at(days=30)
    assert company.run(watch_service_levels) == 0
    events = company.events("Ticket", key)
    assert (events.count("ticket.sla_at_risk"), events.count("ticket.sla_breached")) == (1, 1)


def test_an_answered_and_a_waiting_ticket_are_left_alone(company: Company) -> None:
    user = company.do(lambda: make_user("Support").user_id)
    waiting = company.do(lambda: make_ticket(assignee_id=user))
    company.do(lambda: update("Ticket", waiting, status="OnHold"))
    solved = company.do(lambda: make_ticket(assignee_id=user))
    company.do(lambda: update("Ticket", solved, status="Solved"))
    company.at(days=5)
    assert company.run(watch_service_levels) == 0
    assert company.row("Ticket", waiting)["sla_status"] == "Paused"


def test_a_wait_ends_at_its_time_and_the_clocks_go_on(company: Company) -> None:
    until = START + timedelta(hours=10)
    key = company.do(make_ticket)
    company.do(lambda: update("Ticket", key, status="Pending", pending_until=until))
    due = company.row("Ticket", key)["resolution_due_at"]
    company.at(hours=9.99)
    assert company.run(resume_waiting) == 0
    company.at(hours=10)
    assert company.run(resume_waiting) == 1
    assert company.run(resume_waiting) == 0
    row = company.row("Ticket", key)
    assert (row["status"], row["pending_until"]) == ("Open", None)
    assert row["resolution_due_at"] == due + timedelta(hours=10)
    assert company.events("Ticket", key).count("ticket.status_changed") == 2


def test_a_solved_ticket_is_closed_after_the_days_of_the_settings(company: Company) -> None:
    user = company.do(lambda: make_user("Support").user_id)
    key, reopened = (company.do(lambda: make_ticket(assignee_id=user)) for _ in range(2))
    for ticket in (key, reopened):
        company.do(lambda ticket=ticket: update("Ticket", ticket, status="Solved"))
    company.at(days=6, hours=23)
    company.do(lambda: update("Ticket", reopened, status="Open"))
    assert company.run(close_solved) == 0
    company.at(days=7)
    assert company.run(close_solved) == 1
    assert company.run(run_ticket_clocks) in (0, 1)
    assert company.row("Ticket", key)["status"] == "Closed"
    assert company.row("Ticket", reopened)["status"] == "Open"
    assert company.events("Ticket", key).count("ticket.closed") == 1
    trail = company.do(lambda: rows(AuditRecord, entity="Ticket", entity_id=key))
    assert trail[-1]["via"] == "job"


def test_the_days_can_be_set(company: Company) -> None:
    user = company.do(lambda: make_user("Support").user_id)
    company.do(lambda: save_settings("serviceLevel", {"autoCloseDays": 1}))
    key = company.do(lambda: make_ticket(assignee_id=user))
    company.do(lambda: update("Ticket", key, status="Solved"))
    company.at(days=1)
    assert company.run(close_solved) == 1


def test_an_invoice_is_overdue_after_its_due_date_and_it_is_said_once(company: Company) -> None:
    key = company.do(invoice)
    paid, void, written_off, draft = (company.do(invoice), company.do(invoice),
                                      company.do(invoice), company.do(make_invoice))  # fmt: skip
    company.do(lambda: pay(paid, "119"))
    company.do(lambda: void_invoice(void, "mistake"))
    company.do(lambda: mark_uncollectible(written_off))
    company.at(days=30)  # 1 April
    assert company.run(tell_overdue_invoices) == 0
    company.at(days=31)
    assert company.run(tell_overdue_invoices) == 1
    company.at(days=300)
    assert company.run(tell_overdue_invoices) == 0
    assert company.events("Invoice", key).count("invoice.overdue") == 1
    for other in (paid, void, written_off, draft):
        assert "invoice.overdue" not in company.events("Invoice", other)


def test_a_bounced_payment_makes_an_invoice_overdue(company: Company) -> None:
    key = company.do(invoice)
    payment = company.do(lambda: pay(key, "119"))
    company.at(days=40)
    assert company.run(tell_overdue_invoices) == 0
    company.do(lambda: reverse_payment(payment, "bounced"))
    assert company.run(tell_overdue_invoices) == 1


STEPS = (-3, 3, 14)
DUE = date(2026, 4, 1)


@pytest.mark.parametrize(
    ("today", "sent", "reminded", "expected"),
    [
        ("2026-03-28", "2026-03-01", None, None),
        ("2026-03-29", "2026-03-01", None, "2026-03-29"),
        ("2026-04-03", "2026-03-01", None, "2026-03-29"),
        ("2026-04-03", "2026-03-01", "2026-03-29", None),
        ("2026-04-03", "2026-03-29", None, None),  # sent no earlier than the notice
        ("2026-04-04", "2026-03-29", None, "2026-04-04"),
        ("2026-04-04", "2026-03-01", "2026-03-29", "2026-04-04"),
        ("2026-04-20", "2026-03-01", "2026-03-29", "2026-04-15"),  # the one between is missed
        ("2026-04-20", "2026-03-01", "2026-04-15", None),
        ("2026-05-15", "2026-03-01", None, "2026-04-15"),
        ("2026-05-16", "2026-03-01", None, None),  # too late
    ],
)
def test_the_last_step_reached_counts(
    today: str, sent: str, reminded: str | None, expected: str | None
) -> None:
    row: dict[str, Any] = {
        "due_date": DUE, "status": "Sent", "amount_due": 1,
        "sent_at": datetime.fromisoformat(f"{sent}T10:00:00+00:00"),
        "last_reminder_at": reminded and datetime.fromisoformat(f"{reminded}T10:00:00+00:00"),
    }  # fmt: skip
    day = date.fromisoformat(today)
    found = due_step(Invoice(**row), STEPS, day, UTC_ZONE)
    assert found == (expected and date.fromisoformat(expected))
    assert due_step(Invoice(**row | {"status": "Paid"}), STEPS, day, UTC_ZONE) is None
    assert due_step(Invoice(**row | {"amount_due": 0}), STEPS, day, UTC_ZONE) is None


def test_clients_are_reminded_at_each_step_once(company: Company) -> None:
    key = company.do(invoice)
    counts = []
    for day in range(60):
        company.at(days=day)
        counts.append(company.run(remind_clients) + company.run(remind_clients))
    assert [day for day, count in enumerate(counts) if count] == [27, 33, 44]
    assert sum(counts) == 3
    row = company.row("Invoice", key)
    assert (row["reminders_sent"], row["last_reminder_at"].date()) == (3, date(2026, 4, 15))
    subjects = [mail["subject"] for mail in company.mails()]
    assert "is due on" in subjects[0]
    assert all("was due on" in subject for subject in subjects[1:])
    attached = [mail["attachments"][0]["name"] for mail in company.mails()]
    assert attached == [f"{row['number']}.pdf"] * 3
    assert company.events("Invoice", key).count("invoice.reminder_sent") == 3


def test_reminders_can_be_switched_off_and_set(company: Company) -> None:
    company.do(invoice)
    company.at(days=35)
    company.do(lambda: save_settings("reminders", {"enabled": False}))
    assert company.run(remind_clients) == 0
    company.do(lambda: save_settings("reminders", {"steps": [7]}))
    assert company.run(remind_clients) == 0
    company.at(days=37)
    assert company.run(remind_clients) == 1


def test_a_client_without_an_address_keeps_no_other_from_its_reminder(company: Company) -> None:
    company.do(lambda: invoice(client_id=make_client()))
    company.do(invoice)
    company.at(days=34)
    assert company.run(remind_clients) == 1
    assert len(company.mails()) == 1


def test_a_step_that_fails_keeps_no_other_from_its_turn(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = company.do(invoice), company.do(invoice)
    company.at(days=34)

    def fail_once(invoice_id: int, letter: Any) -> Any:
        if invoice_id == bad:
            raise RuntimeError("broken")
        return written(invoice_id, letter)

    written = clocks.write_mail
    monkeypatch.setattr(clocks, "write_mail", fail_once)
    assert company.run(remind_clients) == 1
    assert company.row("Invoice", bad)["reminders_sent"] == 0
    assert company.row("Invoice", good)["reminders_sent"] == 1


def test_a_task_is_overdue_once_for_each_due_time(company: Company) -> None:
    due = START + timedelta(days=1)
    key, done = (company.do(lambda: make_task(due_at=due)) for _ in range(2))
    company.do(lambda: update("Task", done, status="Done"))
    assert company.run(tell_overdue_tasks) == 0
    company.at(days=1.1)
    assert [company.run(tell_overdue_tasks) for _ in range(2)] == [1, 0]
    company.do(lambda: update("Task", key, due_at=START + timedelta(days=5)))
    assert company.run(tell_overdue_tasks) == 0
    company.at(days=6)
    assert [company.run(tell_overdue_tasks) for _ in range(2)] == [1, 0]
    assert company.events("Task", key).count("task.overdue") == 2
    assert "task.overdue" not in company.events("Task", done)


def test_an_article_is_archived_on_the_day_it_expires(company: Company) -> None:
    key = company.do(lambda: make_article(expires_at="2026-03-10"))
    draft = company.do(lambda: make_article(expires_at="2026-03-10"))
    company.do(lambda: update("KbArticle", key, status="Published"))
    company.at(days=7)
    assert company.run(archive_expired) == 0
    company.at(days=8)
    assert [company.run(archive_expired) for _ in range(2)] == [1, 0]
    row = company.row("KbArticle", key)
    assert row["status"] == "Archived" and row["archived_at"] is not None
    assert company.events("KbArticle", key).count("kb_article.archived") == 1
    assert company.row("KbArticle", draft)["status"] == "Draft"


def test_clocks_on_several_hosts_at_once_do_everything_once(company: Company) -> None:
    client = company.do(lambda: make_client(email="a@acme.example"))
    keys = [company.do(lambda: invoice(client_id=client)) for _ in range(4)]
    tasks = [company.do(lambda: make_task(due_at=START + timedelta(days=1))) for _ in range(4)]
    company.at(days=34)
    all_clocks = [remind_clients, tell_overdue_invoices, tell_overdue_tasks] * 3
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(company.run, all_clocks))
    assert sum(done) == 12
    for key in keys:
        events = company.events("Invoice", key)
        assert (events.count("invoice.overdue"), events.count("invoice.reminder_sent")) == (1, 1)
    for key in tasks:
        assert company.events("Task", key).count("task.overdue") == 1
    assert len(company.mails()) == 4


def test_many_are_gone_through_in_batches(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.schedule.BATCH", 2)
    for _ in range(5):
        company.do(lambda: make_task(due_at=START + timedelta(days=1)))
    company.at(days=2)
    assert company.run(tell_overdue_tasks) == 5


def test_the_worker_runs_them() -> None:
    names = {job.name for job in SCHEDULE}
    assert {"ticket-clocks", "invoice-clocks", "overdue-tasks", "expired-articles"} <= names
