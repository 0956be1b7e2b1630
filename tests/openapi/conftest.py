"""The OpenAPI document of the application."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from flask import Flask


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    """The document as clients get it."""
    parsed: dict[str, Any] = orjson.loads(app.extensions["openapi"].text())
    return parsed
