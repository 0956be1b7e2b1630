"""What an operation returned as the answer to its call."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from flask import Response

from app.db.types import json_text
from app.http.json_body import parse_json
from app.odata.binding.key_values import key_filter, these_alone
from app.odata.csdl.elements import element_name
from app.odata.model import edm
from app.odata.protocol.negotiation import Format
from app.odata.reading.control import type_text
from app.odata.syntax.options import OptionTexts
from app.odata.writing.answers import no_content


def value_answer(
    container: edm.EntityContainer, operation: edm.Operation, value: Any, root: str, form: Format
) -> Response:
    """A primitive, an enumeration or a complex value, or a collection of them; 204 for null."""
    type_ = operation.returns
    if value is None or type_ is None:
        return no_content(form.version)
    assert not isinstance(type_, edm.EntityType)
    if operation.returns_collection:
        type_ = edm.CollectionType(type_)  # type: ignore[arg-type]
    return _answer(container, type_, _json_value(value, type_, form), root, form)


def collected(
    container: edm.EntityContainer,
    operation: edm.Operation,
    answers: Sequence[Response],
    root: str,
    form: Format,
) -> Response:
    """What an action returned for each of several entities, as one collection."""
    type_ = operation.returns
    assert type_ is not None
    items = []
    for answer in answers:
        item = parse_json(answer.get_data()) if answer.status_code != 204 else None
        if isinstance(item, dict):
            item.pop(form.control("context"), None)
            if not isinstance(type_, edm.EntityType | edm.ComplexType):
                item = item["value"]
        items.append(item)
    return _answer(container, edm.CollectionType(type_), items, root, form)  # type: ignore[arg-type]


def _answer(
    container: edm.EntityContainer, type_: edm.EdmType, item: Any, root: str, form: Format
) -> Response:
    """A complex value as it is, others under a name; before it what it is of."""
    body: dict[str, Any] = {}
    if form.metadata != "none":
        name = element_name(container, type_)
        name = f"Collection({name})" if isinstance(type_, edm.CollectionType) else name
        body[form.control("context")] = f"{root}$metadata#{name}"
    if isinstance(type_, edm.ComplexType):
        body |= item
    else:
        body |= {**_type(type_, form), "value": item}
    response = Response(json_text(body), content_type=form.content_type)
    response.headers["OData-Version"] = form.version
    return response


def _type(type_: edm.EdmType, form: Format, name: str = "") -> dict[str, Any]:
    """What stands before a value where its JSON does not tell its type."""
    text = type_text(type_, form)
    return {form.control("type", name): text} if text else {}


def _json_value(value: Any, type_: edm.EdmType, form: Format) -> Any:
    """A value as JSON; wide numbers as texts where the client asked for that."""
    if value is None:
        return None
    if isinstance(type_, edm.CollectionType):
        return [_json_value(item, type_.element, form) for item in value]
    if isinstance(type_, edm.ComplexType):
        known = type_.all_properties
        members = _type(type_, form)
        for name, item in value.items():
            inner = known[name].type if name in known else edm.UNTYPED
            if not isinstance(inner, edm.ComplexType):  # which has its type inside
                members |= _type(inner, form, name)
            members[name] = _json_value(item, inner, form)
        return members
    if form.ieee754 and type_ in (edm.DECIMAL, edm.INT64) and isinstance(value, int | Decimal):
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    return value


def found_options(type_: edm.EntityType, keys: Sequence[Any], options: OptionTexts) -> OptionTexts:
    """The options of a read of these entities, in this order unless another is asked for."""
    system = these_alone(type_, keys, options.system)
    if "orderby" not in system and "apply" not in system and len(keys) > 1:
        places = (f"{key_filter(type_, key)}:{index}" for index, key in enumerate(keys))
        system["orderby"] = f"case({','.join(places)})"
    return options.having(system)
