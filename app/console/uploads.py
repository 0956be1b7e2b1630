"""Forms with files, read as they come in; their first field shows that a page of ours sent them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from flask import current_app, request
from werkzeug.datastructures import Headers

from app.console import session
from app.console.language import translated
from app.errors import ForbiddenError, UnsupportedMediaTypeError
from app.http.body_stream import BodyStream
from app.http.multipart import Form, Part

# Fields of this beginning are one object: heading -> property.
MAPPED = "map:"
_LEFT_OUT = "-"
# A file may have as many columns as may be mapped, each a part.
MOST_PARTS = 550


class PageForm(Form):
    """A form of a page: its token is checked before anything else of it is read."""

    def __init__(self) -> None:
        """Raises: UnsupportedMediaTypeError, it is no form with files; ValidationError."""
        if request.mimetype != "multipart/form-data":
            raise UnsupportedMediaTypeError("Send the file as a part of multipart/form-data.")
        stream = BodyStream(current_app.config["MAX_CONTENT_LENGTH"])
        super().__init__(stream, request.mimetype_params, MOST_PARTS)
        self.is_mapped = False  # whether the columns of a file were shown, and could be named
        self.mapping: dict[str, str | None] = {}
        self.typed: dict[str, str] = {}

    def parts(self) -> Iterator[Part]:
        """The parts behind the token; of the mapping, where there is one, a part at the end.

        Raises: ForbiddenError, the token is not the first field or is not right.
        """
        parts = super().parts()
        first = next(parts, None)
        if first is None or first.name != session.TOKEN or first.file_name is not None:
            raise ForbiddenError(translated("This form is out of date: load the page again."))
        session.check_token(first.text())
        for part in parts:
            if part.name.startswith(MAPPED):
                self.is_mapped = True
                target = part.text()
                if target:
                    heading = part.name.removeprefix(MAPPED)
                    self.mapping[heading] = None if target == _LEFT_OUT else target
            elif part.file_name is None:
                yield Part(part.name, None, self._noted(part), part.headers)
            elif part.file_name:  # a field for a file in which none was chosen has no name
                yield part
        if self.mapping:
            yield Part("mapping", None, iter([json.dumps(self.mapping).encode()]), Headers())

    def _noted(self, part: Part) -> Iterator[bytes]:
        """The bytes of a field, whose text is kept for the page that shows it again."""
        content = b""
        for chunk in part.chunks:
            content += chunk
            yield chunk
        self.typed[part.name] = content.decode(errors="replace")
