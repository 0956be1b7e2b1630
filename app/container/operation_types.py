"""What operations take and return, where it is no entity: the bodies of the REST operations."""

from __future__ import annotations

from app.mail.recipients import STATUSES
from app.models.opportunity import STAGES
from app.odata.declare import by_name
from app.odata.model import edm

TEXTS = edm.CollectionType(edm.STRING)


def complex_type(name: str, description: str, *members: edm.Property, is_open: bool = False) -> (
    edm.ComplexType
):  # fmt: skip
    """A complex type of its properties."""
    return edm.ComplexType(
        name=name, description=description, properties=by_name(members), is_open=is_open
    )


def member(
    name: str, type_: edm.EdmType, description: str, *, scale: int | None = None,
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
    member("name", edm.STRING, "Name of the opportunity."),
    member("amount", edm.DECIMAL, "Amount, in the client's currency."),
    member("stage", edm.STRING, "Stage to begin in.", allowed=tuple(STAGES)),
    member("closeDate", edm.DATE, "Expected close."),
)
CLIENT_OVERRIDES = complex_type(
    "ClientOverrides", "Properties of a client that go before what the lead says.", is_open=True
)
CONVERTED_CLIENT = complex_type(
    "ConvertedClient",
    "The client of a converted lead.",
    member("id", edm.INT64, "Key of the client."),
    member("name", edm.STRING, "Name."),
    member("email", edm.STRING, "E-mail address."),
    member("status", edm.STRING, "Status."),
    member("created", edm.BOOLEAN, "Whether it was made now."),
)
CONVERTED_CONTACT = complex_type(
    "ConvertedContact",
    "The contact of a converted lead.",
    member("id", edm.INT64, "Key of the contact."),
    member("fullName", edm.STRING, "Given and family name."),
    member("created", edm.BOOLEAN, "Whether it was made now."),
)
CONVERTED_OPPORTUNITY = complex_type(
    "ConvertedOpportunity",
    "The opportunity of a converted lead.",
    member("id", edm.INT64, "Key of the opportunity."),
    member("name", edm.STRING, "Name."),
    member("stage", edm.STRING, "Stage."),
    member("amount", edm.DECIMAL, "Amount, in the client's currency."),
)
MOVED = complex_type(
    "MovedRecords",
    "How many records went over to the client.",
    member("tasks", edm.INT32, "Tasks that went over."),
    member("documents", edm.INT32, "Documents that went over."),
)
CONVERSION = complex_type(
    "Conversion",
    "What a lead became.",
    member("leadId", edm.INT64, "Key of the lead."),
    member("status", edm.STRING, "Status of the lead now."),
    member("convertedAt", edm.DATETIME, "When it was converted."),
    member("clientId", edm.INT64, "Key of the client."),
    member("contactId", edm.INT64, "Key of the contact, if there is one."),
    member("opportunityId", edm.INT64, "Key of the opportunity, if there is one."),
    member("client", CONVERTED_CLIENT, "The client, made or found."),
    member("contact", CONVERTED_CONTACT, "The contact, made or found."),
    member("opportunity", CONVERTED_OPPORTUNITY, "The opportunity, made or linked."),
    member("matchedBy", edm.STRING, "By what a client was found: email, taxId or explicit."),
    member("moved", MOVED, "What went over to the client."),
)
MAIL_RECIPIENT = complex_type(
    "MailRecipient",
    "A recipient of a message.",
    member("address", edm.STRING, "Address."),
    member("kind", edm.STRING, "Whether named in To or in Cc.", allowed=("to", "cc")),
    member("status", edm.STRING, "Whether a server took it for him.", allowed=STATUSES),
    member("error", edm.STRING, "Why it did not reach him."),
    member("at", edm.DATETIME, "When that was known."),
)
DELIVERY = complex_type(
    "MailDelivery",
    "A message in the outbox.",
    member("id", edm.INT64, "Key of the message."),
    member("to", TEXTS, "Recipients."),
    member("cc", TEXTS, "Recipients of copies."),
    member("subject", edm.STRING, "Subject."),
    member("status", edm.STRING, "State of the delivery."),
    member("recipients", edm.CollectionType(MAIL_RECIPIENT), "What became of it for each."),
    member("attachments", TEXTS, "Names of the files attached."),
    member("error", edm.STRING, "Why it was not delivered."),
)
SENT_INVOICE = complex_type(
    "SentInvoice",
    "A document that was sent.",
    member("id", edm.INT64, "Key of the document."),
    member("number", edm.STRING, "Number of the document."),
    member("status", edm.STRING, "Status now."),
    member("sentAt", edm.DATETIME, "When it was sent first."),
    member("issued", edm.BOOLEAN, "Whether it was a draft until now."),
    member("delivery", DELIVERY, "The message; null where none was sent."),
)
CREDITED_LINE = complex_type(
    "CreditedLine",
    "A line of a credit note, as a line of an invoice.",
    member("description", edm.STRING, "What is credited."),
    member("quantity", edm.DECIMAL, "How many.", scale=4),
    member("unitPrice", edm.DECIMAL, "Price of one.", scale=4),
    member("taxRate", edm.DECIMAL, "Tax in percent."),
    is_open=True,
)
FOUND_ARTICLE = complex_type(
    "FoundArticle",
    "An article that a search found.",
    member("id", edm.INT64, "Key of the article."),
    member("title", edm.STRING, "Title."),
    member("slug", edm.STRING, "Name in addresses."),
    member("summary", edm.STRING, "Summary."),
    member("snippet", edm.STRING, "Safe HTML; words of the question are in mark elements."),
    member("score", edm.DOUBLE, "From 0 to 1; the best first."),
    member("category", edm.STRING, "Category."),
    member("language", edm.STRING, "Language."),
    member("visibility", edm.STRING, "Who may read it."),
    member("updatedAt", edm.DATETIME, "When it was changed last."),
    member("url", edm.STRING, "Address of the article."),
)
KB_SEARCH = complex_type(
    "KbSearchResult",
    "What a search of the knowledge base found.",
    member("query", edm.STRING, "What was asked."),
    member("mode", edm.STRING, "How it was searched; keyword where there is no model."),
    member("total", edm.INT32, "Articles found, of the best 200."),
    member("items", edm.CollectionType(FOUND_ARTICLE), "The articles found, the best first."),
)
PIPELINE_STAGE = complex_type(
    "PipelineStage",
    "The opportunities of one stage.",
    member("stage", edm.STRING, "Name of the stage."),
    member("probability", edm.INT32, "Win probability in percent."),
    member("count", edm.INT32, "Opportunities in it."),
    member("amount", edm.DECIMAL, "Sum of their amounts."),
    member("weightedAmount", edm.DECIMAL, "Sum of the amounts by probability."),
    member(
        "averageDaysInStage", edm.DECIMAL, "Days that they have been in it, on average.", scale=1
    ),
)
PIPELINE_TOTALS = complex_type(
    "PipelineTotals",
    "The pipeline as a whole.",
    member("openCount", edm.INT32, "Open opportunities."),
    member("openAmount", edm.DECIMAL, "Sum of their amounts."),
    member("weightedAmount", edm.DECIMAL, "Sum of their amounts by probability."),
    member("wonCount", edm.INT32, "Opportunities won."),
    member("wonAmount", edm.DECIMAL, "Sum of the amounts won."),
    member("lostCount", edm.INT32, "Opportunities lost."),
    member("lostAmount", edm.DECIMAL, "Sum of the amounts lost."),
    member("winRate", edm.DECIMAL, "Won of all closed, in percent."),
    member("averageDealSize", edm.DECIMAL, "Average amount of what was won."),
    member(
        "averageDaysToClose", edm.DECIMAL, "Days from creation to closing, on average.", scale=1
    ),
    member("overdueCount", edm.INT32, "Open ones whose expected close is past."),
)
PIPELINE_PERIOD = complex_type(
    "PipelinePeriod",
    "From which day to which.",
    member("from", edm.DATE, "First day; null for no limit."),
    member("to", edm.DATE, "Last day; null for no limit."),
)
PIPELINE_EXCLUDED = complex_type(
    "PipelineExcluded",
    "Opportunities in a currency without an exchange rate.",
    member("currency", edm.STRING, "Currency (ISO 4217)."),
    member("count", edm.INT32, "Opportunities in it."),
    member("amount", edm.DECIMAL, "Sum of their amounts, in that currency."),
)
PIPELINE = complex_type(
    "Pipeline",
    "The pipeline in figures, in the organisation's currency.",
    member("currency", edm.STRING, "The organisation's currency (ISO 4217)."),
    member("asOf", edm.DATETIME, "When it was computed."),
    member("period", PIPELINE_PERIOD, "The period that counts."),
    member("stages", edm.CollectionType(PIPELINE_STAGE), "Stage by stage."),
    member("totals", PIPELINE_TOTALS, "All stages together."),
    member("excluded", edm.CollectionType(PIPELINE_EXCLUDED), "What could not be converted."),
)

OPERATION_TYPES = (
    CONVERSION_OPPORTUNITY, CLIENT_OVERRIDES, CONVERTED_CLIENT, CONVERTED_CONTACT,
    CONVERTED_OPPORTUNITY, MOVED, CONVERSION, MAIL_RECIPIENT, DELIVERY, SENT_INVOICE, CREDITED_LINE,
    FOUND_ARTICLE, KB_SEARCH, PIPELINE_STAGE, PIPELINE_TOTALS, PIPELINE_PERIOD, PIPELINE_EXCLUDED,
    PIPELINE,
)  # fmt: skip
