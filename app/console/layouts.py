"""What stands where on the page of a record: its head, its groups, the step that comes next.

A property that no group names falls into *Details*, so a new one is shown without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.console.steps import Step

# The context of titles: a group may be called as something else is.
GROUP = "group"


@dataclass(frozen=True)
class Group:
    """Properties under a heading."""

    title: str
    properties: Sequence[str]


@dataclass(frozen=True)
class Layout:
    """The page of an entity.

    ``head`` are the facts beside the name. ``sections`` follow: groups, and names of navigation
    properties where their rows stand among them. ``elsewhere`` is what the page shows in a part of
    its own. ``next_steps`` is the step that most likely follows, by state.
    """

    head: Sequence[str]
    sections: Sequence[Group | str] = ()
    elsewhere: Sequence[str] = ()
    next_steps: Mapping[str, str] = field(default_factory=dict)

    @property
    def groups(self) -> list[Group]:
        """The groups among the sections."""
        return [section for section in self.sections if isinstance(section, Group)]

    def named(self) -> set[str]:
        """Every property that has its place."""
        grouped = (name for group in self.groups for name in group.properties)
        return {*self.head, *self.elsewhere, *grouped}

    def details(self, names: Sequence[str]) -> list[str]:
        """Those of the names that have no place."""
        named = self.named()
        return [name for name in names if name not in named]


LAYOUTS: Mapping[str, Layout] = {
    "Clients": Layout(
        ("outstandingBalance", "revenue", "ownerId", "lastActivityAt"),
        (
            Group("Contact", ("email", "phone", "website", "billingAddress", "shippingAddress")),
            "Contacts",
            Group("Billing", ("taxId", "invoiceEmail", "currency", "paymentTermsDays",
                              "creditLimit", "invoicedTotal", "creditBalance")),
            Group("Notes", ("notes", "tags", "doNotContact")),
        ),
    ),
    "Contacts": Layout(
        ("clientId", "jobTitle", "email", "phone", "ownerId"),
        (
            Group("Person", ("firstName", "lastName", "department", "mobile", "language",
                             "isPrimary", "receivesInvoices", "doNotContact")),
            Group("Notes", ("notes", "tags")),
        ),
    ),
    "Leads": Layout(
        ("company", "estimatedValue", "rating", "source", "ownerId", "nextActivityAt"),
        (
            Group("Contact", ("jobTitle", "email", "phone", "website", "country", "industry")),
            Group("About", ("description", "tags")),
            Group("Outcome", ("convertedClientId", "convertedContactId", "convertedOpportunityId",
                              "convertedAt", "convertedById", "disqualifyReason",
                              "disqualifyNotes")),
        ),
        next_steps={
            "New": "status:Contacted", "Contacted": "status:Qualified",
            "Nurturing": "status:Qualified", "Qualified": "convert",
        },
    ),
    "Opportunities": Layout(
        ("clientId", "amount", "probability", "closeDate", "ownerId"),
        (
            Group("Next", ("nextStep", "contactId", "weightedAmount", "competitor")),
            Group("About", ("description", "type", "source", "leadId", "tags")),
            Group("Outcome", ("closedAt", "lostReason", "lostNotes")),
        ),
        next_steps={
            "Prospecting": "stage:Qualification", "Qualification": "stage:Proposal",
            "Proposal": "stage:Negotiation", "Negotiation": "stage:ClosedWon",
        },
    ),
    "Invoices": Layout(
        ("clientId", "total", "amountDue", "issueDate", "dueDate", "ownerId"),
        (
            "LineItems",
            "Payments",
            "CreditNotes",
            Group("Parties", ("buyer", "seller")),
            Group("References", ("creditedInvoiceId", "reference", "purchaseOrder",
                                 "buyerReference", "contactId", "opportunityId", "projectId",
                                 "serviceDate")),
            Group("Notes", ("notes", "terms", "internalNotes", "voidReason", "tags")),
        ),
        ("subtotal", "discountTotal", "taxTotal", "taxBreakdown", "amountPaid", "amountCredited"),
        next_steps={
            "Draft": "send", "Sent": "payment", "PartiallyPaid": "payment",
            "Uncollectible": "payment",
        },
    ),
    "Products": Layout(
        ("sku", "unitPrice", "unitCode", "taxRate", "taxCategory", "isActive"),
        (
            Group("Billing", ("description", "currency", "pricesIncludeTax",
                                  "taxExemptionReason")),
            Group("About", ("tags",)),
        ),
    ),
    "Tickets": Layout(
        ("clientId", "contactId", "requesterEmail", "priority", "assigneeId"),
        (
            Group("Request", ("type", "channel", "category", "language", "pendingUntil", "tags")),
            Group("Outcome", ("resolution", "satisfactionRating", "solvedAt", "closedAt",
                              "mergedIntoId")),
        ),
        ("description", "slaStatus", "firstResponseDueAt", "firstRespondedAt",
         "resolutionDueAt"),
    ),
    "KbArticles": Layout(
        ("category", "language", "visibility", "publishedAt", "ownerId"),
        (Group("Use", ("viewCount", "helpfulCount", "notHelpfulCount", "reviewDueAt", "expiresAt",
                       "tags")),),
        ("body", "bodyFormat", "summary"),
        next_steps={"Draft": "status:InReview", "InReview": "status:Published"},
    ),
    "Documents": Layout(
        ("clientId", "entityId", "category", "folder", "size", "ownerId"),
        (Group("About", ("description", "tags", "expiresAt", "retainUntil")),),
    ),
    "Tasks": Layout(
        ("dueAt", "assigneeId", "priority", "projectId", "relatedId"),
        (
            Group("About", ("description", "tags")),
            Group("Time", ("startAt", "reminderAt", "estimatedHours", "actualHours", "billable",
                           "hourlyRate", "completedAt")),
        ),
        next_steps={"Todo": "status:InProgress", "InProgress": "status:Done",
                    "Blocked": "status:InProgress"},
    ),
    "Projects": Layout(
        ("clientId", "managerId", "startDate", "endDate", "progressPercent", "openTaskCount"),
        (
            Group("About", ("description", "tags")),
            Group("Budget", ("budgetAmount", "budgetHours", "hoursSpent", "billingType",
                             "hourlyRate", "currency")),
        ),
        next_steps={"Planned": "status:Active", "Active": "status:Completed",
                    "OnHold": "status:Active"},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Offered:
    """The steps of a record: the one that comes next, other states, the others, the menu's."""

    main: Step | None
    states: list[Step]
    others: list[Step]
    menu: list[Step]


def arranged(layout: Layout, state: Any, steps: Sequence[Step]) -> Offered:
    """Steps by how likely they are and what they cost: what is hard to undo is in the menu."""
    next_step = layout.next_steps.get(str(state))
    main = next((step for step in steps if step.value == next_step), None)
    rest = [step for step in steps if step is not main and step.value != "delete"]
    return Offered(
        main,
        [step for step in rest if step.is_state],
        [step for step in rest if not step.is_state and not step.dangerous],
        [step for step in rest if not step.is_state and step.dangerous],
    )


def filled(names: Sequence[str], record: Mapping[str, Any]) -> Iterator[str]:
    """Those of the properties that have a value."""
    return (name for name in names if record.get(name) not in (None, "", [], {}))
