"""What becomes of a row when the record that it refers to is deleted: a rule for every foreign key.

Nothing that was issued loses what it stands on (docs/adr/0032). A foreign key without a rule
stops the start, so that a new one has to say what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, ForeignKey

from app.db import records
from app.models.columns import Record
from app.models.document import Document
from app.models.invoice import Invoice, LineItem
from app.models.project import Task
from app.settings.days import today

# The link is removed; the row is deleted, too; the deletion is refused; the row is a part of the
# record, and the database removes it, or its link, by itself.
UNLINK, DELETE, RESTRICT, PART, FORGET = "unlink", "delete", "restrict", "part", "forget"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a deletion ``does`` to the rows that refer to the record.

    ``blocks`` refuses it for the rows of which it is true, whatever it does to others; the message
    calls them ``blockers``.
    """

    does: str = UNLINK
    blocks: Callable[[Any], bool] | None = field(default=None, compare=False)
    blockers: str = ""

    def stops(self, record: Record) -> bool:
        """Whether the row keeps the record."""
        return self.does == RESTRICT or (self.blocks is not None and self.blocks(record))


def is_issued(invoice: Invoice | None) -> bool:
    """Whether there is such an invoice and it is no draft; void ones were issued."""
    return invoice is not None and invoice.status != "Draft"


def _is_of_issued(record: LineItem | Task) -> bool:
    """Whether a record belongs to an issued invoice."""
    return is_issued(records.read(Invoice, record.invoice_id))


def _is_retained(document: Document) -> bool:
    until = document.retain_until
    return until is not None and until >= today()


_UNLINKED = Rule()
_ISSUED = Rule(blocks=is_issued, blockers="issued invoices")
_RETAINED = Rule(blocks=_is_retained, blockers="retained documents")

RULES: Mapping[str, Rule] = {
    "clients.origin_lead_id": _UNLINKED,
    # A contact belongs to its client, as in Salesforce and Dynamics.
    "contacts.client_id": Rule(does=DELETE),
    "documents.client_id": _RETAINED,
    "documents.entity_id": _RETAINED,
    "invoices.client_id": Rule(does=DELETE, blocks=is_issued, blockers="issued invoices"),
    "invoices.contact_id": _ISSUED,
    "invoices.credited_invoice_id": Rule(does=RESTRICT, blockers="credit notes"),
    "invoices.opportunity_id": _ISSUED,
    "invoices.project_id": _ISSUED,
    "issue_records.invoice_id": Rule(does=RESTRICT, blockers="links of the chain"),
    "kb_articles.source_ticket_id": _UNLINKED,
    "kb_articles.translation_of_id": _UNLINKED,
    "leads.converted_client_id": _UNLINKED,
    "leads.converted_contact_id": _UNLINKED,
    "leads.converted_opportunity_id": _UNLINKED,
    # Credit notes name the work again, and void invoices named it.
    "line_items.task_id": Rule(blocks=_is_of_issued, blockers="lines of issued invoices"),
    # As the price list goes on, so do the drafts; what was billed names what it was.
    "line_items.product_id": Rule(blocks=_is_of_issued, blockers="lines of issued invoices"),
    # As in Salesforce: open and lost ones go with the client, won ones keep it.
    "opportunities.client_id": Rule(
        does=DELETE, blocks=lambda deal: bool(deal.status == "Won"), blockers="won opportunities"
    ),
    "opportunities.contact_id": _UNLINKED,
    "opportunities.lead_id": _UNLINKED,
    "payments.client_id": Rule(does=RESTRICT, blockers="payments"),
    "payments.invoice_id": Rule(does=RESTRICT, blockers="payments"),
    "projects.client_id": _UNLINKED,
    "projects.opportunity_id": _UNLINKED,
    "tasks.invoice_id": Rule(),
    "tasks.parent_task_id": _UNLINKED,
    "tasks.project_id": Rule(blocks=_is_of_issued, blockers="billed tasks"),
    "tasks.related_id": _UNLINKED,
    "tickets.client_id": _UNLINKED,
    "tickets.contact_id": _UNLINKED,
    "tickets.merged_into_id": _UNLINKED,
    "api_keys.role_id": Rule(does=RESTRICT, blockers="API keys"),
    "user_roles.role_id": Rule(does=RESTRICT, blockers="users"),
}  # fmt: skip
# Accounts are deactivated, keys revoked: what they did keeps their name.
PERMANENT = frozenset(("users", "api_keys"))
_BY_DATABASE = {"CASCADE": PART, "SET NULL": FORGET}


def rule_of(column: Column[Any], key: ForeignKey) -> Rule:
    """The rule of a foreign key.

    Raises: LookupError, it has none.
    """
    name = f"{column.table.name}.{column.name}"
    if name in RULES:
        return RULES[name]
    if key.ondelete in _BY_DATABASE:
        return Rule(does=_BY_DATABASE[key.ondelete])
    if key.column.table.name in PERMANENT:
        return Rule(does=RESTRICT, blockers="records")
    raise LookupError(f"{name} has no rule for the deletion of what it refers to: see {__name__}")
