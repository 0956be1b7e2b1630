"""Calling an operation: from its address and body to the handler, and back to an answer.

Handlers are functions that the model names: ``handler(binding, arguments)`` where the operation is
bound, else ``handler(arguments)``. ``binding`` is the key of the entity, or the path of the
collection; ``arguments`` has the parameters given, by name. A handler of an operation that returns
entities returns their keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from flask import Response
from sqlalchemy import literal

from app.db.types import json_text
from app.errors import ForbiddenError, InvalidQueryError, MethodNotAllowedError, NotFoundError
from app.http.json_body import parse_json
from app.http.security import current_caller
from app.odata.binding.paths import key_filter, these_alone
from app.odata.binding.values import Scope
from app.odata.csdl.elements import element_name
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.operations.calls import Call, body_arguments, body_overload, url_arguments
from app.odata.protocol.etags import refuse_tags
from app.odata.protocol.negotiation import Format
from app.odata.protocol.preferences import note_applied
from app.odata.protocol.request import READ, method_error
from app.odata.reading.entity_json import type_text
from app.odata.reading.resource import resource_at
from app.odata.syntax.literals import literal_text
from app.odata.syntax.options import OptionTexts, parse_aliases
from app.odata.writing.answers import no_content, nothing_shown, with_preference
from app.odata.writing.collections import (
    as_member,
    each_target,
    key_of_row,
    member_keys,
    refuse_conditions,
)
from app.odata.writing.content import ReadPath, WriteRequest, require_current
from app.odata.writing.rows import run
from app.odata.writing.targets import entity_path, resolve_target
from app.permissions import allowed, require

_VALUE_OPTIONS = frozenset(("format", "schemaversion"))


@dataclass(frozen=True)
class Surroundings:
    """What a call needs of the service: the model, the form of the answer, and reads."""

    container: edm.EntityContainer
    root: str
    form: Format
    options: OptionTexts
    read: ReadPath


# --- actions


def call_action(request: WriteRequest, call: Call, around: Surroundings) -> Response:
    """Do a POST to an action.

    Raises: an ApiError, after which the transaction must be rolled back.
    """
    if call.is_on_each:
        return _call_on_each(request, call, around)
    binding: tuple[Any, ...] = ()
    if call.bound_path:
        _require_any(call)
        call, binding = _bound_action(request, call)
    else:
        refuse_tags(request.if_match)
    _require(call)
    operation, arguments = _arguments(request, call)
    result = _run(operation, *binding, arguments)
    if _is_minimal(request, operation):
        return nothing_shown(request)
    response = _answer(operation, call, result, around)
    if operation.returns is not None and request.preferences.return_ == "representation":
        note_applied(response.headers, request.preferences.applied("return"))
    return response


def _bound_action(request: WriteRequest, call: Call) -> tuple[Call, tuple[Any, ...]]:
    target = resolve_target(request.container, call.bound_to, parse_aliases(request.options))
    if target.prop is not None or target.ending is not None:
        raise NotFoundError(f"{call.name} cannot be called on this.")
    call = call.bound(target.type, is_collection=target.is_collection)
    if target.is_collection:
        refuse_tags(request.if_match)
        return call, (call.bound_path,)
    if target.key is not None and call.overloads[0].binds_hidden:
        return call, (target.key,)
    require_current(request, target.type, target.key)
    return call, (target.key,)


def _call_on_each(request: WriteRequest, call: Call, around: Surroundings) -> Response:
    """Do an action to every member of a set, or of what ``/$filter(...)`` leaves of it.

    The answer is the collection of what the action returned, in the order of the members.
    """
    path = call.bound_path.removesuffix("/$each")
    target = each_target(request.container, path, parse_aliases(request.options))
    entity_set = target.entity_set
    call = call.bound(target.type, is_collection=False)
    _require(call)
    refuse_conditions(request, any_is_fine=True)
    operation, arguments = _arguments(request, call)
    minimal = operation.returns is None or _is_minimal(request, operation)
    values: list[Any] = []
    for key in member_keys(request, target.type, path):
        with as_member(entity_set, key):
            result = _run(operation, key, arguments)
            if not minimal:
                own = replace(call, bound_path=entity_path(entity_set.name, entity_set.type, key))
                values.append(_answer(operation, own, result, around))
    if minimal:
        return nothing_shown(request)
    response = collected(operation, values, around)
    return with_preference(request, response)


def _is_minimal(request: WriteRequest, operation: edm.Operation) -> bool:
    """Whether the answer is left out: never of what is new, whose key or token is nowhere else."""
    return request.preferences.return_ == "minimal" and not operation.creates


def _arguments(request: WriteRequest, call: Call) -> tuple[edm.Operation, dict[str, Any]]:
    """The overload and its parameters; an action without required ones needs no body at all."""
    content, body = request.http.body(), {}
    if content.strip():
        request.check_json()
        body = parse_json(content)
    operation = body_overload(call, body)
    return operation, body_arguments(operation, body, text_numbers=request.text_numbers)


# --- functions


def call_function(call: Call, around: Surroundings) -> Response:
    binding: tuple[Any, ...] = ()
    rows: Scope | None = None
    if call.bound_path:
        call, binding, rows = _bound_function(call, around)
    _require(call)
    operation, arguments = url_arguments(call, around.options)
    if operation.handler is None and rows is not None:
        result = aggregate_of_rows(operation, rows, arguments)
    elif operation.handler is None:
        result = _computed(operation, call, arguments, around)
    else:
        result = _run(operation, *binding, arguments)
    return _answer(operation, call, result, around)


def _computed(
    operation: edm.Operation, call: Call, arguments: Mapping[str, Any], around: Surroundings
) -> Any:
    """The value of a function that is an expression: what ``$compute`` makes of it."""
    argument_texts = ",".join(
        f"{name}={literal_text(value, 'string')}" for name, value in arguments.items()
    )
    name = f"{around.container.namespace}.{operation.name}"
    system = {"compute": f"{name}({argument_texts}) as result", "select": "result"}
    answer = around.read(call.bound_path, OptionTexts(system, around.options.aliases))
    return parse_json(answer.get_data())["result"]


def _bound_function(call: Call, around: Surroundings) -> tuple[Call, tuple[Any, ...], Scope | None]:
    """The call with what it is bound to, and the rows where that is a collection."""
    aliases = parse_aliases(around.options)
    try:
        resource = resource_at(around.container, call.bound_to, aliases)
    except QueryError as error:  # no entity has a key of another type
        raise NotFoundError(f"What {call.name} is called on does not exist: {error}.") from error
    if resource.kind == "value" or resource.ending:
        raise NotFoundError(f"{call.name} cannot be called on this.")
    is_collection = resource.kind == "collection"
    call = call.bound(resource.scope.type, is_collection=is_collection)
    if not is_collection:
        return call, (_key_of(around, call.bound_path, resource.scope.type),), None
    if resource.parent is not None:  # which must be there
        around.read(call.bound_path, OptionTexts({"top": "0"}, around.options.aliases))
    return call, (call.bound_path,), resource.scope


def _key_of(around: Surroundings, path: str, type_: edm.EntityType) -> Any:
    """The key of the entity at a path.

    Raises: NotFoundError, there is none that the caller may read.
    """
    options = OptionTexts({"select": ",".join(type_.key)}, around.options.aliases)
    answer = around.read(path, options)
    if answer.status_code != 200:
        raise NotFoundError(f"There is no such {type_.name}: it does not exist.")
    return key_of_row(type_, parse_json(answer.get_data()))


# --- both


def _require_any(call: Call) -> None:
    """Stop whoever may call none of this name, before what it is called on is looked for."""
    caller = current_caller()
    if not any(
        all(allowed(caller, permission) for permission in operation.permissions)
        for operation in call.overloads
    ):
        _require(call)


def _require(call: Call) -> None:
    """Check the rights that the operation needs, before its parameters are read."""
    for permission in call.overloads[0].permissions:
        require(current_caller(), permission)


def _answer(operation: edm.Operation, call: Call, result: Any, around: Surroundings) -> Response:
    if isinstance(operation.returns, edm.EntityType):
        return _entities(operation, operation.returns, call, result, around)
    for name in around.options.system:
        if name not in _VALUE_OPTIONS:
            raise InvalidQueryError(
                f"${name} is not allowed on the result of {call.name}.", position=0
            )
    if call.rest:
        raise InvalidQueryError(f"Nothing can follow {call.name}.", position=call.end)
    return value_answer(operation, result, around)


def _entities(
    operation: edm.Operation, type_: edm.EntityType, call: Call, result: Any, around: Surroundings
) -> Response:
    """The entities whose keys the handler returned, as a GET shows them."""
    home = around.container.set_of_type.get(type_.name)
    if operation.returns_collection:
        assert home is not None  # a collection of contained entities has no address of its own
        path = home.name + call.rest
        return around.read(path, found_options(type_, list(result), around.options))
    if result is None:
        return value_answer(operation, None, around)
    if operation.result_path is None:
        assert home is not None
        path = entity_path(home.name, type_, result)
    elif operation.result_path:
        path = f"{call.bound_path}/{entity_path(operation.result_path, type_, result)}"
    else:  # the owner itself
        path = call.bound_path
    try:
        response = around.read(path + call.rest, around.options)
    except (ForbiddenError, NotFoundError):
        if not operation.is_action:
            raise
        # Who may do it may perhaps not read what came of it.
        response = value_answer(operation, None, around)
    if operation.creates:
        if response.status_code == 200:
            response.status_code = 201
        response.headers["Location"] = around.root + path
        response.headers["OData-EntityId"] = around.root + path
    return response


def _run(operation: edm.Operation, *arguments: Any) -> Any:
    """What the handler of an operation returns."""
    assert operation.handler is not None
    return operation.handler(*arguments)


def refuse_method(call: Call, method: str) -> MethodNotAllowedError:
    """The error for a GET of an action, or a POST of a function."""
    allowed = ("POST",) if call.is_action else READ
    return method_error(method, allowed, f"{call.name} does not take {method}.")


def aggregate_of_rows(
    operation: edm.Operation, scope: Scope, arguments: Mapping[str, Any]
) -> object:
    """The value of ``operation`` for the rows of a path: all of a set, related ones, those that
    ``/$filter(...)`` leaves.
    """
    assert operation.expression is not None
    literals = {name: literal(value) for name, value in arguments.items()}
    value = operation.expression(scope.columns, literals)
    rows = run(scope.select(value), scope.context.container)
    aggregate: object = rows[0][0]
    return aggregate


# --- what it returned, as the answer


def value_answer(operation: edm.Operation, value: Any, around: Surroundings) -> Response:
    """A primitive, an enumeration or a complex value, or a collection of them; 204 for null."""
    type_ = operation.returns
    if value is None or type_ is None:
        return no_content(around.form.version)
    assert not isinstance(type_, edm.EntityType)
    if operation.returns_collection:
        type_ = edm.CollectionType(type_)  # type: ignore[arg-type]
    return _collection_or_value(type_, _json_value(value, type_, around.form), around)


def collected(
    operation: edm.Operation, answers: Sequence[Response], around: Surroundings
) -> Response:
    """What an action returned for each of several entities, as one collection."""
    type_ = operation.returns
    assert type_ is not None
    items = []
    for answer in answers:
        item = parse_json(answer.get_data()) if answer.status_code != 204 else None
        if isinstance(item, dict):
            item.pop(around.form.control("context"), None)
            if not isinstance(type_, edm.EntityType | edm.ComplexType):
                item = item["value"]
        items.append(item)
    return _collection_or_value(edm.CollectionType(type_), items, around)  # type: ignore[arg-type]


def _collection_or_value(type_: edm.EdmType, item: Any, around: Surroundings) -> Response:
    """A complex value as it is, others under a name; before it what it is of."""
    body: dict[str, Any] = {}
    form = around.form
    if form.metadata != "none":
        name = element_name(around.container, type_)
        name = f"Collection({name})" if isinstance(type_, edm.CollectionType) else name
        body[form.control("context")] = f"{around.root}$metadata#{name}"
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
        known = type_.properties
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
