"""Numbers of the pages: read and shown as the user who is signed in writes them."""

from __future__ import annotations

from decimal import Decimal

from flask import g, has_request_context

from app.console.language import SOURCE, account_language, page_language
from app.localisation.numbers import (
    Signs,
    grouped_number,
    read_number,
    shown_number,
    signs_for,
    signs_of,
)
from app.money import digits
from app.settings import organisation


def reader_signs() -> Signs | None:
    """How the user writes numbers; None where nobody knows, which asks what could be two."""
    if not has_request_context():
        return None
    if "number_signs" not in g:
        g.number_signs = _signs()
    signs: Signs | None = g.number_signs
    return signs


def page_signs() -> Signs | None:
    """How a page writes numbers: as the user does, else as its language does if it was wished."""
    if (signs := reader_signs()) is not None or page_language() == SOURCE:
        return signs
    return signs_of(page_language())


def typed_number(text: str, places: int | None = None) -> Decimal:
    """The number that was typed; ``places`` are the decimals that the value can have.

    Raises: NoNumberError, it is none, or could be two.
    """
    return read_number(text, reader_signs(), places)


def number_text(number: Decimal) -> str:
    """A number as a field shows it, in the signs of the page, and reads it again."""
    return shown_number(number, page_signs())


def amount_text(amount: Decimal | int, currency: str | None = None) -> str:
    """``1,234.50 EUR``, as the user reads it."""
    least = digits(currency) if currency else None
    return f"{grouped_number(Decimal(amount), page_signs(), least)} {currency or ''}".strip()


def _signs() -> Signs | None:
    if (language := account_language()) is None:
        return None
    settings = organisation()
    return signs_for(language, settings.defaults.language, settings.seller.country)
