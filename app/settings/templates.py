"""Templates of mail: a subject and a message with names in braces, by kind and language."""

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
    if not isinstance(value, str) or not value.strip() or len(value) > _LENGTHS[name]:
        raise BadValueError(f"must be text of 1 to {_LENGTHS[name]} characters")
    if name == "subject" and not value.isprintable():
        raise BadValueError("must be one line")
    unknown = [placeholder for placeholder in PLACE.findall(value) if placeholder not in PLACES]
    if unknown:
        raise BadValueError(f"has {{{unknown[0]}}}; there are {', '.join(PLACES)}")
    return value


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
