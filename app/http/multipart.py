"""Forms with files, read as they come in: no part is held in memory or copied to a disk.

Flask's own reading of forms puts every file aside before the view runs. Here the view takes the
parts one after the other, and the bytes of a file go where the view sends them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from werkzeug.datastructures import Headers
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import NEED_DATA, Data, Epilogue, Field, File, MultipartDecoder

from app.errors import TooLargeError, UnsupportedMediaTypeError, ValidationError

READ_BYTES = 64 * 1024
# The headers of a part, or a field, are no longer; a form has no more parts.
MAXIMUM_FIELD_BYTES = 64 * 1024
MAXIMUM_PARTS = 50
_BUFFER_BYTES = 512 * 1024


class Source(Protocol):
    """Where the bytes come from."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; empty at the end."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a form; ``file_name`` is None for a plain field.

    ``chunks`` are its bytes, to be read before the next part is asked for; what was not read is
    passed over.
    """

    name: str
    file_name: str | None
    chunks: Iterator[bytes]
    headers: Headers

    def text(self) -> str:
        """The value of a field.

        Raises: ValidationError, it is not UTF-8, has a NUL or is too long.
        """
        content = b""
        for chunk in self.chunks:
            content += chunk
            if len(content) > MAXIMUM_FIELD_BYTES:
                raise ValidationError([(self.name, f"more than {MAXIMUM_FIELD_BYTES} bytes")])
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise ValidationError([(self.name, "is not UTF-8")]) from error
        if "\0" in text:
            raise ValidationError([(self.name, "has the character U+0000")])
        return text


class Form:
    """A form that is being read; its ``fingerprint`` is complete when all parts have been."""

    def __init__(
        self, stream: Source, parameters: dict[str, str], most_parts: int = MAXIMUM_PARTS
    ) -> None:
        """``parameters`` are those of the Content-Type.

        Raises: ValidationError, it names no boundary.
        """
        boundary = parameters.get("boundary", "")
        if not boundary or not boundary.isascii() or len(boundary) > 200:
            raise ValidationError([("Content-Type", "must name the boundary of the parts")])
        self._stream = stream
        self._most_parts = most_parts
        self._decoder = MultipartDecoder(boundary.encode(), _BUFFER_BYTES, max_parts=most_parts)
        self._digest = hashlib.sha256()

    def parts(self) -> Iterator[Part]:
        """The parts, in their order.

        Raises: ValidationError, the body is no form, or breaks off; TooLargeError, too many parts.
        """
        events = self._events()
        for event in events:
            if isinstance(event, Field | File):
                part = self._part(event, events)
                yield part
                for _ in part.chunks:
                    pass

    @property
    def fingerprint(self) -> str:
        """SHA-256 over names and contents, whatever the boundary; hex."""
        return self._digest.hexdigest()

    def _part(self, event: Field | File, events: Iterator[Any]) -> Part:
        name = event.name or ""
        # Browsers escape the quotation mark of a file name, and nothing else a name may have.
        file_name = event.filename.replace("%22", '"') if isinstance(event, File) else None
        return Part(name, file_name, self._chunks(events, (name, file_name)), event.headers)

    def _chunks(self, events: Iterator[Any], names: tuple[str, str | None]) -> Iterator[bytes]:
        content = hashlib.sha256()
        for event in events:
            content.update(event.data)
            if event.data:
                yield event.data
            if not event.more_data:
                line = f"{names!r} {content.hexdigest()}\n"
                self._digest.update(line.encode("utf-8", "backslashreplace"))
                return

    def _events(self) -> Iterator[Any]:
        try:
            while True:
                event = self._decoder.next_event()
                if event is NEED_DATA:
                    self._decoder.receive_data(self._stream.read(READ_BYTES) or None)
                elif isinstance(event, Epilogue):
                    return
                elif isinstance(event, Field | File | Data):
                    yield event
        except RequestEntityTooLarge as error:
            raise TooLargeError(
                f"The form has more than {self._most_parts} parts, or a header without end."
            ) from error
        except (ValueError, OSError) as error:
            raise ValidationError(
                [("", "The body is no complete form of multipart/form-data.")]
            ) from error


def read_form(stream: Source, mimetype: str, parameters: dict[str, str]) -> Form:
    """The form that a request carries.

    Raises: UnsupportedMediaTypeError, it carries something else; ValidationError.
    """
    if mimetype != "multipart/form-data":
        raise UnsupportedMediaTypeError("Send the file as a part of multipart/form-data.")
    return Form(stream, parameters)
