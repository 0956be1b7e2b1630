"""gunicorn's listening sockets: nobody is let in before somebody can answer (docs/adr/0130)."""

from __future__ import annotations

import os
import socket
from typing import Any

# Where sockets come from somebody else they listen already: an older master, or systemd.
_INHERITED = ("GUNICORN_FD", "LISTEN_FDS")


def hold_back(arbiter: Any) -> None:
    """In the master, before it starts workers: keep the addresses, and do not listen on them.

    Whoever connects is refused, so that a proxy asks another host, instead of waiting in a queue
    until the application is loaded.
    """
    if any(name in os.environ for name in _INHERITED):
        return
    for listener in arbiter.LISTENERS:
        if listener.sock.family not in (socket.AF_INET, socket.AF_INET6):
            continue
        address = listener.sock.getsockname()
        held = socket.socket(listener.sock.family, socket.SOCK_STREAM)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.sock.close()
        held.bind(address)
        held.setblocking(False)
        listener.sock = held


def let_in(worker: Any) -> None:
    """In a worker that can answer: listen, if no other worker does so already."""
    for listener in worker.sockets:
        listener.sock.listen(worker.cfg.backlog)
