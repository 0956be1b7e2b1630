"""What an operation returned as the answer to its call."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from flask import Response

from app.db.types import json_text
from app.http.json_body import parse_json
from app.odata.csdl.names import element_name
from app.odata.key_values import key_filter, parts_of
from app.odata.model import edm
from app.odata.reading.negotiation import Format
from app.odata.syntax.literals import literal_text
from app.odata.syntax.options import OptionTexts
from app.odata.writing.answers import no_content


def value_answer(
    container: edm.EntityContainer, operation: edm.Operation, value: Any, root: str, form: Format
) -> Response:
    """A primitive, an enumeration or a complex value, or a collection of them; 204 for null."""
    if value is None or operation.returns is None:
        return no_content(form.version)
    body = _body(container, operation, value, root, form)
    response = Response(json_text(body), content_type=form.content_type)
    response.headers["OData-Version"] = form.version
    return response


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
    body: dict[str, Any] = {"value": items}
    if form.metadata != "none":
        name = element_name(container, type_)
        body = {form.control("context"): f"{root}$metadata#Collection({name})", **body}
    response = Response(json_text(body), content_type=form.content_type)
    response.headers["OData-Version"] = form.version
    return response


def _body(
    container: edm.EntityContainer, operation: edm.Operation, value: Any, root: str, form: Format
) -> dict[str, Any]:
    type_ = operation.returns
    assert type_ is not None and not isinstance(type_, edm.EntityType)
    name = element_name(container, type_)
    is_collection = operation.returns_collection or isinstance(type_, edm.CollectionType)
    context = {}
    if form.metadata != "none":
        body = f"Collection({name})" if is_collection else name
        context = {form.control("context"): f"{root}$metadata#{body}"}
    if is_collection:
        element = type_.element if isinstance(type_, edm.CollectionType) else type_
        return {**context, "value": [_json_value(item, element, form) for item in value]}
    if isinstance(type_, edm.ComplexType):
        return {**context, **_json_value(value, type_, form)}
    return {**context, "value": _json_value(value, type_, form)}


def _json_value(value: Any, type_: edm.EdmType, form: Format) -> Any:
    """A value as JSON; wide numbers as texts where the client asked for that."""
    if value is None:
        return None
    if isinstance(type_, edm.CollectionType):
        return [_json_value(item, type_.element, form) for item in value]
    if isinstance(type_, edm.ComplexType):
        known = type_.all_properties
        return {
            name: _json_value(item, known[name].type, form) if name in known else item
            for name, item in value.items()
        }
    if form.ieee754 and type_ in (edm.DECIMAL, edm.INT64) and isinstance(value, int | Decimal):
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    return value


def found_options(type_: edm.EntityType, keys: Sequence[Any], options: OptionTexts) -> OptionTexts:
    """The options of a read of these entities, in this order unless another is asked for."""
    conditions = [key_filter(type_, key) for key in keys]
    those = " or ".join(conditions) or "false"
    system = dict(options.system)
    system["filter"] = f"({those}) and ({system['filter']})" if "filter" in system else those
    if "orderby" not in system and "apply" not in system and len(keys) > 1:
        places = ",".join(f"{condition}:{index}" for index, condition in enumerate(conditions))
        system["orderby"] = f"case({places})"
    return OptionTexts(system, options.aliases, options.custom)


def contained_path(owner: str, navigation: str, key: Any) -> str:
    """``Invoices(1)/Payments(5)``; the owner itself where no navigation is named."""
    if not navigation:
        return owner
    (part,) = parts_of(key)
    return f"{owner}/{navigation}({quote(literal_text(part, 'string'), safe=chr(39))})"
