"""The operations of customer relations."""

from __future__ import annotations

from typing import Any

from app.crm import schemas
from app.crm.clients import CLIENTS, CONTACTS, full_name
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
    def key_told(key: int | None, is_new: bool) -> int | None:
        return None if is_trial and is_new else key

    lead = LEADS.stored(conversion.lead_id)
    client_created = conversion.matched_by is None
    client_id = key_told(conversion.client_id, client_created)
    contact_id = key_told(conversion.contact_id, conversion.contact_created)
    opportunity_id = key_told(conversion.opportunity_id, conversion.opportunity_created)
    contact = opportunity = None
    if conversion.contact_id is not None:
        row = CONTACTS.stored(conversion.contact_id)
        contact = answer_body(
            schemas.ConvertedContactSchema, row, id=contact_id, full_name=full_name(row),
            created=conversion.contact_created,
        )  # fmt: skip
    if conversion.opportunity_id is not None:
        deal = OPPORTUNITIES.stored(conversion.opportunity_id)
        opportunity = answer_body(schemas.ConvertedOpportunitySchema, deal, id=opportunity_id)
    client = answer_body(
        schemas.ConvertedClientSchema, CLIENTS.stored(conversion.client_id), id=client_id,
        created=client_created,
    )  # fmt: skip
    return answer_body(
        schemas.ConversionSchema, conversion, status=lead.status, converted_at=lead.converted_at,
        client_id=client_id, contact_id=contact_id, opportunity_id=opportunity_id, client=client,
        contact=contact, opportunity=opportunity,
        moved={"tasks": conversion.tasks, "documents": conversion.documents},
    )  # fmt: skip


def describe_merge(merge: Merge) -> dict[str, Any]:
    """The client that stays, what it got, and what moved."""
    client = CLIENTS.stored(merge.client_id)
    return answer_body(
        schemas.MergedClientsSchema, merge, filled=list(merge.filled),
        client=answer_body(schemas.MergedClientSchema, client),
        moved={table: merge.moved.get(table, 0) for table in schemas.MergedRowsSchema().fields},
        balances=answer_body(schemas.BalancesSchema, client),
    )  # fmt: skip


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
    asked_by=("wandle um", "umwandeln", "konvertiere", "convertis", "convierte", "converti"),
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
    button=Button(label="Merge", page="merge", is_dangerous=True),
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
