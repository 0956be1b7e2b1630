"""What operations take and return, where it is no entity: the bodies of the REST operations."""

from __future__ import annotations

from app.models.opportunity import STAGES
from app.odata import edm
from app.odata.declare import by_name

TEXTS = edm.CollectionType(edm.STRING)


def complex_type(name: str, description: str, *members: edm.Property, is_open: bool = False) -> (
    edm.ComplexType
):  # fmt: skip
    """A complex type of its properties."""
    return edm.ComplexType(
        name=name, description=description, properties=by_name(members), is_open=is_open
    )


def member(
    name: str, type_: edm.EdmType, description: str = "", *, scale: int | None = None,
    allowed: tuple[str, ...] | None = None,
) -> edm.Property:  # fmt: skip
    """A property of a complex value, kept under its own name."""
    is_money = type_ == edm.DECIMAL
    return edm.Property(
        name=name, type=type_, attribute=name, description=description, allowed=allowed,
        precision=15 if is_money else 3 if type_ == edm.DATETIME else None,
        scale=(2 if scale is None else scale) if is_money else None,
        nullable=not isinstance(type_, edm.CollectionType),
    )  # fmt: skip


CONVERSION_OPPORTUNITY = complex_type(
    "ConversionOpportunity",
    "The opportunity that a conversion makes.",
    member("name", edm.STRING),
    member("amount", edm.DECIMAL),
    member("stage", edm.STRING, allowed=tuple(STAGES)),
    member("closeDate", edm.DATE, "Expected close."),
)
CLIENT_OVERRIDES = complex_type(
    "ClientOverrides", "Properties of a client that go before what the lead says.", is_open=True
)
CONVERTED_CLIENT = complex_type(
    "ConvertedClient",
    "The client of a converted lead.",
    member("id", edm.INT64),
    member("name", edm.STRING),
    member("email", edm.STRING),
    member("status", edm.STRING),
    member("created", edm.BOOLEAN, "Whether it was made now."),
)
CONVERTED_CONTACT = complex_type(
    "ConvertedContact",
    "The contact of a converted lead.",
    member("id", edm.INT64),
    member("fullName", edm.STRING),
    member("created", edm.BOOLEAN, "Whether it was made now."),
)
CONVERTED_OPPORTUNITY = complex_type(
    "ConvertedOpportunity",
    "The opportunity of a converted lead.",
    member("id", edm.INT64),
    member("name", edm.STRING),
    member("stage", edm.STRING),
    member("amount", edm.DECIMAL),
)
MOVED = complex_type(
    "MovedRecords",
    "How many records went over to the client.",
    member("tasks", edm.INT32),
    member("documents", edm.INT32),
)
CONVERSION = complex_type(
    "Conversion",
    "What a lead became.",
    member("leadId", edm.INT64),
    member("status", edm.STRING),
    member("convertedAt", edm.DATETIME),
    member("clientId", edm.INT64),
    member("contactId", edm.INT64),
    member("opportunityId", edm.INT64),
    member("client", CONVERTED_CLIENT),
    member("contact", CONVERTED_CONTACT),
    member("opportunity", CONVERTED_OPPORTUNITY),
    member("matchedBy", edm.STRING, "By what a client was found: email, taxId or explicit."),
    member("moved", MOVED),
)
DELIVERY = complex_type(
    "MailDelivery",
    "A message in the outbox.",
    member("id", edm.INT64),
    member("to", TEXTS),
    member("cc", TEXTS),
    member("subject", edm.STRING),
    member("status", edm.STRING),
    member("attachments", TEXTS),
    member("error", edm.STRING),
)
SENT_INVOICE = complex_type(
    "SentInvoice",
    "A document that was sent.",
    member("id", edm.INT64),
    member("number", edm.STRING),
    member("status", edm.STRING),
    member("sentAt", edm.DATETIME),
    member("issued", edm.BOOLEAN, "Whether it was a draft until now."),
    member("delivery", DELIVERY),
)
CREDITED_LINE = complex_type(
    "CreditedLine",
    "A line of a credit note, as a line of an invoice.",
    member("description", edm.STRING),
    member("quantity", edm.DECIMAL, scale=4),
    member("unitPrice", edm.DECIMAL, scale=4),
    member("taxRate", edm.DECIMAL),
    is_open=True,
)
FOUND_ARTICLE = complex_type(
    "FoundArticle",
    "An article that a search found.",
    member("id", edm.INT64),
    member("title", edm.STRING),
    member("slug", edm.STRING),
    member("summary", edm.STRING),
    member("snippet", edm.STRING, "Safe HTML; words of the question are in mark elements."),
    member("score", edm.DOUBLE, "From 0 to 1; the best first."),
    member("category", edm.STRING),
    member("language", edm.STRING),
    member("visibility", edm.STRING),
    member("updatedAt", edm.DATETIME),
    member("url", edm.STRING),
)
KB_SEARCH = complex_type(
    "KbSearchResult",
    "What a search of the knowledge base found.",
    member("query", edm.STRING),
    member("mode", edm.STRING, "How it was searched; keyword where there is no model."),
    member("total", edm.INT32, "Articles found, of the best 200."),
    member("items", edm.CollectionType(FOUND_ARTICLE)),
)
PIPELINE_STAGE = complex_type(
    "PipelineStage",
    "The opportunities of one stage.",
    member("stage", edm.STRING),
    member("probability", edm.INT32, "Win probability in percent."),
    member("count", edm.INT32),
    member("amount", edm.DECIMAL),
    member("weightedAmount", edm.DECIMAL),
    member("averageDaysInStage", edm.DECIMAL, scale=1),
)
PIPELINE_TOTALS = complex_type(
    "PipelineTotals",
    "The pipeline as a whole.",
    member("openCount", edm.INT32),
    member("openAmount", edm.DECIMAL),
    member("weightedAmount", edm.DECIMAL),
    member("wonCount", edm.INT32),
    member("wonAmount", edm.DECIMAL),
    member("lostCount", edm.INT32),
    member("lostAmount", edm.DECIMAL),
    member("winRate", edm.DECIMAL, "Won of all closed, in percent."),
    member("averageDealSize", edm.DECIMAL),
    member("averageDaysToClose", edm.DECIMAL, scale=1),
    member("overdueCount", edm.INT32),
)
PIPELINE_PERIOD = complex_type(
    "PipelinePeriod",
    "From which day to which.",
    member("from", edm.DATE),
    member("to", edm.DATE),
)
PIPELINE_EXCLUDED = complex_type(
    "PipelineExcluded",
    "Opportunities in a currency without an exchange rate.",
    member("currency", edm.STRING),
    member("count", edm.INT32),
    member("amount", edm.DECIMAL),
)
PIPELINE = complex_type(
    "Pipeline",
    "The pipeline in figures, in the organisation's currency.",
    member("currency", edm.STRING),
    member("asOf", edm.DATETIME),
    member("period", PIPELINE_PERIOD),
    member("stages", edm.CollectionType(PIPELINE_STAGE)),
    member("totals", PIPELINE_TOTALS),
    member("excluded", edm.CollectionType(PIPELINE_EXCLUDED)),
)

OPERATION_TYPES = (
    CONVERSION_OPPORTUNITY, CLIENT_OVERRIDES, CONVERTED_CLIENT, CONVERTED_CONTACT,
    CONVERTED_OPPORTUNITY, MOVED, CONVERSION, DELIVERY, SENT_INVOICE, CREDITED_LINE,
    FOUND_ARTICLE, KB_SEARCH, PIPELINE_STAGE, PIPELINE_TOTALS, PIPELINE_PERIOD, PIPELINE_EXCLUDED,
    PIPELINE,
)  # fmt: skip
