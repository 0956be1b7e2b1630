"""A property written by itself: ``PUT Clients(1)/name`` and its like (Protocol 11.4.9)."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.errors import (
    ForbiddenError,
    NotFoundError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from app.odata.model import edm
from app.odata.payload.reader import BodyReader, EntityBody
from app.odata.syntax.literals import base64url
from app.odata.syntax.options import OptionTexts
from app.odata.writing.answers import entity_tag, no_content, target_path, with_preference
from app.odata.writing.conditions import version_to_match
from app.odata.writing.content import WriteRequest
from app.odata.writing.owned import place_of_new
from app.odata.writing.rows import kept_values
from app.odata.writing.targets import Target


def write_property(request: WriteRequest, target: Target) -> Response:
    """Set a property, empty it, or add to a collection: 204 with the new entity tag, or the value
    where it is preferred.

    Raises: NotFoundError, there is no entity that could have it.
    """
    prop = target.prop
    assert prop is not None
    version = version_to_match(request, target.type, target.key)
    value = None if request.http.method == "DELETE" else _new_value(request, target, prop)
    if request.http.method == "POST":
        value = [value]
    if target.member is not None:
        value = {target.member.name: value}
    # The text of a $value is a number without quotes.
    reader = BodyReader(request.container, request.text_numbers or target.ending == "$value")
    body = reader.entity({prop.name: value}, target.type)
    reader.problems.raise_any()
    if request.http.method == "POST":
        request = _with_others(request, target, prop, body)
    elif target.member is None and request.http.method != "PATCH":
        _replace(prop, body)
    request.writer.update(target.entity_set, target.key, body, version=version)
    response = _answer(request, target, prop)
    if tag := entity_tag(request.container, target.type, target.key):
        response.headers["ETag"] = tag
    return response


def _answer(request: WriteRequest, target: Target, prop: edm.Property) -> Response:
    """The property as it is now, or nothing; null is nothing, too (Protocol 8.2.8.7)."""
    response = None
    if request.preferences.return_ == "representation":
        names = [target_path(target, target.key), prop.name]
        if target.member is not None:
            names.append(target.member.name)
        try:
            response = request.read("/".join(names), OptionTexts({}, {}))
        except (ForbiddenError, NotFoundError):  # who may write it may perhaps not read it
            response = None
    return with_preference(request, response or no_content(request.version))


def _with_others(
    request: WriteRequest, target: Target, prop: edm.Property, body: EntityBody
) -> WriteRequest:
    """Put the one new member of a collection among those that are there, at ``$index`` or behind
    them; the request without ``$index``.
    """
    others = kept_values(target.type, target.key, (prop.attribute,)) or {}
    members = list(others.get(prop.attribute) or ())
    position = len(members)
    if "index" in request.options.system:
        position, request = place_of_new(request, position)
    body.values[prop.attribute] = [
        *members[:position],
        *body.values[prop.attribute],
        *members[position:],
    ]
    return request


def _new_value(request: WriteRequest, target: Target, prop: edm.Property) -> Any:
    """The new value as JSON has it."""
    if target.ending == "$value":
        return _raw(request, (target.member or prop).type)
    body = request.json()
    kind = (target.member or prop).type
    if isinstance(kind, edm.ComplexType):
        return body
    if not isinstance(body, dict) or "value" not in body:
        raise ValidationError([("value", f"is required: the new {prop.name}")])
    strange = [name for name in body if name != "value" and "@" not in name]
    if strange and request.preferences.handling != "lenient":
        raise ValidationError([(name, "is not part of a single property") for name in strange])
    return body["value"]


def _raw(request: WriteRequest, type_: edm.EdmType) -> Any:
    """The value from text, or from bytes: what a GET of ``$value`` gives."""
    if type_ == edm.BINARY:
        return base64url(request.http.body())
    if request.media_type not in ("text/plain", ""):
        raise UnsupportedMediaTypeError("Send the value with Content-Type: text/plain.")
    try:
        text = request.http.body().decode()
    except UnicodeDecodeError as error:
        raise ValidationError([("", "The value is not UTF-8.")]) from error
    if type_ == edm.BOOLEAN:
        return {"true": True, "false": False}.get(text, text)
    if type_ in (edm.BYTE, edm.SBYTE, edm.INT16, edm.INT32):
        digits = text.removeprefix("-")
        is_whole = digits.isascii() and digits.isdigit() and len(digits) < 20
        return int(text) if is_whole else text
    return text


def _replace(prop: edm.Property, body: EntityBody) -> None:
    """Nothing of the complex value that was there stays."""
    if prop.columns is not None:
        for column in prop.columns.values():
            body.values.setdefault(column, None)
    elif prop.attribute in body.partial:
        body.values[prop.attribute] = body.partial.pop(prop.attribute)
