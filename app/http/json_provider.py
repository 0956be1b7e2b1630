"""Flask's own JSON, by the same rules as everywhere: exact numbers, instants with ``Z``."""

from __future__ import annotations

from typing import Any

from flask import Response
from flask.json.provider import JSONProvider

from app.db.types import json_text
from app.http.json_body import parse_json


class ExactJson(JSONProvider):
    """``jsonify`` and dictionaries returned by views, written by ``json_text``."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        """``obj`` as JSON text."""
        return json_text(obj)

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a JSON text, read strictly."""
        return parse_json(s.encode() if isinstance(s, str) else s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        """An answer whose body is the one argument, or an object of those with names."""
        (body,) = args or (kwargs,)
        return Response(json_text(body), mimetype="application/json")
