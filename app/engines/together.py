"""Statements that share one way to PostgreSQL: libpq's pipeline mode (docs/adr/0140)."""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Any, NamedTuple

from psycopg.errors import OperationalError, error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

_GOOD = frozenset((ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK))


class Sent(NamedTuple):
    """A statement as libpq takes it, by the name under which it is prepared if it has one."""

    text: bytes
    name: bytes | None = None
    values: Any = None
    types: Sequence[int] | None = None
    formats: Sequence[int] | None = None


def send_together(libpq: PGconn, statements: Sequence[Sent]) -> PGresult:
    """Run ``statements`` one after the other; returns the result of the last one.

    The server does not run those behind a refused one.

    Returns: a good one.
    Raises: psycopg.Error, for the first that was refused.
    """
    results: list[PGresult] = []
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
            results.append(_next_result(libpq))
            libpq.get_result()  # none: the end of this statement's results, which is here already
        _next_result(libpq)  # that of the synchronization
        libpq.exit_pipeline_mode()
    except BaseException:
        if libpq.status == ConnStatus.OK:
            libpq.finish()  # in the middle of the answers it is of no use to anybody
        raise
    for result in results:
        if result is None:
            raise OperationalError("the server has closed the connection")
        if result.status not in _GOOD:
            checked(result)
    return results[-1]


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


def _next_result(libpq: PGconn) -> Any:
    """The next result, or None; who waits for it lets others run, as ``get_result`` would not."""
    if libpq.is_busy():
        arrival = select.poll()
        arrival.register(libpq.socket, select.POLLIN)
        while libpq.is_busy():
            arrival.poll()
            libpq.consume_input()
    return libpq.get_result()
