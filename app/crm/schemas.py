"""What the operations of customer relations look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import post_load

from app.crm.conversion import CREATE, FAIL, LINK, Wishes, check_wishes
from app.crm.opportunities import OPPORTUNITIES
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant, JsonBoolean

_KEY = validate.Range(1, 2**63 - 1)
_OPPORTUNITY = OPPORTUNITIES.rules


def _key(name: str, description: str, **more: Any) -> fields.Integer:
    return fields.Integer(
        data_key=name, strict=True, allow_none=True, validate=_KEY,
        metadata={"description": description, **more},
    )  # fmt: skip


class NewOpportunitySchema(Schema):
    """The opportunity to make; what is left out is what the lead says."""

    name = _OPPORTUNITY.field("name", required=False, metadata={"example": "Training 2026"})
    amount = _OPPORTUNITY.field("amount", metadata={"example": 1200})
    stage = _OPPORTUNITY.field("stage")
    closeDate = _OPPORTUNITY.field("close_date")


class ConvertSchema(CheckedSchema):
    """How to convert a lead; everything may be left out."""

    def check(self, given: dict[str, Any]) -> None:
        """As what the conversion makes is checked."""
        check_wishes(given)

    client_id = _key("clientId", "Client to link; else one is found or made.", example=None)
    contact_id = _key("contactId", "Contact to link; else one is found or made.", example=None)
    opportunity_id = _key("opportunityId", "Opportunity to link.", example=None)
    create_contact = JsonBoolean(
        data_key="createContact", metadata={"description": "Default: true."}
    )
    create_opportunity = JsonBoolean(
        data_key="createOpportunity",
        metadata={"description": "Default: whether `opportunity` is given.", "example": True},
    )
    opportunity = fields.Nested(NewOpportunitySchema, allow_none=True)
    client = fields.Dict(
        keys=fields.String(),
        metadata={
            "description": "Properties of a client that go before what the lead says.",
            "additionalProperties": True,
            "example": {"paymentTermsDays": 14},
        },
    )
    on_duplicate = fields.String(
        data_key="onDuplicate",
        validate=validate.OneOf((LINK, CREATE, FAIL)),
        metadata={
            "description": "What to do with a client of the same e-mail address or tax number."
            " Default: link."
        },
    )
    owner_id = _key("ownerId", "Owner of what is made; default: the lead's.", example=None)

    @post_load
    def make(self, given: dict[str, Any], **_: Any) -> Wishes:
        """The wishes."""
        return Wishes(**given)


class ConvertedClientSchema(Schema):
    """The client of a converted lead; ``id`` is null where a dry run would make it."""

    id = fields.Integer(allow_none=True)
    name = fields.String()
    email = fields.String(allow_none=True)
    status = fields.String(metadata={"example": "Active"})
    created = fields.Boolean()


class ConvertedContactSchema(Schema):
    """The contact of a converted lead."""

    id = fields.Integer(allow_none=True)
    fullName = fields.String()
    created = fields.Boolean()


class ConvertedOpportunitySchema(Schema):
    """The opportunity of a converted lead."""

    id = fields.Integer(allow_none=True)
    name = fields.String()
    stage = fields.String(metadata={"example": "Prospecting"})
    amount = fields.Decimal()


class MovedSchema(Schema):
    """How many records went over to the client."""

    tasks = fields.Integer()
    documents = fields.Integer()


class ConversionSchema(Schema):
    """What a lead became."""

    leadId = fields.Integer()
    status = fields.String(metadata={"example": "Converted"})
    convertedAt = Instant()
    clientId = fields.Integer(allow_none=True)
    contactId = fields.Integer(allow_none=True)
    opportunityId = fields.Integer(allow_none=True)
    client = fields.Nested(ConvertedClientSchema)
    contact = fields.Nested(ConvertedContactSchema, allow_none=True)
    opportunity = fields.Nested(ConvertedOpportunitySchema, allow_none=True)
    matchedBy = fields.String(
        allow_none=True, validate=validate.OneOf(("email", "taxId", "explicit"))
    )
    moved = fields.Nested(MovedSchema)


class MergeClientsSchema(Schema):
    """Which client goes into the one of the address."""

    source_id = fields.Integer(
        data_key="sourceId", required=True, strict=True, validate=_KEY,
        metadata={"description": "Client that is merged, and deleted.", "example": 2},
    )  # fmt: skip


class MergedRowsSchema(Schema):
    """How many records went over."""

    contacts = fields.Integer()
    opportunities = fields.Integer()
    leads = fields.Integer()
    tickets = fields.Integer()
    projects = fields.Integer()
    invoices = fields.Integer()
    payments = fields.Integer()
    tasks = fields.Integer()
    documents = fields.Integer()


class BalancesSchema(Schema):
    """The balances of the client, in its currency."""

    invoicedTotal = fields.Decimal()
    outstandingBalance = fields.Decimal()
    creditBalance = fields.Decimal()


class MergedClientSchema(Schema):
    """The client that stays, as it is after the merge."""

    id = fields.Integer()
    number = fields.String(metadata={"example": "C-000001"})
    name = fields.String(metadata={"example": "Acme GmbH"})
    email = fields.String(allow_none=True)
    taxId = fields.String(allow_none=True)
    status = fields.String(metadata={"example": "Active"})


class MergedClientsSchema(Schema):
    """What a merge of clients did, or would do."""

    clientId = fields.Integer()
    sourceId = fields.Integer()
    client = fields.Nested(MergedClientSchema)
    filled = fields.List(
        fields.String(),
        metadata={"description": "Properties that were empty before.", "example": ["phone"]},
    )
    moved = fields.Nested(MergedRowsSchema)
    balances = fields.Nested(BalancesSchema)
