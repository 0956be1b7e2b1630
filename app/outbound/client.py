"""The client for addresses that somebody else chose: bounded in time and bytes, and led nowhere.

It is requests with a transport adapter (docs/adr/0010). Redirects are answers like others, proxies
and credentials of the environment are not used, bodies are not unpacked, cookies not kept.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy

import requests
import urllib3
from urllib3.util import SKIP_HEADER

from app.extensions import Extension
from app.outbound.addresses import OutboundError, UrlError, read_url
from app.outbound.connections import (
    CONNECT_SECONDS,
    EXCHANGE_SECONDS,
    Deadline,
    OutboundExchange,
    PinnedAdapter,
    RefusedAddressError,
    Watch,
)

READ_BYTES = 65_536
PART_BYTES = 16_384
_MOST_CAUSES = 10
_PROBLEMS = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, UnicodeError)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the other host said; ``body`` may be cut at the limit, or by the deadline."""

    status: int
    headers: Mapping[str, str]  # by lower-case name
    body: bytes


class StreamedAnswer:
    """What the other host says, part by part."""

    def __init__(self, response: requests.Response, deadline: Deadline) -> None:
        self._raw: urllib3.BaseHTTPResponse = response.raw
        self._deadline = deadline
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    def parts(self) -> Iterator[bytes]:
        """The body as it arrives, to its end.

        Raises: OutboundError, it broke off, was silent for too long, or took too long in all.
        """
        try:
            while part := self._raw.read1(PART_BYTES, decode_content=False):
                yield part
        except (urllib3.exceptions.HTTPError, OSError, http.client.HTTPException) as error:
            raise OutboundError(reason_of(error, self._deadline)) from error
        if self._deadline.passed:  # what was cut looks as if it had ended
            raise OutboundError(reason_of(TimeoutError(), self._deadline))
        if self._raw.length_remaining:
            raise OutboundError("The answer broke off.")
        self._deadline.lift()  # the connection waits for another exchange

    def read(self, most: int, *, may_break_off: bool = False) -> bytes:
        """The first ``most`` bytes of the body.

        Args:
            may_break_off: what came is an answer, too.
        Raises: OutboundError.
        """
        body = bytearray()
        try:
            for part in self.parts():
                body += part
                if len(body) >= most:
                    break
        except OutboundError:
            if not may_break_off:
                raise
        return bytes(body[:most])


class Client:
    """Sends requests; one for a process, used by many threads."""

    def __init__(self, *, allow_private: bool = False, https_only: bool = False) -> None:
        """``allow_private``: for addresses that the operator of this service chose."""
        self._allow_private = allow_private
        self._https_only = https_only
        self._watch = Watch()
        self._exchange = OutboundExchange()
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.clear()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        adapter = PinnedAdapter(self._exchange, allow_private=allow_private)
        self._session.mount("https://", adapter)
        self._session.mount("http://", adapter)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        seconds: float = EXCHANGE_SECONDS,
        read_bytes: int = READ_BYTES,
    ) -> Answer:
        """One exchange, over within ``seconds`` whatever the other host does.

        Args:
            headers: all but Host and Content-Length.
            read_bytes: how much of the answer's body is read at most.
        Raises: OutboundError, there was no answer in time, or the address is not called.
        """
        with self.stream(method, url, headers, body, seconds=seconds) as answer:
            # The status has been said; the rest of the answer changes nothing.
            content = answer.read(read_bytes, may_break_off=True)
            return Answer(answer.status, answer.headers, content)

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        seconds: float = EXCHANGE_SECONDS,
        silence: float = EXCHANGE_SECONDS,
    ) -> Iterator[StreamedAnswer]:
        """As ``send``, for an answer that is read as it comes, inside of the block.

        Args:
            silence: seconds that it may say nothing, before its headers and between parts.
        Raises: OutboundError.
        """
        deadline = self._watch.begin(seconds)
        try:
            with self._ask(method, url, headers, body, deadline, silence) as response:
                yield StreamedAnswer(response, deadline)
        finally:
            deadline.lift()

    def close(self) -> None:
        """Close the idle connections; the client can go on."""
        self._session.close()

    def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        deadline: Deadline,
        silence: float,
    ) -> requests.Response:
        try:
            target = read_url(url, allow_private=self._allow_private, https_only=self._https_only)
        except UrlError as error:
            raise OutboundError("The address is not allowed.") from error
        wire = {"Host": target.header, "Accept-Encoding": "identity", "User-Agent": SKIP_HEADER}
        request = requests.Request(method, f"{target.scheme}://{target.header}/", data=body)
        prepared = self._session.prepare_request(request)
        prepared.headers.update({**wire, **headers})
        # The receiver sees the path that was registered, not one that was written anew.
        prepared.url = f"{target.scheme}://{target.header}{target.path}"
        self._exchange.deadline, self._exchange.target = deadline, target
        timeout = (
            max(0.001, min(CONNECT_SECONDS, deadline.left)),
            max(0.001, min(silence, deadline.left)),
        )
        try:
            response = self._session.send(
                prepared, stream=True, timeout=timeout, allow_redirects=False
            )
        except RefusedAddressError as error:
            raise OutboundError("The address is not allowed.") from error
        except _PROBLEMS as error:
            raise OutboundError(reason_of(error, deadline)) from error
        if deadline.passed:  # headers that were cut look as if they had ended
            response.close()
            raise OutboundError(reason_of(TimeoutError(), deadline))
        return response


# What makes a client; a traced one where traces are wanted.
outbound_client: Extension[Callable[..., Client]] = Extension("outbound_client", lambda: Client)


def reason_of(error: Exception, deadline: Deadline) -> str:
    """A short text without addresses and ports."""
    if deadline.passed:
        return "No answer came in time."
    for cause in _causes(error):
        if isinstance(cause, TimeoutError):
            return "No answer came in time."
        if isinstance(cause, socket.gaierror):
            return "The name of the host was not found."
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "The certificate of the host was not accepted."
        if isinstance(cause, ssl.SSLError):
            return "No secure connection came about."
        if isinstance(cause, http.client.HTTPException) and not isinstance(cause, OSError):
            return "The answer was not HTTP."
    return "The connection failed."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """What is behind ``error``, the innermost first: libraries wrap what they get."""
    chain: list[BaseException] = []
    while error is not None and len(chain) < _MOST_CAUSES:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return reversed(chain)
