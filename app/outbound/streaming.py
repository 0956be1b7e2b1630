"""Answers that are read as they come, such as those of a model provider.

The same care as ``app/outbound/client.py``: no redirects, proxies, cookies or credentials of the
environment, an end for the whole exchange, and one for every silence within it.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from app.outbound.addresses import UrlError, read_url
from app.outbound.client import OutboundError, reason_of
from app.outbound.connections import Connection, RefusedAddressError
from app.outbound.deadlines import Deadline, Watch

PART_BYTES = 16_384


class StreamedAnswer:
    """What the other host says, part by part."""

    def __init__(self, response: http.client.HTTPResponse, deadline: Deadline) -> None:
        self._response = response
        self._deadline = deadline
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    def parts(self) -> Iterator[bytes]:
        """The body as it arrives, to its end.

        Raises: OutboundError, it broke off, was silent for too long, or took too long in all.
        """
        try:
            while part := self._response.read1(PART_BYTES):
                yield part
        except (OSError, http.client.HTTPException) as error:
            raise OutboundError(reason_of(error, self._deadline)) from error
        if self._deadline.passed:  # what was cut looks as if it had ended
            raise OutboundError(reason_of(TimeoutError(), self._deadline))
        if self._response.length:
            raise OutboundError("The answer broke off.")

    def read(self, most: int) -> bytes:
        """The beginning of the body: ``most`` bytes or a few more.

        Raises: OutboundError.
        """
        body = bytearray()
        for part in self.parts():
            body += part
            if len(body) >= most:
                break
        return bytes(body)


@contextmanager
def streamed_answer(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    seconds: float,
    silence: float,
    allow_private: bool = False,
) -> Iterator[StreamedAnswer]:
    """POST ``body``; the connection is closed at the end of the block, read to its end or not.

    Args:
        headers: all but Host and Content-Length.
        seconds: the end of the exchange, whatever the other host does.
        silence: how long it may say nothing, before its headers and between parts.
        allow_private: for addresses that the operator of this service chose.
    Raises: OutboundError, there was no answer.
    """
    try:
        target = read_url(url, allow_private=allow_private)
    except UrlError as error:
        raise OutboundError("The address is not allowed.") from error
    deadline = _watch().begin(seconds)
    connection = Connection(target, allow_private)
    connection.deadline = deadline
    sock: socket.socket | None = None
    try:
        try:
            connection.connect()
            sock = connection.sock
            sock.settimeout(max(0.001, min(silence, deadline.left)))
            connection.request("POST", target.path, body, {"Host": target.header, **headers})
            response = connection.getresponse()
        except RefusedAddressError as error:
            raise OutboundError("The address is not allowed.") from error
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise OutboundError(reason_of(error, deadline)) from error
        with response:
            yield StreamedAnswer(response, deadline)
    finally:
        deadline.lift()
        connection.close()
        if sock is not None:  # a connection that is to end forgets its socket before it is read
            sock.close()


@cache
def _watch() -> Watch:
    return Watch()
