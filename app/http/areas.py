"""An area of the REST API: flask-smorest's Blueprint with our JSON, errors and lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from flask import Flask, Request, current_app, request
from flask_smorest import Blueprint  # type: ignore[import-untyped]
from marshmallow import EXCLUDE, RAISE, Schema, ValidationError as SchemaError, fields
from webargs import missing
from webargs.flaskparser import FlaskParser

from app.errors import ValidationError, telling_all
from app.extensions import Extension
from app.http.json_body import NO_NAME, read_body, read_object
from app.http.schema_fields import UNKNOWN
from app.http.schema_parts import CheckedSchema

View = TypeVar("View")

# What is still to be called before the library's description of the areas is whole.
descriptions = Extension[list[Callable[[], None]]]("area-descriptions", list)
_WHOLE = re.compile(r"-?[0-9]{1,20}")


class Mark(Protocol):
    """A decorator that leaves the type of the view as it is."""

    def __call__(self, view: View, /) -> View: ...


class StrictParser(FlaskParser):
    """Reads bodies with the one JSON reader; what a schema refuses is a 400 that names it."""

    DEFAULT_VALIDATION_STATUS = 400
    # A parameter that nobody reads is a mistake of the caller, in a query as in a body.
    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "query": RAISE,
        "querystring": RAISE,
    }

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        """The parameters, each once, and whole numbers in the digits of OpenAPI.

        Python takes more for a number: ``1_000``, ``+1``, the digits of every script.
        """
        problems = []
        read = {field.data_key or name for name, field in schema.load_fields.items()}
        for name, texts in req.args.lists():
            if schema.unknown == EXCLUDE and name not in read:
                continue
            if len(texts) > 1:
                problems.append((name, "stands twice"))
            elif _is_whole(schema, name) and not _WHOLE.fullmatch(texts[0]):
                problems.append((name, "must be a whole number"))
        if problems:
            raise ValidationError(problems)
        return super().load_querystring(req, schema)

    def load_json(self, req: Request, schema: Schema) -> Any:
        """The body; a request without one counts as an empty object, but never as a replacement."""
        if not req.content_length and "Transfer-Encoding" not in req.headers:
            if req.method == "PUT":
                raise ValidationError([("", "A body is needed: it replaces what is there.")])
            return missing
        return read_object()

    def handle_error(
        self, error: SchemaError, req: Request, schema: Schema, **options: Any
    ) -> NoReturn:
        """Refuse the request, each problem with its field in wire spelling."""
        # webargs puts the messages under the name of the place it read: json, query ...
        (messages,) = error.messages.values()  # type: ignore[union-attr]  # a dictionary here
        refuse(error, schema, messages)


def load(schema: Schema, body: Mapping[str, Any]) -> Any:
    """What a schema makes of a body that was read elsewhere.

    Raises: ValidationError, as for the body of a request.
    """
    try:
        return schema.load(body)
    except SchemaError as error:
        refuse(error, schema, error.messages)


def refuse(error: SchemaError, schema: Schema, messages: Any) -> NoReturn:
    """Refuse a body, each problem with its field, those that only a service finds included.

    Raises: ValidationError.
    """
    refusal = ValidationError(field_problems(messages))
    if not isinstance(schema, CheckedSchema) or not isinstance(error.valid_data, dict):
        raise refusal from error
    read = {
        name: value
        for name, value in error.valid_data.items()
        # Of a list that has a bad item the places of the others are not known any more.
        if not (isinstance(value, list) and schema.fields[name].data_key in messages)
        and not (isinstance(value, list) and name in messages)
    }
    with telling_all(lambda: schema.check(read)):
        raise refusal from error


class Area(Blueprint):  # type: ignore[misc]  # the library has no types
    """A blueprint whose ``name`` is its path: ``crm`` answers under ``/api/v1/crm``."""

    ARGUMENTS_PARSER = StrictParser()

    if TYPE_CHECKING:

        def get(self, rule: str, **options: Any) -> Mark: ...
        def post(self, rule: str, **options: Any) -> Mark: ...
        def patch(self, rule: str, **options: Any) -> Mark: ...
        def put(self, rule: str, **options: Any) -> Mark: ...
        def delete(self, rule: str, **options: Any) -> Mark: ...
        def doc(self, **options: Any) -> Mark: ...
        def alt_response(self, status: int, **options: Any) -> Mark: ...
        def response(self, status: int, schema: Any = None, **options: Any) -> Mark: ...

    def __init__(self, name: str, import_name: str, **options: Any) -> None:
        super().__init__(name, import_name, **options)
        self.before_request(refuse_unread_query)
        self.before_request(refuse_unread_body)

    def arguments(self, schema: type[Schema], **options: Any) -> Mark:
        """As the library's; it is noted whether the view reads its query or its body."""
        read: Mark = super().arguments(schema, **options)
        mark = reads_query if options.get("location") == "query" else reads_body
        return lambda view: mark(read(view))

    def register_views_in_doc(self, api: Any, app: Flask, spec: Any, **options: Any) -> None:
        """Leave it to who asks for the document: it takes a third of what an application takes."""
        describe = partial(super().register_views_in_doc, api, app, spec, **options)
        descriptions.of(app).append(describe)


