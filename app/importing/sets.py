"""The entity sets of a history: their names in the file, what they may say, their order.

The rules are those of the services, but for history: a file may say what only the service says
otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import Table

from app.models.columns import Entity, Record
from app.models.invoice import LineItem, Payment
from app.models.kb_article import KbRevision
from app.models.opportunity import StageChange
from app.models.ticket import TicketComment
from app.writing.pipeline import EntityService
from app.writing.rules import COMMON_WRITABLE, ChildRules, EntityRules
from app.writing.services import SERVICES

# Filled where a file leaves them out, because they follow from others.
FILLED = frozenset(
    (
        "created_at", "updated_at", "status_changed_at", "stage_changed_at", "currency",
        "probability", "slug", "number", "code", "position", "revision",
    )
)  # fmt: skip
# A payment has client and currency from its invoice.
CHILD_FILLED = FILLED | {"client_id"}
# Kept by the service alone; the file may have them, they are not read.
NOT_READ = frozenset(("id", "version", "indexed_at", "pdf_sha256"))
# On the wire, but no columns: computed when they are read.
COMPUTED = frozenset(("fullName", "isOverdue", "daysInStage", "allowedActions"))


@dataclass(frozen=True, kw_only=True)
class ImportSet:
    """An entity set of the file. ``compared`` are computed: given values must equal them."""

    name: str
    service: EntityService[Any]
    rules: EntityRules[Entity]
    compared: frozenset[str] = frozenset()

    @property
    def table(self) -> Table:
        """Where its records go."""
        return self.rules.table


LINE_AMOUNTS = frozenset(
    ("line_subtotal", "discount_amount", "line_net", "tax_amount", "line_total")
)
INVOICE_AMOUNTS = frozenset(
    (
        "subtotal", "discount_total", "tax_total", "total", "tax_breakdown", "amount_paid",
        "amount_credited", "amount_due", "base_total",
    )
)  # fmt: skip
CLIENT_AMOUNTS = frozenset(("invoiced_total", "outstanding_balance"))


def _entity(
    name: str,
    entity: str,
    *,
    children: Mapping[str, ChildRules] | None = None,
    wire_names: Mapping[str, str] | None = None,
    compared: frozenset[str] = frozenset(),
) -> ImportSet:
    service = SERVICES[entity]
    rules = service.rules
    not_written = NOT_READ | compared | {*COMMON_WRITABLE}
    names = {child.table.name: name for name, child in (children or {}).items()}
    past = replace(
        rules,
        writable=tuple(
            column.name
            for column in rules.table.c
            if column.name not in not_written and "normal_form" not in column.info
        ),
        filled=FILLED,
        wire_names={**rules.wire_names, **(wire_names or {}), **names},
        children={child.table.name: child for child in (children or {}).values()},
    )
    return ImportSet(name=name, service=service, rules=past, compared=compared)


def _child(
    model: type[Record],
    parent: str,
    *,
    wire_names: Mapping[str, str] | None = None,
    compared: frozenset[str] = frozenset(),
) -> ChildRules:
    """A list inside the records of a set; ``parent`` is the column with the key of these."""
    columns = (column.name for column in model.__table__.c)
    return ChildRules(
        model=model,
        parent=parent,
        writable=tuple(name for name in columns if name not in NOT_READ | compared | {parent}),
        filled=CHILD_FILLED,
        wire_names=wire_names or {},
    )


@cache
def import_sets() -> Mapping[str, ImportSet]:
    """Name -> set, in an order in which every set comes after those it refers to.

    ``Clients.originLeadId`` and ``Opportunities.leadId`` refer forwards; they are written last.
    """
    lists_of_invoices = {
        "LineItems": _child(LineItem, "invoice_id", compared=LINE_AMOUNTS),
        "Payments": _child(Payment, "invoice_id", wire_names={"paid_on": "date"}),
    }
    stages = {"from_stage": "from", "to_stage": "to"}
    history = _child(StageChange, "opportunity_id", wire_names=stages)
    sets = (
        _entity("Clients", "Client", compared=CLIENT_AMOUNTS),
        _entity("Contacts", "Contact"),
        _entity(
            "Opportunities", "Opportunity", children={"StageHistory": history},
            compared=frozenset(("weighted_amount", "base_amount", "status")),
        ),
        _entity("Leads", "Lead"),
        _entity(
            "Tickets", "Ticket",
            children={"Comments": _child(TicketComment, "ticket_id")},
        ),
        _entity(
            "KbArticles", "KbArticle", compared=frozenset(("word_count",)),
            wire_names={"revision": "version", "version": "rowVersion"},
            children={"Revisions": _child(KbRevision, "article_id")},
        ),
        _entity(
            "Projects", "Project",
            compared=frozenset(("progress_percent", "hours_spent", "open_task_count")),
        ),
        _entity("Products", "Product"),
        _entity("Invoices", "Invoice", children=lists_of_invoices, compared=INVOICE_AMOUNTS),
        _entity("Tasks", "Task"),
        _entity("Documents", "Document", wire_names={"version": "rowVersion"}),
    )  # fmt: skip
    return {each.name: each for each in sets}


@cache
def set_of_table() -> Mapping[str, str]:
    """Table -> name of its set."""
    return {each.table.name: each.name for each in import_sets().values()}


@cache
def set_of_type() -> Mapping[str, str]:
    """Entity type, such as ``KbArticle``, -> name of its set."""
    return {each.rules.name: each.name for each in import_sets().values()}
