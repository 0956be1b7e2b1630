"""Two tools that are no operation of the business: a note on a record, and the draft of a mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from app.ai.intent import Wish, declared_wish
from app.ai.tools.tool import Arguments, arguments_schema, made_of, record_of
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import load
from app.http.schema_fields import Schema
from app.openapi.odata_schemas import Schema as JsonSchema
from app.settings.days import today
from app.tickets.comments import create_comment
from app.writing.services import SERVICES

# Types that take notes -> the column that notes are appended to; a ticket has comments instead.
NOTED: Mapping[str, str] = {
    "Client": "notes", "Contact": "notes", "Invoice": "internal_notes", "Ticket": "",
}  # fmt: skip


class NoteSchema(Schema):
    """A note on a record."""

    type = fields.String(required=True, validate=validate.OneOf(tuple(NOTED)))
    id = fields.Integer(required=True, validate=validate.RECORD_KEY)
    text = fields.String(required=True, validate=validate.Length(1, 4000))


class MailSchema(Schema):
    """A mail to be sent by a person."""

    to = fields.Email(required=True)
    subject = fields.String(required=True, validate=validate.Length(1, 200))
    body = fields.String(required=True, validate=validate.Length(1, 8000))


class NoteTool:
    """Adds a note to what is there: an update would replace it."""

    name = "add_note"
    description = "Add a note to a record."

    @property
    def wish(self) -> Wish:
        """By words for notes."""
        return declared_wish("note")

    @property
    def schema(self) -> JsonSchema:
        """As the schema of the arguments says."""
        return arguments_schema(NoteSchema)

    def rights(self, arguments: Arguments) -> Sequence[str]:
        """To change the record."""
        entity = str(arguments.get("type"))
        return SERVICES[entity].needed_rights("update") if entity in NOTED else ()

    def check(self, arguments: Arguments, sentences: Sequence[str]) -> str:
        """The record must be one that the caller may read."""
        note = load(NoteSchema(), arguments)
        title = record_of(note["type"], note["id"]).title
        return f"Add to {title} the note: {note['text']}"

    def run(self, arguments: Arguments) -> dict[str, Any]:
        """A line in the notes, or an internal comment."""
        note = load(NoteSchema(), arguments)
        entity, key, text = note["type"], note["id"], note["text"]
        if entity == "Ticket":
            create_comment(key, body=text, is_internal=True)
            return made_of(entity, key)
        column = NOTED[entity]
        service = SERVICES[entity]
        # Two who add a note at the same time add two.
        present = getattr(service.stored(key), column)
        line = f"{today().isoformat()}: {text}"
        service.update(key, {column: f"{present}\n{line}" if present else line})
        return made_of(entity, key)


class MailTool:
    """The text, and a link that opens it in a mail program: sending it is a person's."""

    name = "draft_mail"
    description = "Draft the text of a mail; a person sends it."

    @property
    def wish(self) -> Wish:
        """By words for mails, or with an address."""
        return declared_wish("mail", takes_address=True)

    @property
    def schema(self) -> JsonSchema:
        """As the schema of the arguments says."""
        return arguments_schema(MailSchema)

    def rights(self, arguments: Arguments) -> Sequence[str]:
        """It changes nothing."""
        return ()

    def check(self, arguments: Arguments, sentences: Sequence[str]) -> str:
        """Whom it goes to is looked at where it is proposed."""
        mail = load(MailSchema(), arguments)
        return f"Draft a mail to {mail['to']}: {mail['subject']}"

    def run(self, arguments: Arguments) -> dict[str, Any]:
        """The text with its link."""
        to, subject, body = arguments["to"], arguments["subject"], arguments["body"]
        link = f"mailto:{quote(to)}?subject={quote(subject)}&body={quote(body)}"
        return {"to": to, "subject": subject, "body": body, "url": link}
