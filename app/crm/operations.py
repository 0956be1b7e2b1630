"""The operations of customer relations."""

from __future__ import annotations

from app.crm.conversion import convert_lead
from app.crm.conversion_answer import describe_conversion, describe_trial
from app.crm.merging import merge_clients
from app.crm.merging_answer import describe_merge
from app.crm.pipeline import pipeline_summary
from app.crm.pipeline_schemas import SummaryQuerySchema, SummarySchema
from app.crm.schemas import (
    ConversionSchema,
    ConvertSchema,
    MergeClientsSchema,
    MergedClientsSchema,
)
from app.operations.declaration import Button, Operation

CONVERT = Operation(
    name="Convert",
    bound_to="Lead",
    action="convert",
    path="/leads/<int:lead_id>/convert",
    permissions=("leads:convert",),
    description="""Convert a lead into a client, a contact and, on request, an opportunity.

    A client with the same e-mail address or tax number is linked, and only what is empty there is
    filled. Tasks and documents move to the client. A second call is 409 `ALREADY_CONVERTED`.""",
    arguments=ConvertSchema,
    run=convert_lead,
    answer=describe_conversion,
    answer_of_trial=describe_trial,
    answers=ConversionSchema,
    button=Button(label="Convert to client", done="Lead converted.", page="convert"),
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
    arguments=MergeClientsSchema,
    run=merge_clients,
    answer=describe_merge,
    answers=MergedClientsSchema,
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
    arguments=SummaryQuerySchema,
    run=pipeline_summary,
    answers=SummarySchema,
)
OPERATIONS = (CONVERT, MERGE_CLIENTS, PIPELINE_SUMMARY)
