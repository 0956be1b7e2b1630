"""Rows are written as their tables want them, many at once too."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event, func, select

from app.clock import utc_now
from app.db import records
from app.http.security import Caller
from app.models.invoice import Payment
from tests.factories import make_issued_invoice, stored, today

ROWS = 2_500


def test_many_rows_are_sent_in_parts(admin: Caller) -> None:
    """What a stalled server has not read fills the connection, which then counts as dead."""
    invoice_id = make_issued_invoice()
    shared = {
        "created_at": utc_now(), "invoice_id": invoice_id, "currency": "EUR",
        "client_id": stored("Invoice", invoice_id)["client_id"], "paid_on": today(),
        "method": "transfer", "amount": 1,
    }  # fmt: skip
    sent: list[int] = []

    def note(connection: Any, cursor: Any, sql: str, values: Any, context: Any, many: bool) -> None:
        if many:
            sent.append(len(values))

    event.listen(records.connection(), "before_cursor_execute", note)
    records.insert_all(Payment, [shared | {"number": f"PAY-{n}"} for n in range(ROWS)])
    assert sent == [1_000, 1_000, 500]
    count = select(func.count()).where(Payment.invoice_id == invoice_id)
    assert records.connection().execute(count).scalar_one() == ROWS


def test_no_rows_are_no_statement(admin: Caller) -> None:
    records.insert_all(Payment, [])
    assert records.connection().execute(select(func.count(Payment.id))).scalar_one() == 0
