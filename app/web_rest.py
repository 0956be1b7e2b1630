"""What a client still sends of a body that was answered before it was read (docs/adr/0130).

Who refuses a request by its head has not read its body, and the next request on the connection
stands behind it. Before the answer leaves, a short rest is read and thrown away; where that takes
too long, or the rest is long, the answer says that the connection ends with it (RFC 9112, 9.3).
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from gunicorn.http.body import LengthReader  # type: ignore[import-untyped]

# A longer rest costs more than a new connection.
MOST_BYTES = 1_048_576
# How long a thread waits for it, whatever the client's pace.
MOST_SECONDS = 1.0
READ_BYTES = 65_536


def is_left(req: Any) -> bool:
    """Whether something of the body of ``req`` may still have to be read from its connection."""
    body = getattr(req, "body", None)
    if body is None:
        return False
    reader = body.reader
    return body.failed or not (type(reader) is LengthReader and reader.length == 0)


def take(req: Any) -> bool:
    """Read the rest of a body and forget it, within bounds.

    Returns: whether the next request can follow; otherwise the connection must end.
    """
    body = req.body
    unreader = req.unreader
    connection = getattr(unreader, "sock", None)
    if body.failed or connection is None:
        return False
    if type(body.reader) is LengthReader and body.reader.length > MOST_BYTES:
        return False
    timeout = connection.gettimeout()
    unreader.sock = _Bounded(connection)
    try:
        while body.read(READ_BYTES):
            continue
        return True
    except Exception:  # too slow, too long, gone, or no body at all: nothing can follow
        return False
    finally:
        unreader.sock = connection
        with suppress(OSError):  # closed meanwhile, which whoever writes to it finds out
            connection.settimeout(timeout)


class _Bounded:
    """A connection from which little is read, and for a short time in all."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._until = time.monotonic() + MOST_SECONDS
        self._left = MOST_BYTES

    def recv(self, size: int) -> bytes:
        left = self._until - time.monotonic()
        if left <= 0 or self._left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        found: bytes = self._connection.recv(size)
        self._left -= len(found)
        return found
