"""Statements that share one way to PostgreSQL: libpq's pipeline mode (docs/adr/0140)."""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Any

from psycopg.errors import OperationalError, error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

_NOTHING: Any = object()  # in place of a result where the connection ended
_GOOD = frozenset((ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK))

# A statement as libpq takes it: its text, the name under which it is prepared if it has one, the
# values, their types and formats. Plain, because a write makes six.
Sent = tuple[bytes, bytes | None, Any, Sequence[int] | None, Sequence[int] | None]


def send_together(libpq: PGconn, statements: Sequence[Sent]) -> list[PGresult]:
    """Run ``statements`` one after the other; returns the result of each.

    The server does not run those behind a refused one.

    Returns: good ones.
    Raises: psycopg.Error, for the first that was refused.
    """
    refused: Any = None
    results: list[Any] = []
    libpq.enter_pipeline_mode()
    try:
        for text, name, values, types, formats in statements:
            if name is None:
                libpq.send_query_params(text, values, types, formats)
            else:
                libpq.send_query_prepared(name, values, formats)
        libpq.pipeline_sync()
        if libpq.flush():
            _send_rest(libpq)
        for _ in statements:
            if libpq.is_busy():
                _await_result(libpq)
            result = libpq.get_result()
            if refused is None and (result is None or result.status not in _GOOD):
                refused = _NOTHING if result is None else result
            results.append(result)
            libpq.get_result()  # none: the end of this statement's results, which is here already
        if libpq.is_busy():
            _await_result(libpq)
        libpq.get_result()  # that of the synchronization
        libpq.exit_pipeline_mode()
    except BaseException:
        if libpq.status == ConnStatus.OK:
            libpq.finish()  # in the middle of the answers it is of no use to anybody
        raise
    if refused is None:
        return results
    if refused is not _NOTHING:
        checked(refused)
    raise OperationalError("the server has closed the connection")


def checked(result: PGresult) -> None:
    """Raise what the server says where it refused, or that it is gone: then it gives no state."""
    if result.status in _GOOD:
        return
    error = error_from_result(result)
    if error.sqlstate is None:
        raise OperationalError(str(error))
    raise error


def _send_rest(libpq: PGconn) -> None:
    """What the socket did not take at once; the server may want to be read before it takes more."""
    way = select.poll()
    way.register(libpq.socket, select.POLLIN | select.POLLOUT)
    while libpq.flush():
        if any(event & ~select.POLLOUT for _, event in way.poll()):
            libpq.consume_input()


def _await_result(libpq: PGconn) -> None:
    """Wait for the next result and let others run, as ``get_result`` would not."""
    arrival = select.poll()
    arrival.register(libpq.socket, select.POLLIN)
    while libpq.is_busy():
        arrival.poll()
        libpq.consume_input()
