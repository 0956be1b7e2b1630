"""User names are compared in a folded form: case, width and outer blanks do not matter."""

from __future__ import annotations

import unicodedata


def fold_name(name: str) -> str:
    """The form in which two spellings of one name are equal."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
