"""Charts drawn as pictures, in a process of their own that ends soon after the last of them.

The renderer carries a whole script engine, some 100 MB: a web process that loaded it would keep
them (docs/adr/0007).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.db.types import json_text
from app.errors import ServiceUnavailableError
from app.jobs.processes import ChildProcess, FunctionFailedError

beside = ChildProcess(idle_seconds=5)


def draw(spec: Mapping[str, Any], form: str) -> bytes:
    """The picture of a specification: ``svg`` or ``png``; nothing is fetched from anywhere.

    Raises: ServiceUnavailableError, it took too long or the renderer failed.
    """
    try:
        return beside.call("app.bi.renderer:render", json_text(spec), form)
    except FunctionFailedError as error:
        raise ServiceUnavailableError("The chart cannot be drawn now.") from error
