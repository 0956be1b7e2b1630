"""Names of files, cleaned when they come in."""

from __future__ import annotations

import re
import unicodedata

from app.errors import ValidationError

MAXIMUM_LENGTH = 255
# What turns the direction of writing: "photo\u202egpj.exe" reads as photoexe.jpg.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PATH = re.compile(r".*[/\\]", re.DOTALL)


def clean_file_name(name: str | None) -> str:
    """The name of a file as it is kept: its last segment, composed, with no turns of direction.

    Raises: ValidationError, on ``file``: it has none, control characters, or too many.
    """
    text = _DIRECTIONS.sub("", unicodedata.normalize("NFC", name or ""))
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValidationError([("file", "must be a file name without control characters")])
    text = _PATH.sub("", text).strip().rstrip(". ")
    if not text:
        raise ValidationError([("file", "must be a file with a name")])
    if len(text) > MAXIMUM_LENGTH:
        raise ValidationError([("file", f"must have at most {MAXIMUM_LENGTH} characters")])
    return text


def extension_of(name: str) -> str:
    """``Offer.PDF`` -> ``pdf``; empty without one."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""
