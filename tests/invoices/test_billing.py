"""Tasks know the invoice that bills them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.db.engines import transaction
from app.errors import ValidationError
from app.http.security import Caller, acting_as, system_caller
from app.invoices.steps import void_invoice
from tests.business import bind_services
from tests.factories import (
    event_names,
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_task,
    stored,
    update,
)


def bill_of(task: int) -> int | None:
    found: int | None = stored("Task", task)["invoice_id"]
    return found


def test_a_task_follows_the_lines_of_its_draft(admin: Caller) -> None:
    first, second = make_task(), make_task()
    key = make_invoice(line_items=[line(task_id=first), line()])
    assert (bill_of(first), bill_of(second)) == (key, None)
    update("Invoice", key, line_items=[line(task_id=second)])
    assert (bill_of(first), bill_of(second)) == (None, key)
    update("Invoice", key, notes="Thank you")
    assert bill_of(second) == key
    assert event_names("Task", first) == ["task.created", "task.updated", "task.updated"]


def test_no_task_is_billed_twice(admin: Caller) -> None:
    task = make_task()
    key = make_issued_invoice(line_items=[line(task_id=task)])
    with pytest.raises(ValidationError) as refused:
        make_invoice(line_items=[line(), line(task_id=task)])
    assert refused.value.details[0][:2] == (
        "lineItems[1].taskId", f"was billed by invoice {key}",
    )  # fmt: skip


def test_a_void_invoice_frees_its_tasks(admin: Caller) -> None:
    task = make_task()
    void_invoice(make_issued_invoice(line_items=[line(task_id=task)]), "Wrong")
    assert bill_of(task) is None
    assert bill_of(task) != make_invoice(line_items=[line(task_id=task)])


def test_a_credit_note_bills_nothing(admin: Caller) -> None:
    task = make_task()
    key = make_issued_invoice(line_items=[line(task_id=task)])
    make_invoice(
        type="CreditNote", credited_invoice_id=key, line_items=[line(task_id=task)],
        client_id=stored("Invoice", key)["client_id"],
    )  # fmt: skip
    assert bill_of(task) == key


def test_invoices_that_bill_a_task_at_the_same_time_bill_it_once(app: Flask) -> None:
    bind_services(app)
    with app.app_context(), acting_as(system_caller()), transaction():
        task, client = make_task(), make_client()
    ready = threading.Barrier(4)

    def bill() -> str:
        ready.wait()
        try:
            with app.app_context(), acting_as(system_caller()), transaction():
                make_invoice(client_id=client, line_items=[line(), line(task_id=task)])
        except ValidationError as error:
            return error.details[0].field
        return "billed"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(future.result() for future in [pool.submit(bill) for _ in range(4)])
    assert outcomes == ["billed", *["lineItems[1].taskId"] * 3]
