"""A batch as JSON: objects to units, and answers to objects (JSON Format 4.01, chapter 19).

What is wrong with the batch refuses it: names that are there twice, groups that are torn apart,
dependencies on what does not come before. What is wrong with one request is its answer.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson
from flask import Response
from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from app.db.types import json_text
from app.errors import MOST_DETAILS, ValidationError
from app.odata.batch.parts import REQUEST_ID, Part, Result, Unit, refuse_too_many
from app.odata.errors import QueryError
from app.odata.payload.values import Problems
from app.odata.syntax.literals import base64url, to_binary

_MEMBERS = ("id", "method", "url", "atomicityGroup", "dependsOn", "if", "headers", "body")
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")


def read_json_batch(batch: Any, most: int) -> list[Unit]:
    """The units of a batch.

    Args:
        batch: the body as parsed JSON.
        most: requests that a batch may have.
    Raises: ValidationError, with each problem; TooLargeError.
    """
    requests = batch.get("requests") if isinstance(batch, dict) else None
    if not isinstance(requests, list):
        raise ValidationError([("requests", "must be an array of requests")])
    refuse_too_many(len(requests), most)
    reader = _Reader()
    for member in batch:
        if member != "requests" and "@" not in member:
            reader.problems.add_unknown(member, member, ("requests",), "a batch")
    for index, request in enumerate(requests):
        reader.read(request, f"requests[{index}]")
    reader.problems.raise_any()
    return reader.units


class _Reader:
    """Reads one request after the other; knows the ids and groups of those before."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.units: list[Unit] = []
        self._ids: set[str] = set()
        self._groups: set[str] = set()
        # What the requests together may still tell of what is wrong with them; each tells one.
        self._left = MOST_DETAILS

    def read(self, request: Any, location: str) -> None:
        if not isinstance(request, dict):
            self.problems.add(location, "must be an object")
            return
        group = request.get("atomicityGroup")
        depends_on = tuple(self._dependencies(request.get("dependsOn"), f"{location}.dependsOn"))
        name = self._identifier(request.get("id"), f"{location}.id")
        part = _read_part(request, name, depends_on, location, max(self._left, 1))
        self._left -= 0 if part.problem is None else len(part.problem.details)
        if group is None:
            self.units.append(Unit((part,)))
        else:
            self._add_to_group(part, group, f"{location}.atomicityGroup")

    def _add_to_group(self, part: Part, group: Any, location: str) -> None:
        last = self.units[-1] if self.units else None
        if not isinstance(group, str) or not REQUEST_ID.fullmatch(group):
            self.problems.add(location, "must be a text of 1 to 128 visible ASCII characters")
        elif last is not None and last.group == group:
            self.units[-1] = Unit((*last.parts, part), group)
        elif group in self._groups:
            self.problems.add(location, "must be adjacent to the other requests of the group")
        elif group in self._ids:
            self.problems.add(location, "is the id of a request")
        else:
            self._groups.add(group)
            self.units.append(Unit((part,), group))

    def _identifier(self, value: Any, location: str) -> str:
        if not isinstance(value, str) or not REQUEST_ID.fullmatch(value):
            self.problems.add(location, "must be a text of 1 to 128 visible ASCII characters")
            return ""
        if value in self._ids:
            self.problems.add(location, "is there twice")
        elif value in self._groups:
            self.problems.add(location, "is the name of an atomicityGroup")
        self._ids.add(value)
        return value

    def _dependencies(self, value: Any, location: str) -> Iterator[str]:
        if value is None:
            return
        if not isinstance(value, list):
            self.problems.add(location, "must be an array of ids")
            return
        for index, name in enumerate(value):
            if isinstance(name, str) and (name in self._ids or name in self._groups):
                yield name
            else:
                self.problems.add(f"{location}[{index}]", "is no request or group before this one")


