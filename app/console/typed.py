"""What was typed into a form, or stands in an address, as values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import request

from app.console.language import translated
from app.errors import ValidationError
from app.http.schema_fields import BadValueError
from app.localisation.numbers import NoNumberError

# A key of a record has no more digits.
_LONGEST_KEY = 18


class MistypedError(ValueError):
    """What was typed is no value of its field; the text says so."""


# What says that a text is no value of its field, a number, or of the form that a service wants.
UNREADABLE = (MistypedError, NoNumberError, BadValueError)


@contextmanager
def refused_at(field: str) -> Iterator[None]:
    """Refuse what cannot be read, with the field that it was typed into.

    Raises: ValidationError.
    """
    try:
        yield
    except UNREADABLE as error:
        raise ValidationError([(field, str(error))]) from None


@contextmanager
def noted_at(field: str, problems: list[tuple[str, str]]) -> Iterator[None]:
    """Note what cannot be read among the problems, with the field that it was typed into."""
    try:
        yield
    except UNREADABLE as error:
        problems.append((field, str(error)))


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


def typed_count(name: str, most: int) -> int:
    """A whole number from 1 on.

    Raises: ValidationError.
    """
    number = key_in(typed_text(name)) or 0
    if not 1 <= number <= most:
        refusal = translated("must be a number from 1 to %(most)s", most=most)
        raise ValidationError([(name, refusal)])
    return number


def typed_addresses(name: str) -> tuple[str, ...]:
    """Addresses with commas or semicolons between."""
    parts = typed_text(name).replace(";", ",").split(",")
    return tuple(part.strip() for part in parts if part.strip())
