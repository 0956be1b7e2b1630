"""Flask's own JSON keeps to our rules: exact numbers, instants with ``Z``, strict reading."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from flask import Flask, jsonify

from app.errors import ApiError
from app.http.json_body import ExactJson

pytestmark = pytest.mark.only_on("sqlite")


def test_what_a_view_returns_is_exact(app: Flask) -> None:
    instant = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
    with app.app_context():
        answer = jsonify(total=Decimal("0.10"), at=instant)
    assert answer.mimetype == "application/json"
    text = answer.get_data(as_text=True)
    assert text.startswith('{"total":0.10,"at":"2026-01-31T12:00:00')
    assert text.rstrip().endswith('Z"}')


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "{", b"[1,]"])
def test_a_body_is_read_strictly(app: Flask, text: str | bytes) -> None:
    assert isinstance(app.json, ExactJson)
    with pytest.raises(ApiError):
        app.json.loads(text)
    assert app.json.loads(b'{"a":[1]}') == {"a": [1]}
