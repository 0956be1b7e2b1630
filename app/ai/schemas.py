"""What the operations of the assistant look like on the wire (contract 11.1 and 11.3)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, JsonBoolean, PostBodySchema, page_schema
from app.models.assistant import ACTION_STATUSES, MESSAGE_STATUSES

LONGEST_MESSAGE = 20_000


class Message(fields.String):
    """A text that is not blank, and not a book."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs).strip()
        if not text:
            raise ValidationError("must not be empty")
        if len(text) > LONGEST_MESSAGE:
            raise ValidationError(f"must have at most {LONGEST_MESSAGE} characters")
        if "\0" in text:
            raise ValidationError("must not have the character U+0000")
        return text


class ContextSchema(PostBodySchema):
    """The record that the caller looks at."""

    module = fields.String(
        required=True, validate=validate.Length(1, 50),
        description="Name of a set, a type or an area.", example="kb",
    )  # fmt: skip
    entity_id = fields.Integer(
        attribute="entityId",  # as it is kept with the conversation
        strict=True, validate=validate.RECORD_KEY,
        metadata={"description": "Key of the record.", "example": None},
    )  # fmt: skip


class ChatBodySchema(PostBodySchema):
    """A message to the assistant; a context of null leaves the record of the conversation."""

    null_is_said = frozenset(("context",))

    message = Message(
        required=True, metadata={"example": "How do I reset a password?", "maxLength": 20_000}
    )
    context = fields.Nested(ContextSchema)
    session_id = fields.String(
        validate=validate.Length(1, 40),
        metadata={"description": "Conversation to go on with; a new one without.",
                  "example": None},
    )  # fmt: skip
    stream = JsonBoolean(
        load_default=False,
        description="Answer 202 at once; the answer is read from `streamUrl`.", example=False,
    )  # fmt: skip


class CitationSchema(Schema):
    """A source; `[n]` in the reply refers to it."""

    n = fields.Integer()
    type = fields.String(example="KbArticle")
    id = fields.Integer()
    title = fields.String()
    snippet = fields.String()
    url = fields.String()


class ToolCallSchema(Schema):
    """What the service was asked, under the caller's rights."""

    id = fields.String()
    name = fields.String(example="create_task")
    arguments = fields.Dict(metadata={"additionalProperties": True})
    status = fields.String(validate=validate.OneOf(("ok", "denied", "error")))
    summary = fields.String()


class PendingActionSchema(Schema):
    """A change that waits for its confirmation."""

    id = fields.String()
    tool = fields.String()
    summary = fields.String()
    arguments = fields.Dict(metadata={"additionalProperties": True})
    expires_at = Instant()


class ShownContextSchema(Schema):
    """The record that an answer is about."""

    module = fields.String()
    entity_id = fields.Integer(allow_none=True)
    title = fields.String(allow_none=True)


class UsageSchema(Schema):
    """Tokens of a model; none for the built-in assistant."""

    input_tokens = fields.Integer()
    output_tokens = fields.Integer()


class ProviderSchema(Schema):
    """What became of asking the model; only where a provider is set."""

    status = fields.String(
        validate=validate.OneOf(("answered", "fallback")),
        description="`fallback`: the built-in assistant answered.",
    )
    reason = fields.String(
        allow_none=True, metadata={"description": "Why the model did not.", "example": None}
    )


class StreamQuerySchema(Schema):
    """Which conversation, and from where on."""

    session_id = fields.String(required=True, validate=validate.Length(1, 40))
    after = fields.Integer(
        validate=validate.Range(0, 2**62),
        description="Number of the last event you have; `Last-Event-ID` does too.",
    )
    ticket = fields.String(validate=validate.Length(1, 1000))


class AnswerSchema(Schema):
    """A message of a conversation."""

    message_id = fields.String()
    role = fields.String(validate=validate.OneOf(("assistant", "user")))
    status = fields.String(validate=validate.OneOf(MESSAGE_STATUSES), example="completed")
    reply = fields.String()
    citations = fields.List(fields.Nested(CitationSchema))
    tool_calls = fields.List(fields.Nested(ToolCallSchema))
    context = fields.Nested(ShownContextSchema, allow_none=True)
    model = fields.String(allow_none=True)
    created_at = Instant()


class ChatSchema(AnswerSchema):
    """An answer, or (202) the promise of one."""

    session_id = fields.String()
    model = fields.String()
    pending_actions = fields.List(fields.Nested(PendingActionSchema))
    usage = fields.Nested(UsageSchema)
    provider = fields.Nested(ProviderSchema)
    stream_url = fields.String(
        description="Where the answer can be read as it grows, with a ticket for"
                                 " readers that send no headers: one minute, one use."
    )  # fmt: skip


class AiActionSchema(PendingActionSchema):
    """A proposed change and what became of it."""

    status = fields.String(validate=validate.OneOf(ACTION_STATUSES))
    decided_at = Instant(allow_none=True)
    result = fields.Dict(allow_none=True, metadata={"additionalProperties": True})


class _ConversationSchema(Schema):
    session_id = fields.String()
    title = fields.String()
    created_at = Instant()
    updated_at = Instant()


class ConversationSchema(_ConversationSchema):
    """A conversation in a list."""

    messages = fields.Integer()


class WholeConversationSchema(_ConversationSchema):
    """A conversation with all its messages."""

    messages = fields.List(fields.Nested(AnswerSchema))
    actions = fields.List(fields.Nested(AiActionSchema))


ConversationPageSchema = page_schema(ConversationSchema)
