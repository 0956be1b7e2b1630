"""Entity types Lead, Opportunity and StageChange."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Integer

from app.container.common import (
    FULL_NAME,
    business_type,
    documents_of,
    expressed,
    refers,
    servers,
    tasks_about,
)
from app.db.late_values import dynamic
from app.models.lead import Lead
from app.models.opportunity import Opportunity, StageChange
from app.odata.model import edm
from app.odata.model.declare import prop, to_many
from app.odata.sql.dialect_sql import DialectSql


def _days_in_stage(columns: Any, rights: Any) -> ColumnElement[Any]:
    """Whole days since the stage changed."""
    return DialectSql(
        Integer(),
        "CAST(julianday({0}) - julianday({1}) AS INTEGER)",
        "CAST(floor(extract(epoch FROM ({0} - {1})) / 86400) AS INTEGER)",
        dynamic("now"),
        columns.stage_changed_at,
    )


LEAD = business_type(
    Lead,
    [
        "first_name", "last_name",
        FULL_NAME,
        "company", "job_title", "email", "phone", "website", "tax_id", "industry", "country",
        "source", "status", "rating", "score", "estimated_value", "currency", "description",
        "next_activity_at", "do_not_contact", "consent_at", "disqualify_reason", "disqualify_notes",
        "converted_at", "converted_by_id", "converted_client_id", "converted_contact_id",
        "converted_opportunity_id", "status_changed_at",
    ],
    [
        refers("converted_client_id"),
        refers("converted_contact_id"),
        refers("converted_opportunity_id"),
        tasks_about("Lead"),
        documents_of("Lead"),
    ],
    resource="leads",
    description="A possible customer that nobody has qualified yet.",
)  # fmt: skip

OPPORTUNITY = business_type(
    Opportunity,
    [
        "name", "client_id", "contact_id", "amount", "currency", "stage", "pipeline", "probability",
        "close_date", "type", "source", "next_step", "competitor", "lost_reason", "lost_notes",
        "description", "status", "weighted_amount", "exchange_rate", "base_amount", "lead_id",
        "stage_changed_at", "previous_stage", "closed_at",
        expressed(
            "days_in_stage", edm.INT32, _days_in_stage, "Whole days since the stage changed."
        ),
    ],
    [
        refers("client_id", partner="Opportunities", searched=True),
        refers("contact_id", partner="Opportunities"),
        refers("lead_id"),
        to_many(
            "StageHistory", "StageChange", "opportunity_id", contained=True,
            description="Steps through the pipeline.",
        ),
        to_many("Invoices", "Invoice", "opportunity_id"),
        to_many("Projects", "Project", "opportunity_id"),
        tasks_about("Opportunity"),
        documents_of("Opportunity"),
    ],
    filled=("currency", "probability"),
    resource="opportunities",
    description="A sale that may be won.",
)  # fmt: skip

STAGE_CHANGE = business_type(
    StageChange,
    [
        prop(StageChange.__table__.c.from_stage, "from", computed=True),
        prop(StageChange.__table__.c.to_stage, "to", computed=True),
        *servers(StageChange, "at", "by_id", "seconds"),
    ],
    resource="opportunities",
    description="A step of an opportunity from one stage to another.",
)
