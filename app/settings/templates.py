"""Texts with names in braces: templates of mail by kind and language, answers of the help desk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.http.schema_fields import BadValueError
from app.settings.values import check_members
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
_LENGTHS = {"subject": 500, "message": 20_000}
PLACE = re.compile(r"\{(\w*)\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text with the names in braces replaced; what is put in is not looked at again."""
    return PLACE.sub(lambda match: values.get(match[1], match[0]), template)


def check_templates(value: Any) -> dict[str, Any]:
    """``{"invoice": {"en": {"subject": "...", "message": "..."}}}``."""
    return check_members(value, _check_kind)


def _check_kind(kind: str, value: Any) -> dict[str, Any]:
    if kind not in KINDS:
        raise BadValueError(f"is no kind of mail; there are {', '.join(KINDS)}")
    return check_members(value, _check_language)


def _check_language(tag: str, value: Any) -> dict[str, str]:
    language(tag)
    return check_members(value, _check_part)


def _check_part(name: str, value: Any) -> str:
    if name not in _LENGTHS:
        raise BadValueError("is no part of a template; there are subject and message")
    text = _text(value, _LENGTHS[name])
    if name == "subject" and not text.isprintable():
        raise BadValueError("must be one line")
    return _with_known_places(text, PLACES)


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise BadValueError(f"must be text of 1 to {longest} characters")
    return value


def _with_known_places(text: str, places: Mapping[str, str]) -> str:
    unknown = [name for name in PLACE.findall(text) if name not in places]
    if unknown:
        raise BadValueError(f"has {{{unknown[0]}}}; there are {', '.join(places)}")
    return text


def template_schema() -> dict[str, Any]:
    """How templates are described."""
    parts = {
        name: {"type": "string", "maxLength": length, "minLength": 1}
        for name, length in _LENGTHS.items()
    }
    template = {"type": "object", "properties": parts}
    by_language = {"type": "object", "additionalProperties": template}
    return {
        "type": "object",
        "properties": dict.fromkeys(KINDS, by_language),
        "example": {"invoice": {"en": {"subject": "Invoice {number} of {seller}"}}},
    }


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


def check_answers(value: Any) -> dict[str, str]:
    """``{"Received": "Hello {contact}, ..."}``.

    Raises: BadValueError, BadPartsError.
    """
    checked = check_members(value, _check_answer)
    if len(checked) > MOST_ANSWERS:
        raise BadValueError(f"must be at most {MOST_ANSWERS} answers")
    return checked


def _check_answer(name: str, value: Any) -> str:
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadValueError(f"must have a name of 1 to {LONGEST_NAME} characters")
    return _with_known_places(_text(value, LONGEST_ANSWER), ANSWER_PLACES)


def answers_schema() -> dict[str, Any]:
    """How canned answers are described."""
    text = {"type": "string", "minLength": 1, "maxLength": LONGEST_ANSWER}
    return {
        "type": "object",
        "additionalProperties": text,
        "example": {"Received": "Hello {contact}, we are looking into {number}. {agent}"},
    }