def _read_part(
    request: dict[str, Any], name: str, depends_on: tuple[str, ...], location: str, most: int
) -> Part:
    """A request by itself; with its problems, ``most`` of them, if it has any."""
    problems = Problems(most)
    for member in request:
        if member not in _MEMBERS and "@" not in member:
            problems.add_unknown(f"{location}.{member}", member, _MEMBERS, "a request")
    method, condition = request.get("method"), request.get("if")
    method = method.upper() if isinstance(method, str) else ""
    if method not in _METHODS:
        problems.add(f"{location}.method", "must be one of delete, get, patch, post, put")
    url = _text(request.get("url"), f"{location}.url", problems)
    headers = _headers(request.get("headers"), f"{location}.headers", problems)
    if condition is not None:
        condition = _text(condition, f"{location}.if", problems)
    body = _body_of(method, headers, request.get("body"), f"{location}.body", problems)
    part = Part(method, url or "", headers, body, name, depends_on, condition)
    return replace(part, problem=ValidationError(problems.details)) if problems.details else part


def _text(value: Any, location: str, problems: Problems) -> str | None:
    if not isinstance(value, str) or not value:
        problems.add(location, "must be a text")
        return None
    return value


def _headers(value: Any, location: str, problems: Problems) -> Headers:
    headers = Headers()
    if value is not None and not isinstance(value, dict):
        problems.add(location, "must be an object")
    elif value:
        for name, text in value.items():
            if isinstance(text, str) and not {"\r", "\n"} & {*text, *name}:
                headers.add(name, text)
            else:
                problems.add(f"{location}.{name}", "must be a text of one line")
    return headers


def _body_of(method: str, headers: Headers, value: Any, location: str, problems: Problems) -> bytes:
    """The bytes of a body as they would come alone; ``headers`` say of which type they are."""
    if value is None:
        return b""
    if method in ("GET", "HEAD", "DELETE"):
        problems.add(location, f"must not be there: {method} has no body")
        return b""
    media_type = parse_options_header(headers.get("Content-Type", ""))[0].lower()
    if not media_type:
        media_type = "application/json"
        headers.set("Content-Type", media_type)
    if media_type.endswith("json"):
        return json_text(value).encode()
    if not isinstance(value, str):
        problems.add(location, f"must be a text, as it is of type {media_type}")
    elif media_type.startswith("text/"):
        return value.encode()
    else:
        try:
            return to_binary(value)
        except QueryError:
            problems.add(location, "must be base64url")
    return b""


def write_json_batch(results: Sequence[Result]) -> Response:
    """The answer to a batch: an object for each request, in their order.

    A part of a multipart batch without ``Content-ID`` is known by its number, from 1.
    """
    answered = [
        (part, result.unit.group, answer)
        for result in results
        for part, answer in zip(result.unit.parts, result.answers, strict=True)
    ]
    part_ids = {part.id for part, _, _ in answered}
    answers = [
        _answer(part.id or _free(str(number), part_ids), group, part.method, answer)
        for number, (part, group, answer) in enumerate(answered, start=1)
    ]
    return Response(f'{{"responses":[{",".join(answers)}]}}', content_type="application/json")


def _free(name: str, taken: Container[str | None]) -> str:
    """``name``, or one like it that no request has."""
    while name in taken:
        name = f"_{name}"
    return name


def _answer(name: str, group: str | None, method: str, answer: Response) -> str:
    members: dict[str, Any] = {"id": name}
    if group:
        members["atomicityGroup"] = group
    members["status"] = answer.status_code
    members["headers"] = {
        header.lower(): value
        for header, value in answer.headers
        if header.lower() != "content-length"
    }
    text = json_text(members)
    content = b"" if method == "HEAD" else answer.get_data()
    return text if not content else f'{text[:-1]},"body":{_body(answer, content)}}}'


def _body(answer: Response, content: bytes) -> str:
    """JSON as it is, other text as a string, bytes as base64url (JSON Format 19.2).

    Files are what somebody uploaded: one that is no JSON, though it says so, is a string.
    """
    media_type = answer.mimetype or ""
    if media_type.endswith("json"):
        is_ours = "OData-Version" in answer.headers
        return content.decode() if is_ours or _is_json(content) else json_text(_characters(answer))
    if media_type.startswith("text/"):
        return json_text(_characters(answer))
    return json_text(base64url(content))


def _is_json(content: bytes) -> bool:
    try:
        orjson.loads(content)
    except orjson.JSONDecodeError:
        return False
    return True


def _characters(answer: Response) -> str:
    """The characters of a text: what is not in its character set has one for each byte."""
    content = answer.get_data()
    try:
        return content.decode(answer.mimetype_params.get("charset", "utf-8"))
    except (UnicodeDecodeError, LookupError):
        return content.decode("latin-1")
