"""What is worth saying of a record of each type: facts, open items, history. Data, not code.

A template names properties as OData does; a fact with one that is not set is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_OPEN_TASKS = "status eq 'Todo' or status eq 'InProgress' or status eq 'Blocked'"
_OPEN_TICKETS = "status ne 'Solved' and status ne 'Closed'"
_OPEN_INVOICES = "status eq 'Sent' or status eq 'PartiallyPaid'"


@dataclass(frozen=True)
class Listing:
    """Related records: along a navigation property, those that meet ``condition``.

    ``entity`` is their type when each has an address of its own; None where they are parts.
    ``overdue``: whether a line says so of a record that is.
    """

    navigation: str
    title: str
    line: str
    entity: str | None = None
    condition: str = ""
    order: str = "id desc"
    most: int = 5
    overdue: bool = False


@dataclass(frozen=True)
class Profile:
    """What a summary of a record says."""

    facts: tuple[str, ...]
    listings: tuple[Listing, ...] = ()


_TASKS = Listing(
    "Tasks", "Open tasks", "{title} ({status}, {priority})", "Task", _OPEN_TASKS,
    "dueAt,id", overdue=True,
)  # fmt: skip
_TICKETS = Listing(
    "Tickets", "Open tickets", "{number} {subject} ({status}, {priority})", "Ticket",
    _OPEN_TICKETS, "priority desc,id",
)  # fmt: skip
_DEALS = Listing(
    "Opportunities", "Open opportunities", "{name}: {amount} in {stage}", "Opportunity",
    "status eq 'Open'", "amount desc,id",
)  # fmt: skip

PROFILES: Mapping[str, Profile] = {
    "Client": Profile(
        (
            "{name} ({number}) is a client of the type {type}, status {status}.",
            "Invoiced in all: {invoicedTotal}.",
            "Outstanding balance: {outstandingBalance}.",
            "Credit balance: {creditBalance}.",
            "Last activity: {lastActivityAt}.",
        ),
        (
            Listing(
                "Invoices", "Unpaid invoices", "{number}: {amountDue} due on {dueDate}",
                "Invoice", _OPEN_INVOICES, "dueDate,id", overdue=True,
            ),
            _DEALS, _TICKETS, _TASKS,
        ),
    ),
    "Contact": Profile(
        (
            "{fullName} is a contact.", "Job title: {jobTitle}.", "E-mail: {email}.",
            "Phone: {phone}.",
        ),
        (_DEALS, _TICKETS, _TASKS),
    ),
    "Lead": Profile(
        (
            "The lead {fullName} has the status {status}.", "Company: {company}.",
            "Source: {source}.", "Rating: {rating}.", "Score: {score}.",
            "Estimated value: {estimatedValue}.", "Next activity: {nextActivityAt}.",
            "Converted on {convertedAt}.",
        ),
        (_TASKS,),
    ),
    "Opportunity": Profile(
        (
            "{name} is {status}, in the stage {stage} with a probability of {probability} %.",
            "Amount: {amount}.", "Weighted amount: {weightedAmount}.",
            "Expected to close on {closeDate}.", "Next step: {nextStep}.",
            "Competitor: {competitor}.", "Lost because of: {lostReason}.",
        ),
        (
            _TASKS,
            Listing("StageHistory", "Stages so far", "{to} since {at}", None, "", "at desc"),
        ),
    ),
    "Ticket": Profile(
        (
            "{number} \N{LEFT DOUBLE QUOTATION MARK}{subject}\N{RIGHT DOUBLE QUOTATION MARK} is"
            " {status} with the priority {priority}.",
            "Service level: {slaStatus}.", "First response due: {firstResponseDueAt}.",
            "Resolution due: {resolutionDueAt}.", "Category: {category}.",
            "Resolution: {resolution}.", "Solved on {solvedAt}.",
        ),
        (
            Listing("Comments", "Last comments", "{createdAt}: {body}", None, "", "id desc", 3),
            _TASKS,
            Listing("KbArticles", "Linked articles", "{title}", "KbArticle", "", "id"),
        ),
    ),
    "Invoice": Profile(
        (
            "Invoice {number} has the status {status}.", "Total: {total}.",
            "Paid: {amountPaid}.", "Credited: {amountCredited}.", "Still due: {amountDue}.",
            "Issued on {issueDate}.", "Due on {dueDate}.", "Overdue: {isOverdue}.",
            "Paid on {paidAt}.",
        ),
        (
            Listing("Payments", "Payments", "{date}: {amount} by {method} ({status})", None, "",
                    "date desc,id desc"),
            Listing("LineItems", "Lines", "{description}: {lineTotal}", None, "", "position"),
            _TASKS,
        ),
    ),
    "KbArticle": Profile(
        (
            "{title} is {status} ({visibility}).", "Summary: {summary}",
            "Category: {category}.", "Revision {version}.", "Published on {publishedAt}.",
            "Read {viewCount} times; found helpful {helpfulCount} times, not helpful"
            " {notHelpfulCount} times.",
        ),
        (Listing("Tickets", "Tickets it helped", "{number} {subject}", "Ticket"),),
    ),
    "Document": Profile(
        (
            "{name} is a document of the category {category}, status {status}.",
            "Version {version}.", "Downloaded {downloadCount} times.", "Expires on {expiresAt}.",
        ),
        (_TASKS,),
    ),
    "Task": Profile(
        (
            "{title} has the status {status} and the priority {priority}.", "Due on {dueAt}.",
            "Overdue: {isOverdue}.", "Completed on {completedAt}.",
        ),
        (Listing("Subtasks", "Subtasks", "{title} ({status})", "Task", "", "position,id"),),
    ),
    "Project": Profile(
        (
            "{name} ({code}) is {status}.", "Progress: {progressPercent} %.",
            "Open tasks: {openTaskCount}.", "Hours spent: {hoursSpent}.",
            "Budget: {budgetAmount}.", "Budgeted hours: {budgetHours}.", "Ends on {endDate}.",
            "Overdue: {isOverdue}.",
        ),
        (
            Listing("Tasks", "Open tasks", "{title} ({status})", "Task", _OPEN_TASKS, "dueAt,id",
                    overdue=True),
        ),
    ),
}  # fmt: skip

# What is told when it is asked for, and left out of a summary.
RELATED: Mapping[str, tuple[Listing, ...]] = {
    "Client": (
        Listing("Contacts", "Main contact", "{fullName}, {jobTitle}, {email}, {phone}", "Contact",
                "isPrimary eq true", "id", 1),
    ),
}  # fmt: skip
# Facts that are none while they are 0.
SILENT_ZEROS = frozenset(("amountCredited", "creditBalance"))
# Who has to do with a record: navigation properties, what they are called, what names them.
PEOPLE: Mapping[str, tuple[str, ...]] = {
    "Owner": ("owner", "owns", "responsible"),
    "Assignee": ("assignee", "assigned", "works on", "working on", "does"),
    "Manager": ("manager", "manages", "leads"), "Author": ("author", "wrote"),
    "Client": ("client", "customer", "company"), "Contact": ("contact",),
}  # fmt: skip
NAMED_BY: Mapping[str, str] = {"Client": "name", "Contact": "fullName"}
# What people say -> the property that they mean; names of properties are understood anyway.
SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "Client": {
        "balance": "outstandingBalance", "owe": "outstandingBalance",
        "owes": "outstandingBalance", "outstanding": "outstandingBalance",
        "credit": "creditBalance", "vat": "taxId", "tax": "taxId", "mail": "email",
        "payment terms": "paymentTermsDays", "address": "billingAddress", "site": "website",
        "email address": "email", "mail address": "email", "web address": "website",
        "where": "billingAddress", "located": "billingAddress", "last contact": "lastActivityAt",
        "last in touch": "lastActivityAt", "become": "createdAt", "client since": "createdAt",
        "customer since": "createdAt",
    },
    "Contact": {"mail": "email", "position": "jobTitle", "job": "jobTitle", "name": "fullName"},
    "Lead": {"value": "estimatedValue", "worth": "estimatedValue", "mail": "email"},
    "Opportunity": {
        "close": "closeDate", "value": "amount", "worth": "amount", "chance": "probability",
        "likely": "probability", "weighted": "weightedAmount",
    },
    "Ticket": {
        "due": "resolutionDueAt", "sla": "slaStatus", "service level": "slaStatus",
        "urgency": "priority", "urgent": "priority", "solution": "resolution",
        "problem": "description", "question": "description", "about": "description",
    },
    "Invoice": {
        "balance": "amountDue", "owed": "amountDue", "left": "amountDue", "open": "amountDue",
        "due": "dueDate", "deadline": "dueDate", "paid": "amountPaid", "amount": "total",
        "tax": "taxTotal", "vat": "taxTotal", "net": "subtotal", "overdue": "isOverdue",
        "reminders": "remindersSent",
    },
    "KbArticle": {"views": "viewCount", "helpful": "helpfulCount", "expire": "expiresAt"},
    "Document": {"size": "size", "downloads": "downloadCount", "expire": "expiresAt"},
    "Task": {"due": "dueAt", "deadline": "dueAt", "overdue": "isOverdue"},
    "Project": {
        "progress": "progressPercent", "budget": "budgetAmount", "hours": "hoursSpent",
        "deadline": "endDate", "end": "endDate", "start": "startDate", "overdue": "isOverdue",
    },
}  # fmt: skip
# After "how much" a word may mean an amount that means something else otherwise.
AMOUNTS: Mapping[str, Mapping[str, str]] = {"Invoice": {"due": "amountDue", "owe": "amountDue"}}
