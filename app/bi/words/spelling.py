"""Names as keyboards without their letters write them: ``Muenchen`` and ``Munchen`` for München."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from app.models.searched import plain_letters

_UMLAUTS = {"ae": "ä", "oe": "ö", "ue": "ü"}
# Not at the end of a word: "revenue" has none.
_UMLAUT = re.compile(r"(?<!q)[aou]e(?=[^\W\d_])", re.IGNORECASE)
_WRITTEN_OUT = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}


def spelt(name: str) -> tuple[str, ...]:
    """A name without the marks of its letters, and with them written out; none without marks."""
    name = unicodedata.normalize("NFC", name.lower())
    if name.isascii():
        return ()
    written_out = "".join(_WRITTEN_OUT.get(letter, letter) for letter in name)
    return plain_letters(name), plain_letters(written_out)


def spellings(text: str) -> Iterator[str]:
    """A name as it is written, and with its umlauts where they may be written out."""
    yield text
    umlauts = _UMLAUT.sub(lambda match: _UMLAUTS[match[0].lower()], text)
    if umlauts != text:
        yield umlauts.title() if text.istitle() else umlauts
