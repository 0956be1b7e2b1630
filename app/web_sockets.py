"""gunicorn's listening sockets: nobody is let in before somebody can answer (docs/adr/0130)."""

from __future__ import annotations

from typing import Any

from gunicorn.sock import TCPSocket  # type: ignore[import-untyped]


def hold_back() -> None:
    """Before the master takes its addresses: it is to bind them, and not to listen on them.

    Whoever connects is refused, so that a proxy asks another host, instead of waiting in a queue
    until the application is loaded. gunicorn leaves a socket alone that listens already, such as
    one of systemd; each of its own is said to be one. Listening until the master is ready, if only
    for a millisecond, is no way: whoever gets in then is reset.
    """
    TCPSocket._is_listening = staticmethod(lambda sock: True)


def let_in(worker: Any) -> None:
    """In a worker that can answer: listen, if no other worker does so already."""
    for listener in worker.sockets:
        listener.sock.listen(worker.cfg.backlog)
