"""What the operations of customer relations look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import INCLUDE, post_load

from app.crm.conversion import CREATE, FAIL, LINK, Wishes, check_wishes
from app.crm.opportunities import OPPORTUNITIES
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant, JsonBoolean, OpenObject, PostBodySchema

_OPPORTUNITY = OPPORTUNITIES.rules


def _key(name: str, description: str, **more: Any) -> fields.Integer:
    return fields.Integer(
        data_key=name, strict=True, validate=validate.RECORD_KEY,
        metadata={"description": description, **more},
    )  # fmt: skip


class NewOpportunitySchema(PostBodySchema):
    """The opportunity to make; what is left out is what the lead says."""

    type_name = "ConversionOpportunity"

    name = _OPPORTUNITY.field("name", required=False, example="Training 2026")
    amount = _OPPORTUNITY.field("amount", example=1200)
    stage = _OPPORTUNITY.field("stage")
    close_date = _OPPORTUNITY.field("close_date", attribute="closeDate")


class ClientOverridesSchema(Schema):
    """Properties of a client that go before what the lead says."""

    class Meta:
        unknown = INCLUDE


class ConvertSchema(CheckedSchema, PostBodySchema):
    """How to convert a lead; everything may be left out."""

    checked_by = check_wishes

    client_id = _key("clientId", "Client to link; else one is found or made.", example=None)
    contact_id = _key("contactId", "Contact to link; else one is found or made.", example=None)
    opportunity_id = _key("opportunityId", "Opportunity to link.", example=None)
    create_contact = JsonBoolean(
        description="Default: true.",
        metadata={"label": "Make a contact of the person", "preset": "true"},
    )
    create_opportunity = JsonBoolean(
        description="Default: whether `opportunity` is given.",
        example=True,
        metadata={"label": "Make an opportunity"},
    )
    opportunity = fields.Nested(NewOpportunitySchema, description="The opportunity to make.")
    client = OpenObject(
        ClientOverridesSchema,
        metadata={
            "description": "Properties of a client that go before what the lead says.",
            "example": {"paymentTermsDays": 14},
        },
    )
    on_duplicate = fields.String(
        validate=validate.OneOf(
            (LINK, CREATE, FAIL), ("take the one there is", "make another", "stop")
        ),
        description="What to do with a client of the same e-mail address or tax number."
        " Default: link.",
        metadata={"label": "A client that is there already"},
    )
    owner_id = _key("ownerId", "Owner of what is made; default: the lead's.", example=None)

    @post_load
    def make(self, values: dict[str, Any], **_: Any) -> Wishes:
        """The wishes."""
        return Wishes(**values)


class ConvertedClientSchema(Schema):
    """The client of a converted lead; ``id`` is null where a dry run would make it."""

    id = fields.Integer(allow_none=True, description="Key of the client.")
    name = fields.String(description="Name.")
    email = fields.String(allow_none=True, description="E-mail address.")
    status = fields.String(description="Status.", example="Active")
    created = fields.Boolean(description="Whether it was made now.")


class ConvertedContactSchema(Schema):
    """The contact of a converted lead."""

    id = fields.Integer(allow_none=True, description="Key of the contact.")
    full_name = fields.String(description="Given and family name.")
    created = fields.Boolean(description="Whether it was made now.")


class ConvertedOpportunitySchema(Schema):
    """The opportunity of a converted lead."""

    id = fields.Integer(allow_none=True, description="Key of the opportunity.")
    name = fields.String(description="Name.")
    stage = fields.String(description="Stage.", example="Prospecting")
    amount = fields.Decimal(description="Amount, in the client's currency.")


class MovedSchema(Schema):
    """How many records went over to the client."""

    type_name = "MovedRecords"

    tasks = fields.Integer(description="Tasks that went over.")
    documents = fields.Integer(description="Documents that went over.")


class ConversionSchema(Schema):
    """What a lead became."""

    lead_id = fields.Integer(description="Key of the lead.")
    status = fields.String(description="Status of the lead now.", example="Converted")
    converted_at = Instant(description="When it was converted.")
    client_id = fields.Integer(allow_none=True, description="Key of the client.")
    contact_id = fields.Integer(allow_none=True, description="Key of the contact, if there is one.")
    opportunity_id = fields.Integer(
        allow_none=True, description="Key of the opportunity, if there is one."
    )
    client = fields.Nested(ConvertedClientSchema, description="The client, made or found.")
    contact = fields.Nested(
        ConvertedContactSchema, allow_none=True, description="The contact, made or found."
    )
    opportunity = fields.Nested(
        ConvertedOpportunitySchema, allow_none=True, description="The opportunity, made or linked."
    )
    matched_by = fields.String(
        allow_none=True,
        validate=validate.OneOf(("email", "taxId", "explicit")),
        description="By what a client was found.",
    )
    moved = fields.Nested(MovedSchema, description="What went over to the client.")


class MergeClientsSchema(PostBodySchema):
    """Which client goes into the one of the address."""

    source_id = fields.Integer(
        required=True, strict=True, validate=validate.RECORD_KEY,
        description="Client that is merged, and deleted.", example=2,
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

    invoiced_total = fields.Decimal()
    outstanding_balance = fields.Decimal()
    credit_balance = fields.Decimal()


class MergedClientSchema(Schema):
    """The client that stays, as it is after the merge."""

    id = fields.Integer()
    number = fields.String(example="C-000001")
    name = fields.String(example="Acme GmbH")
    email = fields.String(allow_none=True)
    tax_id = fields.String(allow_none=True)
    status = fields.String(example="Active")


class MergedClientsSchema(Schema):
    """What a merge of clients did, or would do."""

    client_id = fields.Integer()
    source_id = fields.Integer()
    client = fields.Nested(MergedClientSchema)
    filled = fields.List(
        fields.String(), description="Properties that were empty before.", example=["phone"]
    )
    moved = fields.Nested(MergedRowsSchema)
    balances = fields.Nested(BalancesSchema)
