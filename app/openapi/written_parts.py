"""The parts of the description that no code knows: they are written down beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson

from app.odata.model import edm
from app.openapi.answers import headers

_FOLDER = Path(__file__).parent


def frame(container: edm.EntityContainer, limits: str) -> dict[str, Any]:
    """What is the same for every model: the service's own paths, errors, headers, credentials.

    Args:
        limits: the sentence on rate limits at the end of every description.
    """
    text = (_FOLDER / "frame.json").read_text(encoding="utf-8")
    text = text.replace("RATE_LIMITS", limits)
    text = text.replace("FIRST_SET", next(iter(container.sets), ""))
    parts: dict[str, Any] = orjson.loads(text)
    answers = list(parts["components"]["responses"].values())
    for methods in parts["paths"].values():
        for operation in methods.values():
            answers += operation["responses"].values()
    for answer in answers:
        if "headers" in answer:
            answer["headers"] |= headers()
    return parts


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Bodies that work when they are sent, and texts where any would not do.

    ``odata``: entity type, or type and navigation property, -> body of a creation; references are
    to the first record of a set. ``rest``: method and path -> body. ``texts``: property -> text.
    """
    return orjson.loads((_FOLDER / "examples.json").read_bytes())  # type: ignore[no-any-return]
