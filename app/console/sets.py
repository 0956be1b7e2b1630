"""What the pages show of each entity set; whatever is not said here comes from the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.console import engine
from app.console.language import marked, translated
from app.container.measures import MEASURES
from app.errors import NotFoundError
from app.odata.model import edm

# Records that were moved in are as old as they were made, whatever their keys are.
NEWEST = "createdAt desc,id desc"
OPEN_TASK = "status ne 'Done' and status ne 'Canceled'"
OPEN_PROJECT = "status in ('Planned','Active','OnHold')"


@dataclass(frozen=True)
class Page:
    """An entity set on a page.

    ``columns`` of the list (app/console/columns.py says what may be one), ``title`` of a record,
    ``state`` to filter by, ``order`` at first, ``related`` navigation properties on the page of a
    record. ``main`` are the properties that its form shows at once, the others are folded away;
    ``preset`` is what a form has at first besides the model's defaults. ``views`` are filters by
    name; ``due`` is the day or instant that a row is marked by while it fulfils ``pending``:
    overdue, due today. ``unnamed`` is what a record without a title is called, with its key.
    """

    set_name: str
    plural: str
    singular: str
    title: str
    columns: Sequence[str]
    state: str | None = None
    order: str = NEWEST
    related: Sequence[str] = ()
    main: Sequence[str] = ()
    preset: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    due: str | None = None
    pending: str = "true"
    unnamed: str = ""

    @property
    def label(self) -> str:
        """What many of its records are called."""
        return translated(self.plural)

    @property
    def singular_label(self) -> str:
        """What one of its records is called."""
        return translated(self.singular)

    def name_of(self, record: Mapping[str, Any]) -> str:
        """What a record is called that was read with its key and title: ``Draft 7`` of an invoice
        that has no number yet."""
        title = record.get(self.title)
        return str(title or f"{translated(self.unnamed or self.singular)} {record['id']}")

    @property
    def own_columns(self) -> Sequence[str]:
        """The columns that are properties of the records themselves."""
        return [name for name in self.columns if name in self.entity_set.type.properties]

    @property
    def path(self) -> str:
        """The segment of the page's address."""
        return self.set_name.lower()

    @property
    def entity_set(self) -> edm.EntitySet:
        """The set in the model."""
        return engine.container().sets[self.set_name]


