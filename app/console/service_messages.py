"""Messages of the service, which speaks English, in the language of a page."""

from __future__ import annotations

from app.console.language import translated


def said(message: str) -> str:
    """A message in the language of the page; as it is where the catalogue has none for it."""
    return translated(message)
