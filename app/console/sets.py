"""What the pages show of each entity set; whatever is not said here comes from the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.console import engine
from app.errors import NotFoundError
from app.odata import edm


@dataclass(frozen=True)
class Page:
    """An entity set on a page.

    ``columns`` of the list, ``title`` of a record, ``state`` to filter by, ``order`` at first,
    ``related`` navigation properties on the page of a record, ``expand`` of single ones.
    """

    set_name: str
    label: str
    one: str
    title: str
    columns: Sequence[str]
    state: str | None = None
    order: str = "id desc"
    related: Sequence[str] = ()
    parents: Sequence[str] = ()

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
            ("number", "name", "status", "email", "revenue", "outstandingBalance", "createdAt"),
            "status", "name",
            ("Contacts", "Invoices", "Opportunities", "Tickets", "Tasks", "Documents", "Projects"),
        ),
        Page(
            "Contacts", "Contacts", "Contact", "fullName",
            ("fullName", "jobTitle", "email", "phone", "role", "createdAt"),
            "role", "lastName", ("Opportunities", "Tickets"), ("Client",),
        ),
        Page(
            "Leads", "Leads", "Lead", "fullName",
            ("fullName", "company", "status", "rating", "source", "estimatedValue", "createdAt"),
            "status", "id desc", ("Tasks", "Documents"), ("ConvertedClient",),
        ),
        Page(
            "Opportunities", "Opportunities", "Opportunity", "name",
            ("name", "stage", "amount", "currency", "probability", "closeDate"),
            "stage", "id desc", ("StageHistory", "Invoices", "Projects", "Tasks"),
            ("Client", "Contact"),
        ),
        Page(
            "Invoices", "Invoices", "Invoice", "number",
            ("number", "type", "status", "issueDate", "dueDate", "total", "amountDue", "currency"),
            "status", "id desc", ("LineItems", "Payments", "CreditNotes"), ("Client",),
        ),
        Page(
            "Tickets", "Tickets", "Ticket", "subject",
            ("number", "subject", "status", "priority", "slaStatus", "createdAt"),
            "status", "id desc", ("KbArticles", "Documents"), ("Client", "Contact"),
        ),
        Page(
            "KbArticles", "Knowledge base", "Article", "title",
            ("title", "status", "visibility", "category", "language", "updatedAt"),
            "status", "title", ("Revisions", "Tickets"),
        ),
        Page(
            "Documents", "Documents", "Document", "name",
            ("name", "category", "status", "fileName", "size", "createdAt"),
            "status", "id desc", ("Versions", "Shares"), ("Client",),
        ),
        Page(
            "Tasks", "Tasks", "Task", "title",
            ("title", "status", "priority", "dueAt", "isOverdue"),
            "status", "id desc", ("Subtasks",), ("Project",),
        ),
        Page(
            "Projects", "Projects", "Project", "name",
            ("code", "name", "status", "startDate", "endDate", "progressPercent", "budgetAmount"),
            "status", "name", ("Tasks", "Documents", "Invoices"), ("Client",),
        ),
    )
}  # fmt: skip


def page_of(path: str) -> Page:
    """The page of an address.

    Raises: NotFoundError.
    """
    if path not in PAGES:
        raise NotFoundError("There is no such page.")
    return PAGES[path]


def page_of_type(name: str) -> Page | None:
    """The page of the records of an entity type; None for one without."""
    for page in PAGES.values():
        if page.entity_set.type.name == name:
            return page
    return None
