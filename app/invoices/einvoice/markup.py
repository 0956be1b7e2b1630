"""Writing XML: prefixed names, text cleaned, empty elements left out."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from xml.etree.ElementTree import Element, SubElement, tostring

from app import money
from app.invoices.plain_text import clean

# Of an amount of EN 16931, whatever its currency (BR-DEC-01 to BR-DEC-28).
MOST_DECIMALS = 2


def add(parent: Element, name: str, text: str | None = None, **attributes: str) -> Element | None:
    """Append ``<name>text</name>``; nothing where there is no text."""
    content = clean(text)
    if not content:
        return None
    element = SubElement(parent, name, attributes)
    element.text = content
    return element


def nest(parent: Element, name: str) -> Element:
    """Append an element that others go into."""
    return SubElement(parent, name)


def money_text(amount: Decimal, currency: str) -> str:
    """The decimals of the currency, but no third: the BR-DEC rules take two (``preflight``)."""
    is_whole = money.is_whole(amount, currency)
    places = min(money.digits(currency), MOST_DECIMALS) if is_whole else MOST_DECIMALS
    return f"{amount:.{places}f}"


def number_text(number: Decimal) -> str:
    """As few decimals as the number has, never an exponent."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def serialise(root: Element, *, required: Collection[str] = ()) -> bytes:
    """UTF-8 with an XML declaration.

    Elements that nothing went into are left out, because schemas want content in them; those
    named in ``required`` stay.
    """
    _prune(root, required)
    return bytes(tostring(root, encoding="UTF-8", xml_declaration=True))


def _prune(element: Element, required: Collection[str]) -> None:
    for child in list(element):
        _prune(child, required)
        if not len(child) and not child.text and child.tag not in required:
            element.remove(child)
