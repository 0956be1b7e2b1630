"""What the operations of the knowledge base look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import ARTICLE_SEARCH, LIST, SUGGESTIONS
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, JsonBoolean, limit_field
from app.models.kb_article import ARTICLE_VISIBILITIES
from app.search.results import MODES


class Question(fields.String):
    """A text that is not blank."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs).strip()
        if not text:
            raise ValidationError("must not be empty")
        return text


class ArticleSearchQuerySchema(Schema):
    """What is looked for, and where."""

    q = Question(
        required=True,
        description="A question or words, in your own words.", example="how do I reset my password",
    )  # fmt: skip
    limit = limit_field(ARTICLE_SEARCH)
    category = fields.String(
        validate=validate.Length(1, 100), description="Category of the articles."
    )
    language = fields.String(
        validate=validate.Regexp(
            r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$", error="must be such as en or de-AT"
        ),
        description="Language of the articles, such as `de`.",
        example="en",
    )
    mode = fields.String(
        load_default="hybrid",
        validate=validate.OneOf(MODES),
        description="By meaning and words, by meaning, or by words alone.",
    )


class FoundArticleSchema(Schema):
    """An article that a search found."""

    id = fields.Integer(description="Key of the article.")
    title = fields.String(description="Title.")
    slug = fields.String(description="Name in addresses.")
    summary = fields.String(allow_none=True, description="Summary.")
    snippet = fields.String(description="Safe HTML; words of the question are in mark elements.")
    score = fields.Float(description="From 0 to 1; the best first.")
    category = fields.String(allow_none=True, description="Category.")
    language = fields.String(description="Language.")
    visibility = fields.String(description="Who may read it.")
    updated_at = fields.String(
        metadata={"description": "When it was changed last.", "format": "date-time"}
    )
    url = fields.String(description="Address of the article.")


class KbSearchResultSchema(Schema):
    """What a search of the knowledge base found."""

    query = fields.String(description="What was asked.")
    mode = fields.String(description="How it was searched; `keyword` where there is no model.")
    total = fields.Integer(description="Articles found, of the best 200.")
    items = fields.List(
        fields.Nested(FoundArticleSchema), description="The articles found, the best first."
    )


class ArticleSearchSchema(KbSearchResultSchema):
    """What was found, and a word on how."""

    notice = fields.String(description="Only where something was not possible.")


class SuggestQuerySchema(Schema):
    """The ticket that needs help."""

    ticket_id = fields.Integer(required=True, validate=validate.RECORD_KEY, example=1)
    limit = limit_field(SUGGESTIONS)


class SuggestionSchema(Schema):
    """An article that may help."""

    id = fields.Integer()
    title = fields.String()
    snippet = fields.String()
    score = fields.Float()
    reason = fields.String(example="matches: refund, invoice")
    linked = fields.Boolean(description="Whether it is linked to the ticket.")
    url = fields.String()


class SimilarTicketSchema(Schema):
    """A solved ticket that is like it."""

    id = fields.Integer()
    number = fields.String()
    subject = fields.String()
    status = fields.String()
    resolution = fields.String(allow_none=True)
    score = fields.Float()


class SuggestionsSchema(Schema):
    """What may help with a ticket."""

    ticket_id = fields.Integer()
    items = fields.List(fields.Nested(SuggestionSchema))
    similar_tickets = fields.List(fields.Nested(SimilarTicketSchema))


class FromTicketSchema(Schema):
    """The ticket, and what goes before what it says."""

    ticket_id = fields.Integer(required=True, strict=True, validate=validate.RECORD_KEY, example=1)
    title = fields.String(example="Resetting a password")
    body = fields.String(example="Choose *Forgot password*.")
    summary = fields.String(allow_none=True, metadata={"example": None})
    category = fields.String(allow_none=True, example="Account")
    language = fields.String(example="en")
    visibility = fields.String(validate=validate.OneOf(ARTICLE_VISIBILITIES))


class ArticleDraftSchema(Schema):
    """The draft that was made; a dry run makes none, and has neither key nor address."""

    id = fields.Integer(allow_none=True)
    title = fields.String()
    slug = fields.String()
    body = fields.String()
    status = fields.String()
    category = fields.String(allow_none=True)
    language = fields.String()
    visibility = fields.String()
    source_ticket_id = fields.Integer()
    url = fields.String(allow_none=True)


class ArticleHtmlSchema(Schema):
    """An article to be shown in a page."""

    id = fields.Integer()
    title = fields.String()
    slug = fields.String()
    summary = fields.String(allow_none=True)
    language = fields.String()
    category = fields.String(allow_none=True)
    status = fields.String()
    version = fields.Integer()
    updated_at = fields.String(metadata={"format": "date-time"})
    html = fields.String(description="Safe HTML, without scripts and styles.")


class FeedbackBodySchema(Schema):
    """Whether an article helped."""

    helpful = JsonBoolean(required=True, example=True)
    comment = fields.String(
        load_default=None, allow_none=True, validate=validate.Length(0, 1000),
        description="What was missing.", example="Short and right.",
    )  # fmt: skip


class FeedbackSchema(Schema):
    """What was said, and how many found what."""

    article_id = fields.Integer()
    helpful = fields.Boolean()
    comment = fields.String(allow_none=True)
    helpful_count = fields.Integer()
    not_helpful_count = fields.Integer()


class FeedbackEntrySchema(Schema):
    """What one reader said."""

    helpful = fields.Boolean()
    comment = fields.String(allow_none=True)
    at = Instant()


class FeedbackListSchema(Schema):
    """What readers said, newest first."""

    items = fields.List(fields.Nested(FeedbackEntrySchema))


class MissingQuerySchema(Schema):
    """How far to look back."""

    days = fields.Integer(load_default=30, validate=validate.Range(1, 365))
    limit = limit_field(LIST)


class MissingSearchSchema(Schema):
    """A question for which nobody opened an article."""

    question = fields.String()
    times = fields.Integer()
    without_result = fields.Integer(description="How often nothing was found.")
    askers = fields.Integer()
    last_asked_at = Instant()


class MissingTicketSchema(Schema):
    """A ticket that was solved without an article."""

    id = fields.Integer()
    number = fields.String()
    subject = fields.String()
    category = fields.String(allow_none=True)
    solved_at = fields.String(metadata={"format": "date-time"})


class MissingSchema(Schema):
    """What the knowledge base lacks."""

    since = Instant()
    searches = fields.List(fields.Nested(MissingSearchSchema))
    tickets = fields.List(fields.Nested(MissingTicketSchema))
