"""``/api/crm``: what customer relations do besides keeping records."""

from __future__ import annotations

from typing import Any

from app.crm.area import area
from app.crm.conversion import Wishes, convert_lead
from app.crm.conversion_answer import describe_conversion
from app.crm.merging import merge_clients
from app.crm.merging_answer import describe_merge
from app.crm.pipeline import Selection, pipeline_summary
from app.crm.pipeline_schemas import SummaryQuerySchema, SummarySchema
from app.crm.schemas import (
    ConversionSchema,
    ConvertSchema,
    MergeClientsSchema,
    MergedClientsSchema,
)
from app.crm.search.schemas import SearchAnswerSchema, SearchQuerySchema
from app.crm.search.service import search as find
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.security import requires
from app.importing import views

__all__ = ["area", "views"]


@area.post("/leads/<int:lead_id>/convert")
@area.arguments(DryRunSchema, location="query")
@area.arguments(ConvertSchema)
@area.response(200, ConversionSchema)
@requires("leads:convert")
def convert(query: dict[str, Any], wishes: Wishes, lead_id: int) -> dict[str, Any]:
    """Convert a lead into a client, a contact and, on request, an opportunity.

    A client with the same e-mail address or tax number is linked, and only what is empty there is
    filled. Tasks and documents move to the client. A second call is 409 `ALREADY_CONVERTED`.
    """
    conversion = convert_lead(lead_id, wishes)
    answer = describe_conversion(conversion, dry_run=query["dry_run"])
    undo_if_dry(query)
    return answer


@area.get("/search")
@area.arguments(SearchQuerySchema, location="query")
@area.response(200, SearchAnswerSchema)
def search(query: dict[str, Any]) -> dict[str, Any]:
    """Find clients, contacts, leads or opportunities, the best first.

    Every word must be there, at least inside another; what two letters are must begin a word.
    Case, accents and punctuation do not matter. Where fewer than ten records have what was typed,
    those with typing errors follow. Only records that you may read are found and counted.
    """
    return find(query.pop("q"), **query)


@area.get("/pipeline/summary")
@area.arguments(SummaryQuerySchema, location="query")
@area.response(200, SummarySchema)
@requires("pipeline:read")
def summarise_pipeline(selection: Selection) -> dict[str, Any]:
    """Sum up the pipeline: amounts by stage, what was won and lost, how long it took.

    Amounts are in the currency of the organisation, by the exchange rate that each opportunity
    keeps; those in a currency without a rate are told apart. All stages are listed.
    """
    return pipeline_summary(selection)


@area.post("/clients/<int:client_id>/merge")
@area.arguments(DryRunSchema, location="query")
@area.arguments(MergeClientsSchema)
@area.response(200, MergedClientsSchema)
@requires("clients:update", "clients:delete")
def merge(query: dict[str, Any], body: dict[str, Any], client_id: int) -> dict[str, Any]:
    """Merge another client into this one, which stays: the other is deleted.

    Contacts, opportunities, tickets, projects, invoices, payments, tasks and documents move;
    what is empty is filled; balances add up. Issued invoices keep the buyer that is printed on
    them. It cannot be undone: `dryRun` tells all beforehand.
    """
    answer = describe_merge(merge_clients(client_id, body["source_id"]))
    undo_if_dry(query)
    return answer
