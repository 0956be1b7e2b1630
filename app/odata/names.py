"""Names of attributes, and what they are on the wire."""

from __future__ import annotations

import re

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def apart(name: str) -> str:
    """``PartiallyPaid`` -> ``Partially Paid``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def camel(attribute: str) -> str:
    """``tax_id`` -> ``taxId``."""
    first, *rest = attribute.split("_")
    return first + "".join(part.capitalize() for part in rest)


def snake(name: str) -> str:
    """``LineItems`` -> ``line_items``."""
    return _WORDS.sub("_", name).lower()
