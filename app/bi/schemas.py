"""What ``/api/bi`` takes and gives."""

from __future__ import annotations

from app.bi.answering import LONGEST_QUESTION
from app.bi.exports.formats import DEFAULT_FORMAT, FORMATS
from app.bi.reports.definition import TYPES
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import ANSWER
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, JsonBoolean, PostBodySchema

_TEXT = validate.Length(1, 200)


class FiguresQuestionSchema(PostBodySchema):
    """A question in plain words."""

    question = fields.String(
        required=True,
        description=f"At most {LONGEST_QUESTION} characters.",
        example="Revenue by month this year",
    )
    session_id = fields.String(
        load_default=None,
        validate=validate.Length(max=60),
        metadata={
            "description": "Session of an earlier answer, to go on from it.",
            "example": None,
        },
    )
    limit = fields.Integer(
        load_default=ANSWER.default,
        strict=True,
        validate=validate.Range(1, ANSWER.largest),
        description="Most rows to give.",
    )


class FiguresColumnSchema(Schema):
    """A column of the rows."""

    name = fields.String(required=True, validate=_TEXT, example="name")
    label = fields.String(required=True, validate=_TEXT, example="Name")
    type = fields.String(
        required=True, validate=validate.OneOf([*TYPES, "week", "id"]), example="text"
    )
    total = fields.Boolean(dump_only=True)


class FiguresChartSchema(Schema):
    """A chart: which columns it shows, and the Vega-Lite specification that draws it."""

    type = fields.String(required=True, validate=validate.OneOf(["bar", "line"]), example="bar")
    x = fields.String(required=True, validate=_TEXT, example="status")
    y = fields.String(required=True, validate=_TEXT, example="count")
    series = fields.String(allow_none=True, validate=_TEXT, metadata={"example": None})
    spec = fields.Dict(dump_only=True)


class FiguresQuerySchema(Schema):
    """The OData query behind figures: its address gives the same rows."""

    entity = fields.String(example="Tickets")
    odata = fields.String()


class FiguresAnswerSchema(Schema):
    """The answer to a question."""

    question = fields.String()
    interpretation = fields.String(description="What was understood, in plain words.")
    status = fields.String(
        validate=validate.OneOf(["answered", "needsClarification", "unsupported"])
    )
    answer = fields.String()
    columns = fields.List(fields.Nested(FiguresColumnSchema))
    rows = fields.List(fields.Dict())
    row_count = fields.Integer()
    truncated = fields.Boolean()
    chart = fields.Nested(FiguresChartSchema, allow_none=True)
    query = fields.Nested(FiguresQuerySchema, allow_none=True)
    confidence = fields.Float(description="From 0 to 1.")
    alternatives = fields.List(fields.String(), description="Questions to ask instead.")
    as_of = fields.String(metadata={"format": "date-time"})
    report_id = fields.Integer(allow_none=True)
    session_id = fields.String(allow_none=True)


class ReportParameterSchema(Schema):
    """What a report asks for before it runs."""

    name = fields.String(example="from")
    type = fields.String(example="date")
    default = fields.String(allow_none=True)
    description = fields.String()


class ReportScheduleSchema(Schema):
    """When a report is mailed, and to whom."""

    every = fields.String(
        required=True, validate=validate.OneOf(["daily", "weekly", "monthly"]), example="weekly"
    )
    weekday = fields.Integer(
        strict=True, validate=validate.Range(1, 7), description="1 is Monday.", example=1
    )
    day = fields.Integer(
        strict=True,
        validate=validate.Range(1, 31),
        description="Day of the month; the last where it has fewer.",
        example=1,
    )
    time = fields.String(
        load_default="07:00",
        validate=[
            validate.Length(equal=5),
            validate.Regexp(r"^([01][0-9]|2[0-3]):[0-5][0-9]$", error="must be like 07:00"),
        ],
        description="Time of day of the organisation.",
    )
    format = fields.String(load_default=DEFAULT_FORMAT, validate=validate.OneOf(FORMATS))
    to = fields.List(
        fields.String(),
        required=True,
        validate=validate.Length(1, 20),
        example=["ada@acme.example"],
    )
    next_run_at = fields.String(dump_only=True, metadata={"format": "date-time"})


