"""Entity types Lead, Opportunity and StageChange."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Integer

from app.container.common import (
    business_type,
    common,
    documents_of,
    full_name,
    kept,
    key,
    money,
    owner,
    server,
    tasks_about,
)
from app.db.late_values import dynamic
from app.models.lead import Lead
from app.models.opportunity import Opportunity, StageChange
from app.odata.declare import prop, to_many, to_one
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql

_lead = Lead.__table__
_opportunity = Opportunity.__table__
_stage = StageChange.__table__


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
    "Lead",
    _lead,
    [
        key(_lead),
        prop(_lead.c.first_name),
        prop(_lead.c.last_name),
        edm.Property(
            name="fullName",
            type=edm.STRING,
            attribute="full_name",
            expression=full_name,
            computed=True,
            description="Given and family name.",
        ),
        prop(_lead.c.company),
        prop(_lead.c.job_title),
        prop(_lead.c.email),
        prop(_lead.c.phone),
        prop(_lead.c.website),
        prop(_lead.c.tax_id),
        prop(_lead.c.industry),
        prop(_lead.c.country),
        prop(_lead.c.source),
        kept(_lead.c.status),
        prop(_lead.c.rating),
        prop(_lead.c.score),
        money(_lead.c.estimated_value),
        prop(_lead.c.currency),
        prop(_lead.c.description),
        prop(_lead.c.next_activity_at),
        prop(_lead.c.do_not_contact),
        prop(_lead.c.consent_at),
        prop(_lead.c.disqualify_reason),
        prop(_lead.c.disqualify_notes),
        prop(_lead.c.converted_at),
        prop(_lead.c.converted_by_id),
        prop(_lead.c.converted_client_id),
        prop(_lead.c.converted_contact_id),
        prop(_lead.c.converted_opportunity_id),
        prop(_lead.c.status_changed_at),
        *common(_lead),
    ],
    [
        to_one("ConvertedClient", "Client", "converted_client_id", description="Client."),
        to_one("ConvertedContact", "Contact", "converted_contact_id", description="Contact."),
        to_one(
            "ConvertedOpportunity", "Opportunity", "converted_opportunity_id",
            description="Opportunity.",
        ),
        tasks_about("Lead"),
        documents_of("Lead"),
        owner(),
    ],
    resource="leads",
    etag="version",
    alternate_keys=(("external_id",),),
    description="A possible customer that nobody has qualified yet.",
)  # fmt: skip

OPPORTUNITY = business_type(
    "Opportunity",
    _opportunity,
    [
        key(_opportunity),
        prop(_opportunity.c.name),
        prop(_opportunity.c.client_id),
        prop(_opportunity.c.contact_id),
        money(_opportunity.c.amount),
        prop(_opportunity.c.currency, required=False, filled=True),
        kept(_opportunity.c.stage),
        prop(_opportunity.c.pipeline),
        prop(_opportunity.c.probability, required=False, filled=True),
        prop(_opportunity.c.close_date),
        prop(_opportunity.c.type),
        prop(_opportunity.c.source),
        prop(_opportunity.c.next_step),
        prop(_opportunity.c.competitor),
        prop(_opportunity.c.lost_reason),
        prop(_opportunity.c.lost_notes),
        prop(_opportunity.c.description),
        prop(_opportunity.c.status),
        money(_opportunity.c.weighted_amount),
        prop(_opportunity.c.exchange_rate),
        prop(_opportunity.c.base_amount),
        prop(_opportunity.c.lead_id),
        prop(_opportunity.c.stage_changed_at),
        prop(_opportunity.c.previous_stage),
        prop(_opportunity.c.closed_at),
        edm.Property(
            name="daysInStage",
            type=edm.INT32,
            attribute="days_in_stage",
            expression=_days_in_stage,
            nullable=False,
            computed=True,
            description="Whole days since the stage changed.",
        ),
        *common(_opportunity),
    ],
    [
        to_one(
            "Client", "Client", "client_id", partner="Opportunities", nullable=False,
            searched=True,
            description="Client who may buy.",
        ),
        to_one(
            "Contact", "Contact", "contact_id", partner="Opportunities", description="Contact."
        ),
        to_one("Lead", "Lead", "lead_id", description="Lead it came from."),
        to_many(
            "StageHistory", "StageChange", "opportunity_id", contained=True,
            description="Steps through the pipeline.",
        ),
        to_many("Invoices", "Invoice", "opportunity_id", description="Invoices."),
        to_many("Projects", "Project", "opportunity_id", description="Projects."),
        tasks_about("Opportunity"),
        documents_of("Opportunity"),
        owner(),
    ],
    resource="opportunities",
    etag="version",
    alternate_keys=(("external_id",),),
    description="A sale that may be won.",
)  # fmt: skip

STAGE_CHANGE = business_type(
    "StageChange",
    _stage,
    [
        key(_stage),
        server(_stage.c.from_stage, "from"),
        server(_stage.c.to_stage, "to"),
        server(_stage.c.at),
        server(_stage.c.by_id),
        server(_stage.c.seconds),
    ],
    resource="opportunities",
    description="A step of an opportunity from one stage to another.",
)
