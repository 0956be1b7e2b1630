"""Whether so much of a request has arrived that a thread need not wait for it (docs/adr/0143)."""

from __future__ import annotations

import re
import socket

# What is looked at; a longer request is given to a thread, which reads the rest of it.
LOOK_BYTES = 32_768
# A head ends with an empty line; gunicorn decides what it thinks of one without CR.
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_LENGTH = re.compile(rb"\n[Cc]ontent-[Ll]ength:[ \t]*(\d{1,9})[ \t]*\r?\n")
# Whoever asks first sends the body only after an answer of the server.
_ASKS_FIRST = re.compile(rb"\nexpect:", re.IGNORECASE)


def needed_bytes(connection: socket.socket, awaited: int = 0) -> int:
    """How many bytes the kernel must hold before another look; 0: a thread can have it now.

    Nothing is taken out of the connection. A thread gets what is complete, its head and a short
    body; what is too long to be looked at; and what the client has ended or broken.

    Args:
        awaited: what the last look said; with less than that it was woken by an end.
    """
    try:
        seen = connection.recv(LOOK_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 1
    except OSError:
        return 0
    if len(seen) < max(awaited, 1) or len(seen) == LOOK_BYTES:
        return 0
    head = _END_OF_HEAD.search(seen)
    if head is None:
        return len(seen) + 1
    length = _LENGTH.search(seen, 0, head.end())
    if length is None or _ASKS_FIRST.search(seen, 0, head.end()):
        return 0
    whole = head.end() + int(length[1])
    return 0 if whole <= len(seen) or whole > LOOK_BYTES else whole


def wake_at(connection: socket.socket, count: int) -> None:
    """Let the poller say "readable" when ``count`` bytes are there, or the client has ended."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