class ReportSchema(Schema):
    """A report in the list."""

    id = fields.Integer()
    key = fields.String(allow_none=True)
    name = fields.String(example="Tickets by priority")
    description = fields.String(allow_none=True)
    built_in = fields.Boolean()
    formats = fields.List(fields.String(validate=validate.OneOf(FORMATS)))
    parameters = fields.List(fields.Nested(ReportParameterSchema))
    question = fields.String(allow_none=True)
    owner_id = fields.Integer(allow_none=True)
    shared = fields.Boolean()
    schedule = fields.Nested(ReportScheduleSchema, allow_none=True)
    created_at = fields.String(metadata={"format": "date-time"})
    updated_at = fields.String(metadata={"format": "date-time"})


class FullReportSchema(ReportSchema):
    """A report by itself."""

    columns = fields.List(fields.Nested(FiguresColumnSchema))
    chart = fields.Nested(FiguresChartSchema, allow_none=True)
    query = fields.Nested(FiguresQuerySchema)


class _ReportFieldsSchema(Schema):
    description = fields.String(
        allow_none=True, validate=validate.Length(max=1000), metadata={"example": None}
    )
    shared = JsonBoolean(description="Others may run it under their own rights.", example=False)
    question = fields.String(
        description="A question; it is understood anew each time.",
        example="Open tickets by priority",
    )
    odata = fields.String(
        validate=validate.Length(1, 8000), description="An OData address, instead of a question."
    )
    columns = fields.List(
        fields.Nested(FiguresColumnSchema),
        validate=validate.Length(1, 100),
        description="Columns of an OData query; all of its rows when left out.",
    )
    chart = fields.Nested(FiguresChartSchema, allow_none=True)


class NewReportSchema(_ReportFieldsSchema, PostBodySchema):
    """A report to save: from a question or from an OData query."""

    name = fields.String(required=True, validate=_TEXT, example="Tickets by priority")


class ReportChangeSchema(_ReportFieldsSchema):
    """What to change of a saved report."""

    name = fields.String(validate=_TEXT, example="Tickets by priority")


class ReportDataSchema(Schema):
    """The rows of a report."""

    report_id = fields.Integer()
    name = fields.String(example="Tickets by priority")
    parameters = fields.Dict()
    columns = fields.List(fields.Nested(FiguresColumnSchema))
    rows = fields.List(fields.Dict())
    row_count = fields.Integer()
    truncated = fields.Boolean()
    totals = fields.List(fields.Dict(), description="Sums, a row for each currency.")
    query = fields.Nested(FiguresQuerySchema)
    as_of = fields.String(metadata={"format": "date-time"})


class ReportExportRequestSchema(PostBodySchema):
    """In which form, and with which values of the report's parameters."""

    format = fields.String(required=True, validate=validate.OneOf(FORMATS), example=DEFAULT_FORMAT)
    filters = fields.Dict(
        keys=fields.String(), load_default=dict, description="Name -> value.", example={}
    )
    background = JsonBoolean(
        load_default=False,
        description="Leave it to the worker, however small it is.",
        example=False,
    )


class ReportExportSchema(Schema):
    """An export that the worker makes."""

    id = fields.String()
    report_id = fields.Integer()
    format = fields.String(validate=validate.OneOf(FORMATS))
    filters = fields.Dict()
    status = fields.String(validate=validate.OneOf(["queued", "running", "done", "failed"]))
    rows_done = fields.Integer()
    rows_total = fields.Integer(allow_none=True)
    progress = fields.Integer(description="Percent.")
    truncated = fields.Boolean()
    size = fields.Integer(allow_none=True)
    file_name = fields.String(allow_none=True)
    error = fields.String(allow_none=True)
    created_at = Instant()
    finished_at = Instant(allow_none=True)
    url = fields.String()
    download_url = fields.String(allow_none=True)
