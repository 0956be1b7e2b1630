"""``/api/crm``: what customer relations do besides keeping records."""

from __future__ import annotations

from typing import Any

from app.crm.area import area
from app.crm.operations import OPERATIONS
from app.crm.search import service
from app.crm.search.query import MAXIMUM, MINIMUM
from app.crm.search.service import TYPES
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import RECORD_SEARCH
from app.http.schema_fields import Schema
from app.http.schema_parts import limit_field
from app.importing import views
from app.operations.rest import publish


class SearchQuerySchema(Schema):
    """What to look for, and which part of what was found."""

    q = fields.String(
        required=True,
        description=f"Words to look for, {MINIMUM} to {MAXIMUM} characters. Case and"
        " accents do not matter, typing errors are forgiven.",
        example="acme",
    )
    type = fields.String(
        load_default="client",
        validate=validate.OneOf(TYPES),
        description="What to look among.",
        example="client",
    )
    limit = limit_field(RECORD_SEARCH)
    offset = fields.Integer(
        load_default=0,
        validate=validate.Range(0, 100_000),
        description="How many to leave out first.",
        example=0,
    )


class FoundSchema(Schema):
    """A record that was found; `highlight` is HTML, `score` is above 0 and at most 1."""

    type = fields.String(example="client")
    id = fields.Integer()
    title = fields.String(example="Acme GmbH")
    subtitle = fields.String(allow_none=True, example="office@acme.example")
    score = fields.Float(example=0.94)
    matched_fields = fields.List(fields.String(), example=["name"])
    highlight = fields.String(example="<mark>Acme</mark> GmbH")
    url = fields.String(example="/odata/Clients(1)")
    record = fields.Raw(
        metadata={
            "type": "object",
            "description": "Some properties of the record, as OData shows them.",
            "example": {
                "name": "Acme GmbH", "email": "office@acme.example", "taxId": "DE136695976",
                "status": "Active",
            },
        }
    )  # fmt: skip


class SearchAnswerSchema(Schema):
    """What was found, the best first."""

    query = fields.String(example="acme")
    type = fields.String(example="client")
    total = fields.Integer(description="Records on all pages.", example=1)
    items = fields.List(fields.Nested(FoundSchema))
    possible_duplicates = fields.List(
        fields.List(fields.Integer(), validate=validate.Length(equal=2)),
        description="Pairs of ids that may be the same, entered twice; under `all` of clients.",
        example=[[1, 7]],
    )


__all__ = ["area", "views"]

publish(area, *OPERATIONS)


@area.get("/search")
@area.arguments(SearchQuerySchema, location="query")
@area.response(200, SearchAnswerSchema)
def search(query: dict[str, Any]) -> dict[str, Any]:
    """Find clients, contacts, leads or opportunities, the best first.

    Every word must be there, at least inside another; what two letters are must begin a word.
    Case, accents and punctuation do not matter. Where fewer than ten records have what was typed,
    those with typing errors follow. Only records that you may read are found and counted.
    """
    return service.search(query.pop("q"), **query)
