"""Texts with names in braces: templates of mail by kind and language, answers of the help desk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import BadValueError, Field, Schema
from app.writing.fields import Text
from app.writing.formats import language

KINDS = ("invoice", "creditNote", "notice", "reminder")
# Name in braces -> what it stands for.
PLACES: Mapping[str, str] = {
    "number": "number of the document",
    "client": "name of the client",
    "contact": "person addressed, or the client",
    "seller": "name of the seller",
    "total": "total with currency",
    "amountDue": "what is left to pay, with currency",
    "issueDate": "date of the document",
    "dueDate": "date until which it is payable",
    "daysOverdue": "days since the due date; 0 before it",
    "link": "address of the document's page; nothing where it has none",
}
PLACE = re.compile(r"\{(\w*)\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text with the names in braces replaced; what is put in is not looked at again."""
    return PLACE.sub(lambda match: values.get(match[1], match[0]), template)


def _with_places(places: Mapping[str, str]) -> Callable[[str], str]:
    """The check of a text in which no other names stand in braces."""

    def check(text: str) -> str:
        unknown = [name for name in PLACE.findall(text) if name not in places]
        if unknown:
            raise BadValueError(f"has {{{unknown[0]}}}; there are {', '.join(places)}")
        return text

    return check


class TemplateSchema(Schema):
    """The words of a mail; the product's own where none are given."""

    subject = Text(500, _with_places(PLACES), lines=False)
    message = Text(20_000, _with_places(PLACES), lines=True)


def template_field(description: str) -> Field:
    """``{"invoice": {"en": {"subject": "...", "message": "..."}}}``."""
    kinds: dict[str, Any] = {
        kind: fields.Dict(Text(10, language), fields.Nested(TemplateSchema)) for kind in KINDS
    }
    example = {"invoice": {"en": {"subject": "Invoice {number} of {seller}"}}}
    schema = type("TemplatesSchema", (Schema,), kinds)
    return fields.Nested(schema, allow_none=True, description=description, example=example)


# Name in braces -> what it stands for.
ANSWER_PLACES: Mapping[str, str] = {
    "number": "number of the ticket",
    "subject": "what the ticket is about",
    "client": "name of the client",
    "contact": "person who asks, or the client",
    "agent": "who answers",
}
MOST_ANSWERS = 100
LONGEST_NAME, LONGEST_ANSWER = 100, 10_000


def usual_answers() -> dict[str, str]:
    """Those of an organisation that has written none."""
    return {
        "Received": "Hello {contact},\n\nthank you for your message. We are looking into it and"
        " will come back to you.\n\n{agent}",
        "More information": "Hello {contact},\n\nto go on with {number} we need to know a little"
        " more: what did you do, what did you expect, and what happened?\n\n{agent}",
        "Solved": "Hello {contact},\n\n“{subject}” should be solved now. If it is not, simply"
        " answer to this message.\n\n{agent}",
    }


def answers_field(description: str) -> Field:
    """``{"Received": "Hello {contact}, ..."}``."""
    return fields.Dict(
        Text(LONGEST_NAME, None),
        Text(LONGEST_ANSWER, _with_places(ANSWER_PLACES), lines=True),
        validate=validate.Length(max=MOST_ANSWERS, error=f"must be at most {MOST_ANSWERS} answers"),
        allow_none=True,
        description=description,
        example={"Received": "Hello {contact}, we are looking into {number}. {agent}"},
    )
