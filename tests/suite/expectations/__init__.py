"""All expectations, in the order of the sections."""

from __future__ import annotations

from tests.suite.expectations import (
    filters,
    headers,
    metadata,
    newer,
    operations,
    options,
    protocol,
    reading,
    writing,
)
from tests.suite.registry import EXPECTATIONS

__all__ = [
    "EXPECTATIONS",
    "filters",
    "headers",
    "metadata",
    "newer",
    "operations",
    "options",
    "protocol",
    "reading",
    "writing",
]
