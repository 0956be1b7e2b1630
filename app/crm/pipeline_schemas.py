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
        metadata={"description": "First day: of the expected close of open ones, of the close of"
                  " the others.", "example": "2026-01-01"},
    )  # fmt: skip
    end = fields.Date(
        data_key="to", metadata={"description": "Last day, included.", "example": "2026-12-31"}
    )
    owner_id = fields.Integer(
        data_key="ownerId",
        validate=validate.Range(1, 2**63 - 1),
        metadata={"description": "Only those of one owner."},
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
            raise ValidationError("must not be before from", "to")
        if "\0" in (selection.pipeline or ""):
            raise ValidationError("has a character that no text has", "pipeline")
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
