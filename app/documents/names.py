"""Names of files: cleaned when they come in, and whole in the header with which they leave."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from app.errors import ValidationError

MAXIMUM_LENGTH = 255
# What turns the direction of writing: "photo\u202egpj.exe" reads as photoexe.jpg.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PATH = re.compile(r".*[/\\]", re.DOTALL)
# Characters that stand for themselves in an ext-value (RFC 8187, 3.2.1).
_ATTRIBUTE_CHARACTERS = "!#$&+-.^_`|~"
# What some reader of a quoted file name takes for something else (RFC 6266, appendix D).
_UNQUOTABLE = re.compile(r'[^\x20-\x7e]|["\\%;]')


def clean_file_name(name: str | None, field: str = "file") -> str:
    """The name of a file as it is kept: its last segment, composed, with no turns of direction.

    Raises: ValidationError, on ``field``: it has none, control characters, or too many.
    """
    text = _DIRECTIONS.sub("", unicodedata.normalize("NFC", name or ""))
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValidationError([(field, "The file name has control characters.")])
    text = _PATH.sub("", text).strip().rstrip(". ")
    if not text:
        raise ValidationError([(field, "The file has no name.")])
    if len(text) > MAXIMUM_LENGTH:
        raise ValidationError([(field, f"A file name has at most {MAXIMUM_LENGTH} characters.")])
    return text


def extension_of(name: str) -> str:
    """``Offer.PDF`` -> ``pdf``; empty without one."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def content_disposition(kind: str, name: str) -> str:
    """The header of ``name``: in ASCII for old programs, and exact (RFC 6266, RFC 8187)."""
    plain = _UNQUOTABLE.sub("_", _without_accents(name))
    header = f'{kind}; filename="{plain}"'
    if plain == name:
        return header
    return f"{header}; filename*=UTF-8''{quote(name, safe=_ATTRIBUTE_CHARACTERS)}"


def _without_accents(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(character for character in decomposed if not unicodedata.combining(character))
