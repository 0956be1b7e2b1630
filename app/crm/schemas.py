"""What the operations of customer relations look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import INCLUDE, ValidationError, post_load

from app.crm.conversion import CREATE, FAIL, LINK, Wishes, check_wishes
from app.crm.opportunities import OPPORTUNITIES
from app.crm.pipeline import Selection
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


class SummaryQuerySchema(Schema):
    """Which opportunities to sum up."""

    start = fields.Date(
        data_key="from",
        description="First day: of the expected close of open ones, of the close of"
                  " the others.", example="2026-01-01",
    )  # fmt: skip
    end = fields.Date(data_key="to", description="Last day, included.", example="2026-12-31")
    owner_id = fields.Integer(validate=validate.RECORD_KEY, description="Only those of one owner.")
    pipeline = fields.String(
        validate=validate.Length(1, 50), description="Only those of one pipeline.", example="Sales"
    )

    @post_load
    def make(self, values: dict[str, Any], **_: Any) -> Selection:
        """The selection."""
        selection = Selection(**values)
        if selection.start and selection.end and selection.end < selection.start:
            raise ValidationError("must not be before from", "to")
        if "\0" in (selection.pipeline or ""):
            raise ValidationError("has a character that no text has", "pipeline")
        return selection


class StageSumSchema(Schema):
    """The opportunities of one stage; days are null where none ever left or is in the stage."""

    type_name = "PipelineStage"

    stage = fields.String(description="Name of the stage.", example="Proposal")
    probability = fields.Integer(description="Win probability in percent.", example=50)
    count = fields.Integer(description="Opportunities in it.")
    amount = fields.Decimal(description="Sum of their amounts.", example=1000)
    weighted_amount = fields.Decimal(description="Sum of the amounts by probability.", example=500)
    average_days_in_stage = fields.Decimal(
        allow_none=True,
        metadata={
            "description": "Days that they have been in it, on average.",
            "example": 12.5, "scale": 1,
        },
    )  # fmt: skip


class PipelineTotalsSchema(Schema):
    """The pipeline as a whole."""

    open_count = fields.Integer(description="Open opportunities.")
    open_amount = fields.Decimal(description="Sum of their amounts.")
    weighted_amount = fields.Decimal(description="Sum of their amounts by probability.")
    won_count = fields.Integer(description="Opportunities won.")
    won_amount = fields.Decimal(description="Sum of the amounts won.")
    lost_count = fields.Integer(description="Opportunities lost.")
    lost_amount = fields.Decimal(description="Sum of the amounts lost.")
    win_rate = fields.Decimal(
        allow_none=True, description="Won of all closed, 0 to 1.", example=0.25
    )
    average_deal_size = fields.Decimal(
        allow_none=True, description="Average amount of what was won."
    )
    average_days_to_close = fields.Decimal(
        allow_none=True,
        metadata={"description": "Days from creation to the win, on average.", "scale": 1},
    )
    overdue_count = fields.Integer(description="Open ones whose expected close is past.")


class ExcludedSchema(Schema):
    """Opportunities in a currency without an exchange rate; they are in no other figure."""

    type_name = "PipelineExcluded"

    currency = fields.String(description="Currency (ISO 4217).", example="USD")
    count = fields.Integer(description="Opportunities in it.")
    amount = fields.Decimal(description="Sum of their amounts, in that currency.")


class PeriodSchema(Schema):
    """From which day to which."""

    type_name = "PipelinePeriod"

    start = fields.Date(
        data_key="from",
        attribute="from",
        allow_none=True,
        description="First day; null for no limit.",
    )
    end = fields.Date(
        data_key="to", attribute="to", allow_none=True, description="Last day; null for no limit."
    )


class SummarySchema(Schema):
    """The pipeline in figures, in the organisation's currency."""

    type_name = "Pipeline"

    currency = fields.String(description="The organisation's currency (ISO 4217).", example="EUR")
    as_of = fields.String(
        metadata={
            "description": "When it was computed.",
            "format": "date-time", "example": "2026-01-31T09:30:00.000Z",
        },
    )  # fmt: skip
    period = fields.Nested(PeriodSchema, description="The period that counts.")
    stages = fields.List(fields.Nested(StageSumSchema), description="Stage by stage.")
    totals = fields.Nested(PipelineTotalsSchema, description="All stages together.")
    excluded = fields.List(
        fields.Nested(ExcludedSchema), description="What could not be converted."
    )
