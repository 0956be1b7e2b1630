"""``POST /$batch``: from its bytes to the bytes of its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from flask import Response
from sqlalchemy import Connection
from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from app.errors import InvalidQueryError, UnsupportedMediaTypeError, ValidationError
from app.http.body_stream import check_readable
from app.http.json_body import parse_json
from app.odata.batch.json_form import read_json_batch, write_json_batch
from app.odata.batch.multipart import read_multipart, write_multipart
from app.odata.batch.parts import Address, BatchEdge, Part, Unit
from app.odata.batch.references import References
from app.odata.batch.runner import BatchRunner
from app.odata.model import edm
from app.odata.protocol.negotiation import quality_of, version_spoken
from app.odata.protocol.preferences import preferences_of
from app.odata.protocol.request import Request, method_error
from app.odata.syntax.options import read_options

# What a request of a batch takes over from the batch unless it says otherwise.
_INHERITED = ("OData-Version", "OData-MaxVersion")


class AnswerRequest(Protocol):
    """The service's answer to any request."""

    def __call__(self, request: Request, *, in_transaction: bool) -> Response: ...


def answer_batch(
    request: Request,
    container: edm.EntityContainer,
    answer: AnswerRequest,
    connection: Callable[[], Connection],
    edge: BatchEdge,
    holds: Callable[[str, bool], bool],
) -> Response:
    """Do a batch.

    Raises: ValidationError, TooLargeError, UnsupportedMediaTypeError: it is refused as a whole;
        RateLimitedError, there are more requests in it than the caller has left.
    """
    if request.method != "POST":
        raise method_error(request.method, ("POST",), "A batch is sent by POST.")
    if read_options(request.query, ()).system:
        raise InvalidQueryError("A batch has no query options.", position=0)
    headers = request.headers
    for name in ("If-Match", "If-None-Match"):  # Protocol 8.2.4, 8.2.5
        if name in headers:
            raise InvalidQueryError(f"{name} is of one request: send it with those of the batch.")
    version = version_spoken(headers.get("OData-MaxVersion"), headers.get("OData-Version"))
    units, is_json = _read(request, edge.most)
    preferences = preferences_of(headers)
    accepted = _accepted_json(headers)
    count = sum(len(unit.parts) for unit in units)
    if count > 1:
        edge.charge(count - 1)

    def answer_part(
        part: Part, address: Address, references: References, *, in_transaction: bool
    ) -> Response:
        part_headers = Headers(part.headers)
        for name in _INHERITED:
            if name in headers and name not in part_headers:
                part_headers.set(name, headers[name])
        if accepted and "Accept" not in part_headers:
            part_headers.set("Accept", accepted)
        if preferences.include_annotations is not None:  # of two the first counts
            part_headers.add("Prefer", preferences.applied("include-annotations"))
        part_request = Request(
            part.method, address.path, address.query, part_headers, lambda: part.body, request.root,
            request.roots, references.urls(),
        )  # fmt: skip
        return answer(part_request, in_transaction=in_transaction)

    if preferences.return_ is not None:  # Protocol 8.2.8.7
        raise InvalidQueryError(
            "Prefer: return is of one request: send it with those of the batch."
        )
    chosen = preferences.continues_on_error
    roots = (request.root, *request.roots)
    runner = BatchRunner(container, answer_part, holds, connection, edge, roots)
    # The two forms differ in what is done when nothing is said (11.7.7.4; JSON Format 19.5).
    results = runner.run(units, goes_on=is_json if chosen is None else chosen)
    as_json = _is_answered_as_json(headers, is_json, version)
    response = write_json_batch(results) if as_json else write_multipart(results)
    response.headers["OData-Version"] = version
    if chosen is not None:
        response.headers["Preference-Applied"] = preferences.applied("continue-on-error")
    return response


def _read(request: Request, most: int) -> tuple[list[Unit], bool]:
    """The units of the batch, and whether it came as JSON."""
    content_type = request.headers.get("Content-Type", "")
    media_type, options = parse_options_header(content_type)
    check_readable(request.headers, options.get("charset", "utf-8"))
    if media_type.lower() == "multipart/mixed":
        return read_multipart(request.body(), content_type, most), False
    if media_type.lower() != "application/json":
        raise UnsupportedMediaTypeError(
            "Send a batch with Content-Type: multipart/mixed, or application/json."
        )
    if request.headers.get("OData-MaxVersion", "").strip() == "4.0":
        raise ValidationError([("OData-MaxVersion", "must be 4.01: OData 4.0 has no JSON batch")])
    return read_json_batch(parse_json(request.body()), most), True


def _accepted_json(headers: Headers) -> str:
    """The formats of JSON that a request takes which names none itself (Protocol 8.2.1)."""
    ranges = [part.strip() for part in headers.get("Accept", "").split(",")]
    return ", ".join(range_ for range_ in ranges if range_.lower().startswith("application/json"))


def _is_answered_as_json(headers: Headers, is_json: bool, version: str) -> bool:
    """Whether the answer is JSON: what is accepted most, else as the request is (11.7.1).

    OData 4.0 has no batches in JSON: a client that sends multipart and does not say that it knows
    4.01 means the answers within by the JSON that it accepts.
    """
    if version == "4.0" and not is_json:
        return False
    accepted = headers.get("Accept", "")
    json = quality_of(accepted, "application/json")
    multipart = quality_of(accepted, "multipart/mixed")
    return is_json if json == multipart else json > multipart
