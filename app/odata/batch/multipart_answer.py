"""The answers of a batch as multipart/mixed (Protocol 11.7.7.5)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from http import HTTPStatus

from flask import Response

from app.odata.batch.parts import Part, Result

# Headers of the connection and of the answer as a whole, not of a part.
_LEFT_OUT = ("content-length", "connection", "server", "date")


def write_multipart(results: Sequence[Result]) -> Response:
    """The answer to a batch: its parts in the order of the requests."""
    boundary = f"batchresponse_{secrets.token_hex(16)}"
    body = _multipart([_unit(result) for result in results], boundary)
    return Response(body, content_type=f"multipart/mixed; boundary={boundary}")


def _unit(result: Result) -> bytes:
    parts = result.unit.parts
    if result.unit.group is None:
        return _part(parts[0], result.answers[0])
    if result.failed:
        # One error stands for the whole change set.
        return _part(None, result.answers[result.cause])
    boundary = f"changesetresponse_{secrets.token_hex(16)}"
    inner = [_part(part, answer) for part, answer in zip(parts, result.answers, strict=True)]
    head = f"Content-Type: multipart/mixed; boundary={boundary}\r\n\r\n"
    return head.encode() + _multipart(inner, boundary)


def _multipart(parts: Sequence[bytes], boundary: str) -> bytes:
    line = f"--{boundary}"
    return b"".join(f"{line}\r\n".encode() + part + b"\r\n" for part in parts) + (
        f"{line}--\r\n".encode()
    )


def _part(request: Part | None, answer: Response) -> bytes:
    head = ["Content-Type: application/http", "Content-Transfer-Encoding: binary"]
    if request is not None and request.id is not None:
        head.append(f"Content-ID: {request.id}")
    content = b"" if request is not None and request.method == "HEAD" else answer.get_data()
    status = HTTPStatus(answer.status_code)
    head += ["", f"HTTP/1.1 {status.value} {status.phrase}"]
    head += [f"{name}: {value}" for name, value in answer.headers if name.lower() not in _LEFT_OUT]
    if content:
        head.append(f"Content-Length: {len(content)}")
    return "\r\n".join([*head, "", ""]).encode("latin-1", "replace") + content