PAGES: Mapping[str, Page] = {
    page.path: page
    for page in (
        Page(
            "Clients", "Clients", "Client", "name",
            ("number", "name", "status", "Owner", "email", "revenue", "outstandingBalance", "tags"),
            "status", "name",
            ("Contacts", "Invoices", "Opportunities", "Tickets", "Tasks", "Documents", "Projects"),
            main=(
                "name", "email", "phone", "website", "taxId", "status", "billingAddress",
                "paymentTermsDays", "ownerId", "tags", "notes",
            ),
            views={"Owing": "outstandingBalance gt 0"},
        ),
        Page(
            "Contacts", "Contacts", "Contact", "fullName",
            ("fullName", "Client", "jobTitle", "email", "phone", "role"),
            "role", "lastName", ("Opportunities", "Tickets"),
            main=(
                "firstName", "lastName", "clientId", "jobTitle", "email", "phone", "mobile",
                "role", "isPrimary", "receivesInvoices", "notes",
            ),
        ),
        Page(
            "Leads", "Leads", "Lead", "fullName",
            ("fullName", "company", "status", "rating", "Owner", "estimatedValue", "createdAt"),
            "status", NEWEST, ("Tasks", "Documents"),
            main=(
                "firstName", "lastName", "company", "jobTitle", "email", "phone", "source",
                "status", "rating", "estimatedValue", "currency", "ownerId", "description",
            ),
            views={"Open": "status ne 'Converted' and status ne 'Disqualified'"},
        ),
        Page(
            "Opportunities", "Opportunities", "Opportunity", "name",
            ("name", "Client", "stage", "amount", "probability", "closeDate", "Owner", "createdAt"),
            "stage", NEWEST, ("StageHistory", "Invoices", "Projects", "Tasks"),
            main=(
                "name", "clientId", "contactId", "amount", "currency", "stage", "closeDate",
                "nextStep", "ownerId", "description",
            ),
            due="closeDate",
            pending=MEASURES["Pipeline"].condition,
            views={"Open": MEASURES["Pipeline"].condition},
        ),
        Page(
            "Invoices", "Invoices", "Invoice", "number",
            (
                "number", "Client", "status", "issueDate", "dueDate", "total", "amountDue",
                "createdAt",
            ),
            "status", NEWEST, ("LineItems", "Payments", "CreditNotes"),
            main=(
                "clientId", "contactId", "issueDate", "dueDate", "currency", "reference",
                "purchaseOrder", "discountPercent", "notes",
            ),
            due="dueDate",
            pending=MEASURES["Receivables"].condition,
            views={
                "Unpaid": MEASURES["Receivables"].condition,
                "Overdue": MEASURES["Overdue"].condition,
            },
            unnamed=marked("Draft"),
        ),
        Page(
            "Products", "Products", "Product", "name",
            ("sku", "name", "unitPrice", "unitCode", "taxRate", "taxCategory", "isActive", "tags"),
            None, "name",
            main=(
                "name", "sku", "description", "unitPrice", "currency", "unitCode", "taxRate",
                "taxCategory", "taxExemptionReason", "pricesIncludeTax", "isActive", "tags",
            ),
            views={"Active": "isActive", marked("Not active"): "not isActive"},
        ),
        Page(
            "Tickets", "Tickets", "Ticket", "subject",
            (
                "number", "subject", "Client", "status", "priority", "slaStatus",
                "resolutionDueAt", "Assignee", "createdAt",
            ),
            "status", NEWEST, ("KbArticles", "Documents"),
            main=(
                "subject", "description", "clientId", "contactId", "requesterEmail", "priority",
                "type", "channel", "assigneeId", "category",
            ),
            preset={"channel": "Phone"},
            due="resolutionDueAt",
            pending=f"{MEASURES['OpenTickets'].condition} and slaStatus ne 'Paused'",
            views={"Open": MEASURES["OpenTickets"].condition},
        ),
        Page(
            "KbArticles", marked("Knowledge base"), "Article", "title",
            ("title", "status", "visibility", "category", "language", "updatedAt"),
            "status", "title", ("Revisions", "Tickets"),
            main=("title", "body", "summary", "visibility", "category", "language", "tags"),
        ),
        Page(
            "Documents", "Documents", "Document", "name",
            ("name", "Client", "category", "fileName", "size", "Owner", "createdAt"),
            "status", NEWEST, ("Versions", "Shares"),
            main=("name", "category", "folder", "clientId", "description", "tags"),
        ),
        Page(
            "Tasks", "Tasks", "Task", "title",
            (
                "title", "relatedId", "Project", "status", "priority", "dueAt", "Assignee",
                "createdAt",
            ),
            "status", NEWEST, ("Subtasks",),
            main=(
                "title", "dueAt", "assigneeId", "priority", "status", "projectId", "description",
            ),
            views={"Open": OPEN_TASK, "Overdue": "isOverdue eq true"},
            due="dueAt",
            pending=OPEN_TASK,
        ),
        Page(
            "Projects", "Projects", "Project", "name",
            (
                "code", "name", "Client", "status", "Manager", "endDate", "progressPercent",
                "budgetAmount",
            ),
            "status", "name", ("Tasks", "Documents", "Invoices"),
            main=(
                "name", "clientId", "status", "managerId", "startDate", "endDate",
                "budgetAmount", "budgetHours", "currency", "billingType", "description",
            ),
            views={"Open": OPEN_PROJECT, "Overdue": "isOverdue eq true"},
            due="endDate",
            pending=OPEN_PROJECT,
        ),
    )
}  # fmt: skip


def page_of(path: str) -> Page:
    """The page of an address.

    Raises: NotFoundError.
    """
    if path not in PAGES:
        raise NotFoundError(translated("There is no such page."))
    return PAGES[path]


def page_of_type(name: str) -> Page | None:
    """The page of the records of an entity type; None for one without."""
    entity_set = engine.container().set_of_type.get(name)
    return None if entity_set is None else PAGES.get(entity_set.name.lower())
