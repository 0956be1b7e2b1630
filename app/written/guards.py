"""Texts that a spreadsheet would take for formulas, guarded by an apostrophe, and taken back."""

from __future__ import annotations

import re

# What makes a spreadsheet take a text for a formula (OWASP, CSV injection), behind apostrophes
# that were there already: so that what is taken back is always what was guarded.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_GUARD = "'"


def guarded(text: str) -> str:
    """``=1+1`` -> ``'=1+1``."""
    return _GUARD + text if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """``'=1+1`` -> ``=1+1``; every other text as it is."""
    return text[1:] if text.startswith(_GUARD) and _FORMULA.match(text) else text


def marked(text: str) -> str:
    """A text of a cell that runs no formula anyway, such that ``unguarded`` gives it back."""
    return guarded(text) if text.startswith(_GUARD) else text
