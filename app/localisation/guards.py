"""Texts that a spreadsheet or a reader of ours would change, guarded by an apostrophe."""

from __future__ import annotations

import re

# What makes a spreadsheet take a text for a formula (OWASP, CSV injection), and blanks around it,
# which a reader leaves out. Apostrophes may stand in front: what is taken back is then always what
# was guarded.
_GUARDED = re.compile("'*(?:[=+\\-@\\s\uff1d\uff0b\uff0d\uff20]|.*\\s\\Z)", re.DOTALL)
_GUARD = "'"


def guarded(text: str) -> str:
    """``=1+1`` -> ``'=1+1``."""
    return _GUARD + text if _GUARDED.match(text) else text


def unguarded(text: str) -> str:
    """``'=1+1`` -> ``=1+1``; of every other text the blanks around it are left out."""
    for each in (text, text.strip()):
        if each.startswith(_GUARD) and _GUARDED.match(each):
            return each[1:]
    return text.strip()


def marked(text: str) -> str:
    """A text for a cell in which no formula runs anyway, such that ``unguarded`` gives it back."""
    return guarded(text) if text.startswith(_GUARD) or text != text.strip() else text
