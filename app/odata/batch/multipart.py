"""A batch as multipart/mixed: bytes to units, and answers to bytes (Protocol 11.7.7; RFC 9112).

Source of the form itself: RFC 2046, 5.1.
Line ends may be LF alone; a preamble and an epilogue are skipped. What is malformed between the
parts, or in their own headers, refuses the whole batch before anything of it is done; a request in
a part that cannot be read is answered in its place. Both tell the byte where reading stopped.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import pairwise
from urllib.parse import quote_from_bytes

from flask import Response
from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from app.errors import ValidationError
from app.odata.batch.parts import REQUEST_ID, Part, Result, Unit, refuse_too_many

_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_HEADER_NAME = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:")
_METHOD = re.compile(rb"[A-Za-z]{1,20}(?=[ \t])")
_PROTOCOL = re.compile(rb"HTTP/\d(?:\.\d)?")
_BLANK_LINES = re.compile(rb"[ \t\r\n]*+")
_MOST_HEADERS = 50
# What stands in a URL as it is; a client that leaves blanks or other letters bare is understood.
_IN_URL = "%:/?#[]@!$&'()*+,;=-._~{}\"|^`<>\\"
# Headers of the connection and of the answer as a whole, not of a part.
_LEFT_OUT = ("content-length", "connection", "server", "date")
_ENCODINGS = ("", "binary", "8bit", "7bit")


def read_multipart(body: bytes, content_type: str, most: int) -> list[Unit]:
    """The units of a batch.

    Args:
        content_type: of the batch; its boundary separates the parts.
        most: requests that a batch may have.
    Raises: ValidationError, with the position of what is malformed; TooLargeError.
    """
    boundary = _boundary(parse_options_header(content_type)[1], 0)
    whole = _Slice(body, 0, len(body))
    units: list[Unit] = []
    count = 0
    for part in _split(whole, boundary, most):
        headers, content = _headers(part)
        media_type, options = parse_options_header(headers.get("Content-Type", ""))
        if media_type.lower() == "multipart/mixed":
            inner = tuple(_change_set(content, _boundary(options, part.start), most - count))
            units.append(Unit(inner, ""))
        else:
            inner = (_request(headers, media_type, content),)
            units.append(Unit(inner))
        count += len(inner)
        refuse_too_many(count, most)
    if not units:
        raise _malformed("it has no part", whole.end)
    _refuse_repeated([unit.parts[0] for unit in units if unit.group is None])
    return units


@dataclass(frozen=True, slots=True)
class _Slice:
    """A stretch of the body; positions are those in the body."""

    body: bytes
    start: int
    end: int

    @property
    def content(self) -> bytes:
        return self.body[self.start : self.end]


def _malformed(problem: str, position: int) -> ValidationError:
    return ValidationError(
        [("", f"The batch is malformed at byte {position}: {problem}.")], position=position
    )


def _boundary(options: Mapping[str, str], position: int) -> bytes:
    boundary = options.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise _malformed("Content-Type: multipart/mixed needs a boundary", position)
    return boundary.encode()


def _split(whole: _Slice, boundary: bytes, most: int) -> Iterator[_Slice]:
    """The parts between the delimiter lines.

    Raises: ValidationError, there is none, or the closing one is missing; TooLargeError, which is
        found by counting lines alone.
    """
    delimiter = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*\r?$", re.MULTILINE)
    lines = []
    closing = None
    for line in delimiter.finditer(whole.body, whole.start, whole.end):
        lines.append(line)
        if line[1]:
            closing = len(lines) - 1
            break
        refuse_too_many(len(lines), most)
    if closing is None:
        problem = "its last part is not closed" if lines else "no line begins with its boundary"
        raise _malformed(problem, whole.end)
    for line, following in pairwise(lines[: closing + 1]):
        # The line end before a delimiter belongs to the delimiter.
        start, end = line.end() + 1, following.start() - 1
        if whole.body[end - 1 : end] == b"\r":
            end -= 1
        yield _Slice(whole.body, start, max(start, end))


def _headers(part: _Slice) -> tuple[Headers, _Slice]:
    """The header lines at the start of ``part``, and what comes after the blank line."""
    headers = Headers()
    position = part.start
    while position < part.end:
        end = part.body.find(b"\n", position, part.end)
        end = part.end if end < 0 else end
        line = part.body[position:end].removesuffix(b"\r")
        if not line.strip():
            return headers, _Slice(part.body, min(end + 1, part.end), part.end)
        name = _HEADER_NAME.match(line)
        if name is None or b"\0" in line or b"\r" in line or len(headers) == _MOST_HEADERS:
            raise _malformed("this is no header, or one too many", position)
        headers.add(name[1].decode(), line[name.end() :].strip(b" \t").decode("latin-1"))
        position = end + 1
    return headers, _Slice(part.body, part.end, part.end)


def _change_set(content: _Slice, boundary: bytes, most: int) -> Iterator[Part]:
    parts = []
    for part in _split(content, boundary, most):
        headers, inner = _headers(part)
        media_type, _ = parse_options_header(headers.get("Content-Type", ""))
        if media_type.lower() == "multipart/mixed":
            raise _malformed("a change set has no change sets in it", part.start)
        request = _request(headers, media_type, inner)
        if request.method in ("GET", "HEAD") and request.problem is None:
            problem = "a change set has only requests that change something"
            request = replace(request, problem=_malformed(problem, inner.start))
        parts.append(request)
    _refuse_repeated(parts)
    yield from parts


def _refuse_repeated(parts: list[Part]) -> None:
    seen: set[str] = set()
    for part in parts:
        if part.id is not None and part.id in seen:
            raise ValidationError([("Content-ID", f"{part.id!r} is there twice")])
        seen.add(part.id or "")


def _request(headers: Headers, media_type: str, content: _Slice) -> Part:
    if media_type.lower() != "application/http":
        raise _malformed("a part is application/http or multipart/mixed", content.start)
    if headers.get("Content-Transfer-Encoding", "").lower() not in _ENCODINGS:
        raise _malformed("a part is sent as Content-Transfer-Encoding: binary", content.start)
    content_id = headers.get("Content-ID")
    if content_id is not None and not REQUEST_ID.fullmatch(content_id):
        raise _malformed("a Content-ID is 1 to 128 visible ASCII characters", content.start)
    try:
        return _read_request(content, content_id)
    except ValidationError as error:
        return Part("GET", "", Headers(), id=content_id, problem=error)


def _read_request(content: _Slice, content_id: str | None) -> Part:
    """The message in a part."""
    blank = _BLANK_LINES.match(content.body, content.start, content.end)
    start = blank.end() if blank else content.start
    end = content.body.find(b"\n", start, content.end)
    end = content.end if end < 0 else end
    method, url = _request_line(content.body[start:end], start)
    inner, rest = _headers(_Slice(content.body, min(end + 1, content.end), content.end))
    if "Transfer-Encoding" in inner:
        raise _malformed("a request in a batch is not chunked", start)
    return Part(method, url, inner, _body(inner, rest.content), content_id)


def _request_line(line: bytes, position: int) -> tuple[str, str]:
    """Method and URL; the version at the end may be missing."""
    method = _METHOD.match(line)
    url = b"" if method is None else line[method.end() :].strip(b" \t\r")
    before, _, last = url.replace(b"\t", b" ").rpartition(b" ")
    if _PROTOCOL.fullmatch(last):
        url = before.strip(b" ")
    if method is None or not url or b"\0" in url or b"\r" in url:
        raise _malformed("expected a request line, such as GET Clients(1) HTTP/1.1", position)
    return method[0].decode().upper(), quote_from_bytes(url, safe=_IN_URL)


def _body(headers: Headers, rest: bytes) -> bytes:
    """The body of a request; around JSON, blank lines do not matter."""
    media_type = parse_options_header(headers.get("Content-Type", ""))[0].lower()
    if media_type.endswith("json"):
        return rest.strip()
    length = headers.get("Content-Length", "")
    if length.isascii() and length.isdigit() and int(length) < len(rest):
        return rest[: int(length)]
    return rest if rest.strip() else b""


# --- the answer (Protocol 11.7.7.5)


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
