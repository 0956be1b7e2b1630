"""Canned answers of the help desk: texts with names in braces, filled in for a ticket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.http.schema_fields import BadValueError
from app.settings.templates import PLACE
from app.settings.values import check_members

# Name in braces -> what it stands for.
PLACES: Mapping[str, str] = {
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
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_ANSWER:
        raise BadValueError(f"must be text of 1 to {LONGEST_ANSWER} characters")
    unknown = [placeholder for placeholder in PLACE.findall(value) if placeholder not in PLACES]
    if unknown:
        raise BadValueError(f"has {{{unknown[0]}}}; there are {', '.join(PLACES)}")
    return value


def answers_schema() -> dict[str, Any]:
    """How canned answers are described."""
    text = {"type": "string", "minLength": 1, "maxLength": LONGEST_ANSWER}
    return {
        "type": "object",
        "additionalProperties": text,
        "example": {"Received": "Hello {contact}, we are looking into {number}. {agent}"},
    }
