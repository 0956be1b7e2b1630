"""Charts drawn as pictures, in a process of their own that ends with the picture.

The renderer carries a whole script engine, some 100 MB: a web process that loaded it would keep
them (docs/adr/0095). Two pictures are drawn at a time in one process, others wait their turn.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from app.errors import ServiceUnavailableError
from app.types import json_text

SECONDS = 30
_turns = threading.BoundedSemaphore(2)


def draw(spec: Mapping[str, Any], form: str) -> bytes:
    """The picture of a specification: ``svg`` or ``png``; nothing is fetched from anywhere.

    Raises: ServiceUnavailableError, it took too long or the renderer failed.
    """
    if not _turns.acquire(timeout=SECONDS):
        raise ServiceUnavailableError("Too many charts are being drawn: try again in a moment.")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "app.bi.renderer", form],
            input=json_text(spec).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise ServiceUnavailableError("The chart cannot be drawn now.") from error
    finally:
        _turns.release()
    return done.stdout
