"""The one reader of JSON: strict, exact and bounded, for REST and OData alike.

Fractions become ``Decimal``, never a binary float, and so do integers over 64 bits. What RFC 8259
leaves to the reader and what no database takes is refused: a name twice, NaN and Infinity, halves
of surrogate pairs, NUL, nesting without end, numbers of absurd size.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import Any, NoReturn

from flask import Response, current_app, request
from flask.json.provider import JSONProvider
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from app.db.types import json_text
from app.errors import UnsupportedMediaTypeError, ValidationError
from app.http.body_stream import check_readable, too_large

MAXIMUM_DEPTH = 64
# Powers of ten beyond these are outside every type of the service, double precision included.
_MAXIMUM_EXPONENT = 400
_MAXIMUM_DIGITS = 100
_SAFE_DIGITS = 19
# How a path shows a member whose name is empty.
NO_NAME = '""'
# A text without its closing quote reaches to the end.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


def read_json() -> Any:
    """The body of the request, read as JSON.

    Raises: UnsupportedMediaTypeError, it is announced as something else; TooLargeError, it is
        over the limit, by its ``Content-Length`` or while it is read; ValidationError, it is not
        JSON, or not of the kind above.
    """
    _check_content_type(request.mimetype, request.mimetype_params.get("charset", "utf-8"))
    return parse_json(read_body(current_app.config["MAX_JSON_BYTES"]))


def read_object() -> dict[str, Any]:
    """The body of the request, which must be a JSON object.

    Raises: as ``read_json``; ValidationError too when it is another JSON value.
    """
    body = read_json()
    if not isinstance(body, dict):
        raise ValidationError([("", "A JSON object is expected.")])
    return body


def read_body(maximum: int) -> bytes:
    """The bytes of the body.

    Raises: TooLargeError, more than ``maximum``; with a ``Content-Length`` nothing is read.
    """
    # A body without a length is cut off at the limit, silently: one byte more tells it apart.
    received = request
    received.max_content_length = maximum + 1
    try:
        body = received.get_data(parse_form_data=False)
    except RequestEntityTooLarge as error:
        raise too_large(maximum) from error
    if len(body) > maximum:
        raise too_large(maximum)
    if len(body) < (received.content_length or 0):  # the server says where a body ends, not why
        raise ClientDisconnected
    return body


def parse_json(body: bytes) -> Any:
    """The value that the JSON text ``body`` stands for.

    Raises: ValidationError, with the place where reading stopped.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_json(f"byte {error.start} is not UTF-8") from error
    if text.count("[") + text.count("{") > MAXIMUM_DEPTH:
        _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except _RepeatedNameError:
        raise _repeated_name(text) from None
    except json.JSONDecodeError as error:
        raise _no_json_from(error) from error
    except ValueError as error:
        # Ours, and Python's refusal of integers with thousands of digits.
        raise _not_json("a number is too large") from error
    if "\\u" in text:
        _check_characters(value)
    return value


def _check_content_type(mimetype: str, charset: str) -> None:
    is_json = mimetype == "application/json" or (
        mimetype.startswith("application/") and mimetype.endswith("+json")
    )
    if not is_json:
        sent = f", not {mimetype}" if mimetype else ""
        raise UnsupportedMediaTypeError(f"Send the body as application/json{sent}.")
    check_readable(request.headers, charset)


def _check_depth(text: str) -> None:
    """Refuse nesting beyond ``MAXIMUM_DEPTH`` before a recursive reader meets it."""
    brackets = _BRACKET.findall(_STRING.sub("", text))
    deepest = max(accumulate(1 if each in "[{" else -1 for each in brackets), default=0)
    if deepest > MAXIMUM_DEPTH:
        raise _not_json(f"nested more than {MAXIMUM_DEPTH} deep")


def _check_characters(value: Any) -> None:
    """Refuse, by its place, what only an escape can bring in: NUL, and half a surrogate pair."""
    problems: list[tuple[str, str]] = []
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            if problem := _bad_character(item):
                problems.append(problem_at(path, f"has {problem}"))
        elif isinstance(item, dict):
            for name in item:
                if problem := _bad_character(name):
                    refusal = problem_at(path, f"has a member whose name has {problem}")
                    raise ValidationError([refusal])
            dot = "." if path else ""
            waiting.extend((f"{path}{dot}{name}", below) for name, below in item.items())
        elif isinstance(item, list):
            waiting.extend((f"{path}[{at}]", below) for at, below in enumerate(item))
    if problems:
        raise ValidationError(problems[::-1])


def problem_at(path: str, problem: str) -> tuple[str, str]:
    """What is said of a place in a body; of the body as a whole it is a sentence."""
    return (path, problem) if path else ("", f"The body {problem}.")


def _bad_character(text: str) -> str | None:
    if "\0" in text:
        return "the character U+0000, which cannot be kept"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RepeatedNameError
    return members


class _RepeatedNameError(Exception):
    """An object has a name twice; which, and where, only a second reading tells."""


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, each as often as it stands there."""


def _repeated_name(text: str) -> ValidationError:
    """The error for a text in which a name stands twice, with its path."""
    try:
        waiting: list[tuple[str, Any]] = [("", _PAIRS_DECODER.decode(text))]
    except json.JSONDecodeError as error:  # further on it is no JSON either
        return _no_json_from(error)
    while waiting:
        prefix, item = waiting.pop()
        if isinstance(item, _Pairs):
            dot = "." if prefix else ""
            seen: set[str] = set()
            for name, below in item:
                path = f"{prefix}{dot}{name or NO_NAME}"
                if name in seen:
                    return ValidationError([(path, "is there twice")])
                seen.add(name)
                waiting.append((path, below))
        elif isinstance(item, list):
            waiting.extend((f"{prefix}[{at}]", below) for at, below in enumerate(item))
    raise AssertionError(text)  # the first reading found one


def _integer(text: str) -> int | Decimal:
    """An ``int`` always fits a column of 64 bits; what is larger is a ``Decimal``."""
    if len(text) < _SAFE_DIGITS or -(2**63) <= int(text) < 2**63:
        return int(text)
    return _decimal(text)


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:  # an exponent beyond those that a Decimal can have
        raise ValueError(text) from error
    if len(text) > _MAXIMUM_DIGITS or abs(number.adjusted()) > _MAXIMUM_EXPONENT:
        raise ValueError(text)
    return number


def _constant(text: str) -> NoReturn:
    raise _not_json(f"{text} is no JSON number")


def _not_json(problem: str) -> ValidationError:
    return ValidationError([("", f"The body is not valid JSON: {problem}.")])


def _no_json_from(error: json.JSONDecodeError) -> ValidationError:
    return _not_json(f"{error.msg.lower()} at line {error.lineno}, column {error.colno}")


_DECODER = json.JSONDecoder(
    parse_int=_integer,
    parse_float=_decimal,
    parse_constant=_constant,
    object_pairs_hook=_object,
)
# Numbers stay text: their size is nobody's question here.
_PAIRS_DECODER = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_Pairs
)


class ExactJson(JSONProvider):
    """``jsonify`` and dictionaries returned by views, written by ``json_text``."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return json_text(obj)

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a JSON text, read strictly."""
        return parse_json(s.encode() if isinstance(s, str) else s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        """An answer whose body is the one argument, or an object of those with names."""
        (body,) = args or (kwargs,)
        return Response(json_text(body), mimetype="application/json")
