"""Forms that came when the session had ended: they go on after signing in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from flask import request

from app.console.session import TOKEN

# More than this is not carried through the page of signing in.
_MOST_BYTES = 2_000_000
_URLENCODED = "application/x-www-form-urlencoded"
_FORMS = ("/new", "/edit")

Fields = Sequence[tuple[str, str]]


def typed_fields() -> Fields:
    """The fields of the form that was sent; none that is secret, and none of too large a form."""
    if request.method != "POST" or request.mimetype != _URLENCODED:
        return []
    if (request.content_length or 0) > _MOST_BYTES:
        return []
    return [
        (name, text)
        for name, text in request.form.items(multi=True)
        if name != TOKEN and "password" not in name.lower()
    ]


def packed(fields: Fields) -> str:
    """Fields as the page of signing in carries them."""
    return json.dumps(list(fields)) if fields else ""


def unpacked(text: str) -> Fields:
    """Fields that the page of signing in has carried; none where they are none of ours."""
    try:
        fields = json.loads(text or "[]")
        return [(str(name), str(value)) for name, value in fields]
    except (ValueError, TypeError):
        return []


def is_form(target: str) -> bool:
    """Whether an address shows the form again that was sent to it."""
    return target.endswith(_FORMS)
