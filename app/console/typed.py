"""What was typed into a form, or stands in an address, as values."""

from __future__ import annotations

from flask import request

from app.console.language import translated
from app.errors import ValidationError

# A key of a record has no more digits.
_LONGEST_KEY = 18


def key_in(text: str) -> int | None:
    """The key of a record, or another whole number; None for what is none."""
    is_key = text.isascii() and text.isdecimal() and len(text) <= _LONGEST_KEY
    return int(text) if is_key else None


def typed_text(name: str) -> str:
    """The text of a field of the form, lines ending as they do here."""
    return request.form.get(name, "").replace("\r\n", "\n").strip()


def typed_note(name: str, longest: int = 500) -> str | None:
    """A text that may be missing; what is too long is cut."""
    return typed_text(name)[:longest] or None


def typed_name(longest: int, refusal: str) -> str:
    """The field ``name`` of the form.

    Args:
        refusal: what is said of one that is missing or too long.
    Raises: ValidationError.
    """
    name = typed_text("name")
    if not name or len(name) > longest:
        raise ValidationError([("name", refusal)])
    return name


def typed_count(name: str, most: int, *, required: bool = False) -> int | None:
    """A whole number from 1 on; None for an empty field that need not be filled in.

    Raises: ValidationError.
    """
    text = typed_text(name)
    number = key_in(text) or 0
    if (text or required) and not 1 <= number <= most:
        refusal = translated("must be a number from 1 to %(most)s", most=most)
        raise ValidationError([(name, refusal)])
    return number or None


def typed_addresses(name: str) -> tuple[str, ...]:
    """Addresses with commas or semicolons between."""
    parts = typed_text(name).replace(";", ",").split(",")
    return tuple(part.strip() for part in parts if part.strip())
