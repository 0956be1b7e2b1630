"""A conversion as the answer shows it."""

from __future__ import annotations

from typing import Any

from app.crm.clients import CLIENTS
from app.crm.contacts import CONTACTS
from app.crm.conversion import Conversion
from app.crm.leads import LEADS
from app.crm.opportunities import OPPORTUNITIES
from app.crm.schemas import (
    ConvertedClientSchema,
    ConvertedContactSchema,
    ConvertedOpportunitySchema,
)
from app.http.schema_parts import answer_body


def describe_conversion(conversion: Conversion) -> dict[str, Any]:
    """The body of contract 11.1."""
    return _described(conversion, is_trial=False)


def describe_trial(conversion: Conversion) -> dict[str, Any]:
    """The same of a conversion that is undone: what was made is not there, and has no id."""
    return _described(conversion, is_trial=True)


def _described(conversion: Conversion, *, is_trial: bool) -> dict[str, Any]:
    lead = LEADS.stored(conversion.lead_id)
    client_created = conversion.matched_by is None
    client = _client(conversion.client_id, client_created)
    contact = _contact(conversion.contact_id, conversion.contact_created)
    opportunity = _opportunity(conversion.opportunity_id)
    if is_trial:
        created = (
            (client, client_created),
            (contact, conversion.contact_created),
            (opportunity, conversion.opportunity_created),
        )
        for representation, is_new in created:
            if representation is not None and is_new:
                representation["id"] = None
    return {
        "leadId": conversion.lead_id,
        "status": lead.status,
        "convertedAt": lead.converted_at,
        "clientId": client["id"],
        "contactId": contact and contact["id"],
        "opportunityId": opportunity and opportunity["id"],
        "client": client,
        "contact": contact,
        "opportunity": opportunity,
        "matchedBy": conversion.matched_by,
        "moved": {"tasks": conversion.tasks, "documents": conversion.documents},
    }


def _client(key: int, created: bool) -> dict[str, Any]:
    return answer_body(ConvertedClientSchema, CLIENTS.stored(key), created=created)


def _contact(key: int | None, created: bool) -> dict[str, Any] | None:
    if key is None:
        return None
    row = CONTACTS.stored(key)
    full_name = " ".join(part for part in (row.first_name, row.last_name) if part)
    return answer_body(ConvertedContactSchema, row, full_name=full_name, created=created)


def _opportunity(key: int | None) -> dict[str, Any] | None:
    return (
        None if key is None else answer_body(ConvertedOpportunitySchema, OPPORTUNITIES.stored(key))
    )
