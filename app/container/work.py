"""Entity types Task, Project and User."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_

from app.container.common import (
    business_type,
    documents_of,
    expressed,
    refers,
    servers,
)
from app.db.late_values import dynamic
from app.models.project import Project, Task
from app.models.user import User
from app.odata.model import edm
from app.odata.model.declare import to_many
from app.writing.transitions import TASK_OPEN

OPEN_PROJECTS = ("Planned", "Active", "OnHold")


def _task_is_overdue(columns: Any, rights: Any) -> ColumnElement[Any]:
    return and_(
        columns.status.in_(TASK_OPEN),
        columns.due_at.is_not(None),
        columns.due_at < dynamic("now"),
    )


def _project_is_overdue(columns: Any, rights: Any) -> ColumnElement[Any]:
    return and_(
        columns.status.in_(OPEN_PROJECTS),
        columns.end_date.is_not(None),
        columns.end_date < dynamic("today"),
    )


TASK = business_type(
    Task,
    [
        "title", "description", "status", "priority", "assignee_id", "due_at", "start_at",
        "reminder_at", "project_id", "parent_task_id", "related_type", "related_id",
        "estimated_hours", "actual_hours", "billable", "hourly_rate", "position", "completed_at",
        expressed("is_overdue", edm.BOOLEAN, _task_is_overdue, "Open and past its due time."),
        "invoice_id",
    ],
    [
        refers("project_id", partner="Tasks", searched=True),
        refers("assignee_id"),
        refers("parent_task_id", partner="Subtasks"),
        to_many(
            "Subtasks", "Task", "parent_task_id", partner="ParentTask", description="Its parts."
        ),
        refers("invoice_id"),
        documents_of("Task"),
    ],
    filled=("assignee_id",),
    resource="tasks",
    description="Something to do.",
)  # fmt: skip

PROJECT = business_type(
    Project,
    [
        "code", "name", "client_id", "opportunity_id", "status", "description", "start_date",
        "end_date", "manager_id", "budget_amount", "budget_hours", "currency", "billing_type",
        "hourly_rate", "progress_percent", "hours_spent", "open_task_count",
        expressed("is_overdue", edm.BOOLEAN, _project_is_overdue, "Open and past its last day."),
        "completed_at",
    ],
    [
        refers("client_id", partner="Projects", searched=True),
        refers("opportunity_id"),
        refers("manager_id"),
        to_many("Tasks", "Task", "project_id", partner="Project"),
        documents_of("Project"),
        to_many("Invoices", "Invoice", "project_id", partner="Project"),
    ],
    filled=("manager_id", "currency"),
    resource="projects",
    alternate_keys=(("code",),),
    description="Work for a client with a budget.",
)  # fmt: skip

USER = business_type(
    User,
    [
        *servers(User, "display_name", "email"),
    ],
    [
        to_many("Tasks", "Task", "assignee_id", partner="Assignee", description="What to do."),
        to_many(
            "Tickets", "Ticket", "assignee_id", partner="Assignee", description="What to answer."
        ),
        to_many("Leads", "Lead", "owner_id", partner="Owner", description="Leads to qualify."),
        to_many(
            "Opportunities", "Opportunity", "owner_id", partner="Owner",
            description="Sales in progress.",
        ),
        to_many("Clients", "Client", "owner_id", partner="Owner"),
        to_many("Projects", "Project", "manager_id", partner="Manager"),
    ],
    resource="directory",
    description="A colleague, or the account of an integration.",
)  # fmt: skip
