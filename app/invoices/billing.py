"""Tasks that an invoice bills: each knows its invoice, and no other invoice bills it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from app.db import records
from app.errors import ValidationError
from app.invoices.lines import LINE_ITEM, LINE_ITEMS
from app.models.invoice import Invoice
from app.models.task import Task
from app.projects.service import TASKS
from app.writing.change import Change

_BILLED = select(Task.id).where(Task.invoice_id == bindparam("invoice_id")).order_by(Task.id)


def check_tasks(change: Change[Invoice], lines: Sequence[Mapping[str, Any]]) -> None:
    """Refuse lines for tasks that another invoice bills."""
    if change.get("type") == "CreditNote":
        return
    for index, line in enumerate(lines):
        task = records.read(Task, line.get("task_id"))
        if task is not None and task.invoice_id not in (None, change.key):
            field = f"{change.rules.wire(LINE_ITEMS)}[{index}].{LINE_ITEM.wire('task_id')}"
            change.refuse_field(field, f"was billed by invoice {task.invoice_id}")


def bill_tasks(change: Change[Invoice], lines: Sequence[Mapping[str, Any]]) -> None:
    """Make the tasks of these lines, and no others, those that the invoice bills.

    Raises: ValidationError, another invoice has billed one of them meanwhile.
    """
    if change.get("type") == "CreditNote":
        return
    billed = records.connection().execute(_BILLED, {"invoice_id": change.key})
    before = set(billed.scalars())
    after = {line["task_id"] for line in lines if line["task_id"] is not None}
    for task_id in sorted(before - after):
        TASKS.apply(task_id, {"invoice_id": None})
    for task_id in sorted(after - before):
        TASKS.stored(task_id)  # locked: whoever bills it at the same time has done so, or waits
    check_tasks(change, lines)
    if change.problems:
        raise ValidationError(change.problems)
    for task_id in sorted(after - before):
        TASKS.apply(task_id, {"invoice_id": change.key})
