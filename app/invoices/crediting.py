"""Credit notes made from the invoice that they correct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.errors import Detail, refuse_any
from app.http.security import current_caller
from app.invoices.lines import FROM_PRODUCT, LINE_ITEM, LINE_ITEMS, stored_lines
from app.invoices.service import INVOICES
from app.invoices.steps import issue_invoice
from app.permissions import require
from app.settings import organisation
from app.writing.bodies import below, body_problems, read_properties
from app.writing.operations import require_operation

# What a credit note takes over, so that both can be laid side by side.
_TAKEN_OVER = (
    "client_id", "contact_id", "currency", "prices_include_tax", "discount_percent",
    "purchase_order", "buyer_reference", "project_id", "opportunity_id",
)  # fmt: skip


def create_credit_note(
    invoice_id: int,
    lines: Sequence[Mapping[str, Any]] | None = None,
    *,
    notes: Any = None,
    issue: bool = True,
) -> int:
    """Credit an issued invoice; returns the key of the credit note.

    Args:
        lines: what to credit, in wire spelling; all lines of the invoice when not given.
        issue: give it its number and set it against the invoice at once; else it is a draft.
    Raises: NotFoundError; ForbiddenError; ValidationError, also for more than the invoice leaves
        to credit; InvalidStateError, the document cannot be credited.
    """
    caller = current_caller()
    invoice = INVOICES.locked(invoice_id, caller)
    require(caller, "invoices:credit", invoice)
    require_operation("Invoice", "invoice", "credit", invoice)
    values = {name: getattr(invoice, name) for name in _TAKEN_OVER}
    values = {name: value for name, value in values.items() if value is not None} | {
        "type": "CreditNote",
        "series": organisation().invoicing.credit_note_series or invoice.series,
        "credited_invoice_id": invoice_id,
        "notes": notes,
        LINE_ITEMS: _copied(invoice_id) if lines is None else _line_values(lines),
    }
    credit_note_id = INVOICES.create(values)
    if issue:
        issue_invoice(credit_note_id)
    return credit_note_id


def _copied(invoice_id: int) -> list[dict[str, Any]]:
    # The invoice goes on billing its tasks; the credit note only names the same work.
    return [{**line, "task_id": None} for line in stored_lines(invoice_id)]


def _line_values(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    read = []
    for index, line in enumerate(lines):
        with below(f"lineItems[{index}]"):
            read.append(read_properties(LINE_ITEM, line))
    return read


def check_credit(body: Mapping[str, Any]) -> None:
    """Look at what is given of a credit note: its ``notes`` and ``lines``.

    Raises: ValidationError.
    """
    problems = INVOICES.problems({"notes": body.get("notes")}, partial=True)
    for index, line in enumerate(body.get("lines") or ()):
        problems += [
            detail._replace(field=f"lineItems[{index}].{detail.field}")
            for detail in [*body_problems(LINE_ITEM, line, partial=False), *_lacking(line)]
        ]
    refuse_any(problems)


def _lacking(line: Mapping[str, Any]) -> list[Detail]:
    """What a line without a product leaves out, and has to have."""
    if line.get(LINE_ITEM.wire("product_id")) is not None:
        return []
    names = map(LINE_ITEM.wire, FROM_PRODUCT)
    return [Detail(name, "is required") for name in names if name not in line]
