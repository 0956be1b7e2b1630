"""How schemathesis writes what it does not know: it imports this as its hooks."""

from __future__ import annotations

from typing import Any

import schemathesis


@schemathesis.serializer("message/rfc822")
def write_message(_: Any, value: Any) -> bytes:
    """A message is its text."""
    return str(value).encode("utf-8", "replace")
