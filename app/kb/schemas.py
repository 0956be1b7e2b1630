"""What the operations of the knowledge base look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import ARTICLE_SEARCH, LIST, SUGGESTIONS
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, JsonBoolean, PostBodySchema, limit_field
from app.models.kb_article import ARTICLE_STATUSES, ARTICLE_VISIBILITIES
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
    visibility = fields.String(
        validate=validate.OneOf(ARTICLE_VISIBILITIES), description="Who may read it."
    )
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

    ticket_id = fields.Integer(
        required=True, validate=validate.RECORD_KEY, description="Ticket to help with.", example=1
    )
    limit = limit_field(SUGGESTIONS)


class SuggestionSchema(Schema):
    """An article that may help."""

    id = fields.Integer(description="Key of the article.")
    title = fields.String(description="Title.")
    snippet = fields.String(description="Safe HTML; words of the ticket are in mark elements.")
    score = fields.Float(description="From 0 to 1; the best first.")
    reason = fields.String(description="Why it may help.", example="matches: refund, invoice")
    linked = fields.Boolean(description="Whether it is linked to the ticket.")
    url = fields.String(description="Address of the article.")


class SimilarTicketSchema(Schema):
    """A solved ticket that is like it."""

    id = fields.Integer(description="Key of the ticket.")
    number = fields.String(description="Number of the ticket.")
    subject = fields.String(description="Subject.")
    status = fields.String(description="Status.", example="Resolved")
    resolution = fields.String(allow_none=True, description="What solved it.")
    score = fields.Float(description="From 0 to 1; the most alike first.")


class SuggestionsSchema(Schema):
    """What may help with a ticket."""

    ticket_id = fields.Integer(description="Key of the ticket.")
    items = fields.List(fields.Nested(SuggestionSchema), description="Articles, the best first.")
    similar_tickets = fields.List(
        fields.Nested(SimilarTicketSchema), description="Solved tickets like it."
    )


class FromTicketSchema(PostBodySchema):
    """A ticket, and values of the article that are not to be taken from it."""

    ticket_id = fields.Integer(
        required=True, strict=True, validate=validate.RECORD_KEY,
        description="Ticket that the article begins with.", example=1,
    )  # fmt: skip
    title = fields.String(description="Title.", example="Resetting a password")
    body = fields.String(description="Text, in Markdown.", example="Choose *Forgot password*.")
    summary = fields.String(metadata={"description": "Summary.", "example": None})
    category = fields.String(description="Category.", example="Account")
    language = fields.String(description="Language.", example="en")
    visibility = fields.String(
        validate=validate.OneOf(ARTICLE_VISIBILITIES), description="Who may read it."
    )


class ArticleDraftSchema(Schema):
    """The draft that was made; a dry run makes none, and has neither key nor address."""

    id = fields.Integer(allow_none=True)
    title = fields.String()
    slug = fields.String()
    body = fields.String()
    status = fields.String(validate=validate.OneOf(ARTICLE_STATUSES))
    category = fields.String(allow_none=True)
    language = fields.String()
    visibility = fields.String(validate=validate.OneOf(ARTICLE_VISIBILITIES))
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
    status = fields.String(validate=validate.OneOf(ARTICLE_STATUSES))
    version = fields.Integer()
    updated_at = fields.String(metadata={"format": "date-time"})
    html = fields.String(description="Safe HTML, without scripts and styles.")


class FeedbackBodySchema(PostBodySchema):
    """Whether an article helped."""

    is_helpful = JsonBoolean(
        required=True, data_key="helpful", description="Whether it helped.", example=True
    )
    comment = fields.String(
        load_default=None, validate=validate.Length(0, 1000),
        description="What was missing.", example="Short and right.",
    )  # fmt: skip


class FeedbackSchema(Schema):
    """What was said, and how many found what."""

    article_id = fields.Integer(description="Key of the article.")
    helpful = fields.Boolean(description="Whether it helped you.")
    comment = fields.String(allow_none=True, description="What you found missing.")
    helpful_count = fields.Integer(description="Readers whom it helped.")
    not_helpful_count = fields.Integer(description="Readers whom it did not help.")


class FeedbackEntrySchema(Schema):
    """What one reader said."""

    helpful = fields.Boolean(description="Whether it helped.")
    comment = fields.String(allow_none=True, description="What was missing.")
    at = Instant(description="When it was said.")


class FeedbackListSchema(Schema):
    """What readers said, newest first."""

    items = fields.List(fields.Nested(FeedbackEntrySchema), description="What each reader said.")


class MissingQuerySchema(Schema):
    """How far to look back."""

    days = fields.Integer(
        load_default=30, validate=validate.Range(1, 365), description="Days to look back."
    )
    limit = limit_field(LIST)


class MissingSearchSchema(Schema):
    """A question for which nobody opened an article."""

    question = fields.String(description="What was asked.")
    times = fields.Integer(description="How often.")
    without_result = fields.Integer(description="How often nothing was found.")
    askers = fields.Integer(description="How many asked it.")
    last_asked_at = Instant(description="When it was asked last.")


class MissingTicketSchema(Schema):
    """A ticket that was solved without an article."""

    id = fields.Integer(description="Key of the ticket.")
    number = fields.String(description="Number of the ticket.")
    subject = fields.String(description="Subject.")
    category = fields.String(allow_none=True, description="Category.")
    solved_at = fields.String(
        metadata={"description": "When it was solved.", "format": "date-time"}
    )


class MissingSchema(Schema):
    """What the knowledge base lacks."""

    since = Instant(description="How far was looked back.")
    searches = fields.List(
        fields.Nested(MissingSearchSchema), description="Questions, the most frequent first."
    )
    tickets = fields.List(
        fields.Nested(MissingTicketSchema), description="Tickets, the latest first."
    )
