"""What the operations of customer relations look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate

from app.crm.conversion import CREATE, FAIL, LINK, Wishes
from app.crm.pipeline import Selection
from app.models.opportunity import STAGES
from app.wire import Instant

_KEY = validate.Range(1, 2**63 - 1)


def _key(name: str, description: str, **more: Any) -> fields.Integer:
    return fields.Integer(
        data_key=name, strict=True, allow_none=True, validate=_KEY,
        metadata={"description": description, **more},
    )  # fmt: skip


class NewOpportunitySchema(Schema):
    """The opportunity to make; what is left out is what the lead says."""

    name = fields.String(metadata={"example": "Training 2026"})
    # Amounts and dates are checked where every write checks them, with the same messages.
    amount = fields.Raw(metadata={"type": "number", "example": 1200})
    stage = fields.String(validate=validate.OneOf(tuple(STAGES)))
    closeDate = fields.Raw(metadata={"type": "string", "format": "date"})


class ConvertSchema(Schema):
    """How to convert a lead; everything may be left out."""

    client_id = _key("clientId", "Client to link; else one is found or made.", example=None)
    contact_id = _key("contactId", "Contact to link; else one is found or made.", example=None)
    opportunity_id = _key("opportunityId", "Opportunity to link.", example=None)
    create_contact = fields.Boolean(
        data_key="createContact", metadata={"description": "Default: true."}
    )
    create_opportunity = fields.Boolean(
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


class SummaryQuerySchema(Schema):
    """Which opportunities to sum up."""

    start = fields.Date(
        data_key="from",
        metadata={"description": "First day: of the expected close of open ones, of the close of"
                  " the others.", "example": "2026-01-01"},
    )  # fmt: skip
    end = fields.Date(
        data_key="to", metadata={"description": "Last day, included.", "example": "2026-12-31"}
    )
    owner_id = fields.Integer(
        data_key="ownerId", validate=_KEY, metadata={"description": "Only those of one owner."}
    )
    pipeline = fields.String(
        validate=validate.Length(1, 50),
        metadata={"description": "Only those of one pipeline.", "example": "Sales"},
    )

    @post_load
    def make(self, given: dict[str, Any], **_: Any) -> Selection:
        """The selection."""
        selection = Selection(**given)
        if selection.start and selection.end and selection.end < selection.start:
            raise ValidationError("Must not be before from.", "to")
        if "\0" in (selection.pipeline or ""):
            raise ValidationError("Has a character that no text has.", "pipeline")
        return selection


class StageSumSchema(Schema):
    """Opportunities in one stage; days are null where none ever left or is in the stage."""

    stage = fields.String(metadata={"example": "Proposal"})
    probability = fields.Integer(metadata={"example": 50})
    count = fields.Integer()
    amount = fields.Decimal(metadata={"example": 1000})
    weightedAmount = fields.Decimal(metadata={"example": 500})
    averageDaysInStage = fields.Decimal(allow_none=True, metadata={"example": 12.5})


class PipelineTotalsSchema(Schema):
    """All stages; `winRate` is the share of the won among the closed, 0 to 1."""

    openCount = fields.Integer()
    openAmount = fields.Decimal()
    weightedAmount = fields.Decimal(metadata={"description": "Of the open ones."})
    wonCount = fields.Integer()
    wonAmount = fields.Decimal()
    lostCount = fields.Integer()
    lostAmount = fields.Decimal()
    winRate = fields.Decimal(allow_none=True, metadata={"example": 0.25})
    averageDealSize = fields.Decimal(allow_none=True, metadata={"description": "Of the won ones."})
    averageDaysToClose = fields.Decimal(
        allow_none=True, metadata={"description": "From creation to the win."}
    )
    overdueCount = fields.Integer(
        metadata={"description": "Open ones whose expected close has passed."}
    )


class ExcludedSchema(Schema):
    """Opportunities in a currency without an exchange rate; they are in no other figure."""

    currency = fields.String(metadata={"example": "USD"})
    count = fields.Integer()
    amount = fields.Decimal()


class PeriodSchema(Schema):
    """The days that were asked for."""

    start = fields.Date(data_key="from", attribute="from", allow_none=True)
    end = fields.Date(data_key="to", attribute="to", allow_none=True)


class SummarySchema(Schema):
    """The pipeline in figures, in the currency of the organisation."""

    currency = fields.String(metadata={"example": "EUR"})
    asOf = fields.String(metadata={"format": "date-time", "example": "2026-01-31T09:30:00.000Z"})
    period = fields.Nested(PeriodSchema)
    stages = fields.List(fields.Nested(StageSumSchema))
    totals = fields.Nested(PipelineTotalsSchema)
    excluded = fields.List(fields.Nested(ExcludedSchema))
