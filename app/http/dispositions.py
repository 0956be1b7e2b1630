"""The header with which a file leaves: how it is shown, and its whole name."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

# Characters that stand for themselves in an ext-value (RFC 8187, 3.2.1).
_ATTRIBUTE_CHARACTERS = "!#$&+-.^_`|~"
# What some reader of a quoted file name takes for something else (RFC 6266, appendix D).
_UNQUOTABLE = re.compile(r'[^\x20-\x7e]|["\\%;]')


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
