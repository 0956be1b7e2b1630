"""The operations of customer relations."""

from __future__ import annotations

from typing import Any

from app.crm import schemas
from app.crm.clients import CLIENTS, CONTACTS
from app.crm.conversion import Conversion, convert_lead
from app.crm.leads import LEADS
from app.crm.merging import Merge, merge_clients
from app.crm.opportunities import OPPORTUNITIES
from app.crm.pipeline import pipeline_summary
from app.http.schema_parts import answer_body
from app.operations.declaration import Button, Operation


def describe_conversion(conversion: Conversion) -> dict[str, Any]:
    """The body of contract 11.1."""
    return _described(conversion, is_trial=False)


def describe_trial(conversion: Conversion) -> dict[str, Any]:
    """The body for a dry run: records that it would create have no id."""
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
    return answer_body(schemas.ConvertedClientSchema, CLIENTS.stored(key), created=created)


def _contact(key: int | None, created: bool) -> dict[str, Any] | None:
    if key is None:
        return None
    row = CONTACTS.stored(key)
    full_name = " ".join(part for part in (row.first_name, row.last_name) if part)
    return answer_body(schemas.ConvertedContactSchema, row, full_name=full_name, created=created)


def _opportunity(key: int | None) -> dict[str, Any] | None:
    return (
        None
        if key is None
        else answer_body(schemas.ConvertedOpportunitySchema, OPPORTUNITIES.stored(key))
    )


def describe_merge(merge: Merge) -> dict[str, Any]:
    """The client that stays, what it got, and what moved."""
    client = CLIENTS.stored(merge.client_id)
    return {
        "clientId": merge.client_id,
        "sourceId": merge.source_id,
        "client": answer_body(schemas.MergedClientSchema, client),
        "filled": list(merge.filled),
        "moved": {table: merge.moved.get(table, 0) for table in schemas.MergedRowsSchema().fields},
        "balances": answer_body(schemas.BalancesSchema, client),
    }


CONVERT = Operation(
    name="Convert",
    bound_to="Lead",
    action="convert",
    path="/leads/<int:lead_id>/convert",
    permissions=("leads:convert",),
    description="""Convert a lead into a client, a contact and, on request, an opportunity.

    A client with the same e-mail address or tax number is linked, and only what is empty there is
    filled. Tasks and documents move to the client. A second call is 409 `ALREADY_CONVERTED`.""",
    arguments=schemas.ConvertSchema,
    run=convert_lead,
    answer=describe_conversion,
    answer_of_trial=describe_trial,
    answers=schemas.ConversionSchema,
    button=Button(
        label="Convert to client",
        page="convert",
        asks=("onDuplicate", "createContact", "createOpportunity"),
    ),
    asked_by=("wandle um", "konvertiere", "convertis", "convierte", "converti"),
)
MERGE_CLIENTS = Operation(
    name="Merge",
    bound_to="Client",
    action="merge",
    path="/clients/<int:client_id>/merge",
    permissions=("clients:update", "clients:delete"),
    description="""Merge another client into this one, which stays: the other is deleted.

    Contacts, opportunities, tickets, projects, invoices, payments, tasks and documents move;
    what is empty is filled; balances add up. Issued invoices keep the buyer that is printed on
    them. It cannot be undone: `dryRun` tells all beforehand.""",
    arguments=schemas.MergeClientsSchema,
    run=merge_clients,
    answer=describe_merge,
    answers=schemas.MergedClientsSchema,
    returns="Client",
    key_of=lambda merge: merge.client_id,
    asked_by=("führe zusammen", "fusionne", "fusiona", "unisci"),
)
PIPELINE_SUMMARY = Operation(
    name="PipelineSummary",
    changes=False,
    path="/pipeline/summary",
    permissions=("pipeline:read",),
    description="""Sum up the pipeline: amounts by stage, what was won and lost, how long it took.

    Amounts are in the currency of the organisation, by the exchange rate that each opportunity
    keeps; those in a currency without a rate are told apart. All stages are listed.""",
    arguments=schemas.SummaryQuerySchema,
    run=pipeline_summary,
    answers=schemas.SummarySchema,
)
OPERATIONS = (CONVERT, MERGE_CLIENTS, PIPELINE_SUMMARY)
