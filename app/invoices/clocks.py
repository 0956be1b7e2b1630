"""What time does to invoices: they become overdue, which is said once, and clients are reminded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import structlog
from sqlalchemy import or_, select

from app.clock import local_day
from app.db import records
from app.db.types import AnyRow
from app.errors import ValidationError
from app.events import emit
from app.invoices.letters import Letter
from app.invoices.sending import REMINDER, count_reminder, write_mail
from app.invoices.service import INVOICES
from app.invoices.settlement import RECEIVABLE
from app.jobs.schedule import for_each_due
from app.models.invoice import Invoice
from app.settings import organisation
from app.settings.days import today, zone

_log = structlog.get_logger(__name__)
# A reminder that was missed for longer, because the service stood still or was moved in, is none.
LATEST_DAYS = 30


def run_invoice_clocks() -> int:
    """Every clock of invoices, once; returns how much there was to do."""
    return tell_overdue_invoices() + remind_clients()


def tell_overdue_invoices() -> int:
    """Emit ``invoice.overdue`` for each that is past its due date."""
    overdue = select(Invoice.id).where(
        Invoice.type == "Invoice",
        Invoice.status.in_(RECEIVABLE),
        Invoice.due_date < today(),
        or_(
            Invoice.overdue_told_for.is_(None),
            Invoice.overdue_told_for != Invoice.due_date,
        ),
    )
    return for_each_due("overdue invoices", overdue, _tell_overdue)


def _tell_overdue(invoice_id: int) -> None:
    invoice = INVOICES.stored(invoice_id)
    records.update(Invoice, invoice_id, {"overdue_told_for": invoice.due_date})
    emit("invoice.overdue", "Invoice", invoice_id, sequence=invoice.version)


def remind_clients() -> int:
    """Mail the reminders that are due by the steps of the settings; each step once."""
    settings = organisation().reminders
    if not settings.enabled or not settings.steps:
        return 0
    now, local = today(), zone()
    open_ones = select(
        Invoice.id,
        Invoice.status,
        Invoice.due_date,
        Invoice.sent_at,
        Invoice.last_reminder_at,
        Invoice.amount_due,
    ).where(
        Invoice.type == "Invoice",
        Invoice.status.in_(RECEIVABLE),
        Invoice.due_date <= now - timedelta(days=min(settings.steps)),
        Invoice.due_date >= now - timedelta(days=max(settings.steps) + LATEST_DAYS),
    )
    return for_each_due(
        "reminders", open_ones, _remind,
        is_due=lambda row: due_step(row, settings.steps, now, local) is not None,
    )  # fmt: skip


def due_step(
    invoice: Invoice | AnyRow, steps: Sequence[int], now: date, local: ZoneInfo
) -> date | None:
    """The day of the last step that was reached and that no reminder has followed, or None.

    ``now`` is a day of the zone ``local``, in which the mails were sent on their days.

    Steps that were missed are not made up for. A notice before the due date is left out where the
    invoice itself went out no earlier.
    """
    due = invoice.due_date
    if due is None or invoice.status not in RECEIVABLE or not invoice.amount_due:
        return None
    reached = [step for step in steps if due + timedelta(days=step) <= now]
    if not reached:
        return None
    day: date = due + timedelta(days=reached[-1])
    last, sent = invoice.last_reminder_at, invoice.sent_at
    if (now - day).days > LATEST_DAYS or (last is not None and local_day(last, local) >= day):
        return None
    is_notice = reached[-1] <= 0
    return None if is_notice and sent is not None and local_day(sent, local) >= day else day


def _remind(invoice_id: int) -> bool:
    invoice = INVOICES.stored(invoice_id)
    assert invoice.due_date is not None  # it was looked for by that
    kind = REMINDER if invoice.due_date < today() else "notice"
    try:
        write_mail(invoice_id, Letter(kind=kind))
    except ValidationError:
        _log.info("reminder has no recipient", invoice=invoice_id)
        return False
    count_reminder(invoice)
    return True