def reads_query(view: View) -> View:
    """Mark a view that reads parameters of its query, by a schema or whatever their names."""
    view.reads_query = True  # type: ignore[attr-defined]
    return view


def reads_body(view: View) -> View:
    """Mark a view that reads its body, by a schema or whatever is in it."""
    view.reads_body = True  # type: ignore[attr-defined]
    return view


def mailed(view: View) -> View:
    """Mark a view whose address goes out by mail.

    What mailers hang on it, such as ``utm_source`` and ``fbclid``, is nobody's mistake, and read
    by nobody. A view that has parameters takes them by a ``LinkQuery``, with ``unknown=None``.
    """
    view.is_mailed = True  # type: ignore[attr-defined]
    return view


class LinkQuery(Schema):
    """The parameters of a view that is ``mailed``."""

    class Meta:
        unknown = EXCLUDE


def refuse_unread_query() -> None:
    """Refuse parameters of a view that has none: who only wants to try must not change anything.

    Raises: ValidationError, with every name.
    """
    if not request.query_string:
        return
    view = _view()
    if not hasattr(view, "reads_query") and not hasattr(view, "is_mailed"):
        raise ValidationError([(name, UNKNOWN) for name in request.args])


def refuse_unread_body() -> None:
    """Refuse what is in the body of a POST to a view that reads none: it would be lost silently.

    Raises: ValidationError, with every name, or as of every body that is read.
    """
    view = _view()
    if request.method != "POST" or hasattr(view, "reads_body") or hasattr(view, "is_streamed"):
        return
    if read_body(current_app.config["MAX_JSON_BYTES"]):
        problems = [(name or NO_NAME, UNKNOWN) for name in read_object()]
        if problems:
            raise ValidationError(problems)


def _view() -> Any:
    return current_app.view_functions[request.endpoint or ""]


def _is_whole(schema: Schema, name: str) -> bool:
    return any(
        (field.data_key or attribute) == name and isinstance(field, fields.Integer)
        for attribute, field in schema.load_fields.items()
    )


def field_problems(messages: Any) -> list[tuple[str, str]]:
    """``{"lines": {0: {"price": ["Bad."]}}}`` -> ``[("lines[0].price", "Bad.")]``.

    Fields stand as in their schema, names that it does not know behind them by the alphabet: the
    library has these from a set, whose order differs from process to process.
    """
    return list(_flatten(messages, ""))


def _flatten(messages: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, below in sorted(messages.items(), key=_unknown_name):
            yield from _flatten(below, _join(path, name))
    elif isinstance(messages, list | tuple):
        for below in messages:
            yield from _flatten(below, path)
    else:
        yield path, str(messages)


def _unknown_name(item: tuple[object, Any]) -> str:
    name, below = item
    return str(name) if below == [UNKNOWN] else ""


def _join(path: str, name: object) -> str:
    if isinstance(name, int):
        return f"{path}[{name}]"
    if name == "_schema":
        return path
    name = name or NO_NAME
    return f"{path}.{name}" if path else str(name)
