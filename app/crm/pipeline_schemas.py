"""The summary of the pipeline on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, post_load

from app.crm.pipeline import Selection
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema


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
