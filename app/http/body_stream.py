"""The body of a request as a stream: bounded, and complete or refused."""

from __future__ import annotations

from collections.abc import Iterator

from flask import g, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from app.errors import TooLargeError, UnsupportedMediaTypeError, ValidationError
from app.extensions import configuration

READ_BYTES = 64 * 1024


class BodyStream:
    """Reads the body of the running request, ``maximum`` bytes at most."""

    def __init__(self, maximum: int) -> None:
        """Nothing is read yet.

        Raises: TooLargeError, by Content-Length alone; UnsupportedMediaTypeError, it is packed.
        """
        length = request.content_length
        if length is not None and length > maximum:
            raise too_large(maximum)
        check_readable(request.headers)
        # One byte more tells a body without a length that is too long from one that just fits.
        request.max_content_length = maximum + 1
        self._maximum = maximum
        self._length = length
        self._count = 0
        self._stream = request.stream

    def read(self, size: int = READ_BYTES) -> bytes:
        """Up to ``size`` bytes; empty at the end.

        Raises: TooLargeError; ValidationError, it ends before its Content-Length.
        """
        try:
            chunk = self._stream.read(size)
        except RequestEntityTooLarge as error:
            raise too_large(self._maximum) from error
        except (ClientDisconnected, OSError) as error:
            raise _incomplete() from error
        self._count += len(chunk)
        if self._count > self._maximum:
            raise too_large(self._maximum)
        if not chunk and self._length is not None and self._count < self._length:
            raise _incomplete()
        return chunk

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self.read():
            yield chunk


def maximum_upload() -> int:
    """The largest file that is taken, in bytes."""
    return configuration.current.max_upload_bytes


def note_fingerprint(fingerprint: str) -> None:
    """What a streamed body was, for the record of its Idempotency-Key: SHA-256, hex."""
    g.body_fingerprint = fingerprint


def noted_fingerprint() -> str | None:
    """What was noted; None when the body was not read to its end."""
    fingerprint: str | None = g.get("body_fingerprint")
    return fingerprint


def check_readable(headers: Headers, charset: str = "utf-8") -> None:
    """Refuse a body that is packed, or whose characters are not UTF-8.

    Raises: UnsupportedMediaTypeError.
    """
    if charset.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise UnsupportedMediaTypeError("Send the body with Content-Type charset=utf-8.")
    if headers.get("Content-Encoding", "identity") != "identity":
        raise UnsupportedMediaTypeError(
            "Send the body without a Content-Encoding.", headers={"Accept-Encoding": "identity"}
        )


def too_large(maximum: int) -> TooLargeError:
    """The error for more than ``maximum`` bytes."""
    return TooLargeError(f"The body has more than {maximum} bytes.")


def _incomplete() -> ValidationError:
    return ValidationError([("", "The body ends before its Content-Length.")])
