"""Many entities of a set at once (Protocol 11.4.12 to 11.4.14).

``PATCH Clients`` with a delta payload makes, changes and removes the entities that it lists;
``PATCH`` and ``DELETE Clients/$filter(@f)/$each`` do the same to every member. All of it is done,
or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from flask import Response

from app.db.types import json_text
from app.errors import (
    ApiError,
    Detail,
    InvalidQueryError,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
    refuse_any,
    telling_all,
)
from app.http.json_body import parse_json
from app.odata.binding.paths import key_of
from app.odata.model import edm
from app.odata.payload.reader import MOST_RELATED, EntityBody
from app.odata.payload.values import Problems, typed_reader
from app.odata.protocol.negotiation import Format
from app.odata.protocol.request import READ, method_error
from app.odata.reading.resource import resource_at
from app.odata.syntax.nodes import Node
from app.odata.syntax.options import OptionTexts, parse_aliases
from app.odata.writing.answers import nothing_shown, with_preference
from app.odata.writing.content import WriteRequest, may_be_made, refuse_other_key
from app.odata.writing.deep import service_of
from app.odata.writing.locks import locks_of_items, take_locks
from app.odata.writing.methods import each_methods, require_right
from app.odata.writing.problems import as_bad_reference, entity_problems, kind_of
from app.odata.writing.rows import find_key, find_key_locked, find_version, version_of_tag
from app.odata.writing.targets import Target, entity_path

# Entities that one request changes.
MOST_MEMBERS = 500
_EACH = "/$each"


def is_each(path: str) -> bool:
    """Whether a path ends in ``/$each``."""
    return path.rstrip("/").endswith(_EACH)


# --- every member ---------------------------------------------------------------------------------


def write_each(request: WriteRequest) -> Response:
    """Change or delete every member of a set or relation, or of what ``/$filter(...)`` leaves.

    Raises: MethodNotAllowedError; NotFoundError, there are no such entities; ValidationError, they
        are too many; what the service of the set raises, told with the address of the member.
    """
    path = request.http.path.rstrip("/").removesuffix(_EACH)
    target = each_target(request.container, path, parse_aliases(request.options))
    entity_set = target.entity_set
    allowed = each_methods(entity_set)
    if request.http.method not in allowed:
        raise method_error(request.http.method, allowed)
    require_right(entity_set, "delete" if request.http.method == "DELETE" else "update")
    if request.options.system:
        raise InvalidQueryError(
            "$each takes no query options; use /$filter(...) before it.", position=0
        )
    refuse_conditions(request, any_is_fine=True)
    if request.http.method == "DELETE":
        for key in member_keys(request, target.type, path):
            with as_member(entity_set, key):
                service_of(entity_set, delete=True).delete(key)
        return nothing_shown(request)
    with request.entity(target, "change") as body:
        keys = member_keys(request, target.type, path)
    for key in keys:
        with as_member(entity_set, key):
            request.writer.update(entity_set, key, body)
    if request.preferences.return_ != "representation":
        return nothing_shown(request)
    items = [_entity_shape(request, entity_set, key) for key in keys]
    return _collection(request, entity_set, items, "")


def each_target(container: edm.EntityContainer, path: str, aliases: Mapping[str, Node]) -> Target:
    """The entities of a path that ``/$each`` follows, each of which is in a set.

    Raises: NotFoundError; MethodNotAllowedError, the members of such a path are not written.
    """
    resource = resource_at(container, path, aliases)
    if resource.kind != "collection" or resource.ending:
        raise NotFoundError("$each follows a collection of entities.")
    home = container.sets.get(resource.set_name or "")
    if home is None:
        raise method_error("", (), "$each follows entities, each of which is in a set.")
    return Target(home, resource.scope.type, is_collection=True)


def member_keys(request: WriteRequest, type_: edm.EntityType, path: str) -> list[Any]:
    """The keys of the members that the caller may read.

    Raises: ValidationError, there are more than one request changes.
    """
    system = {"select": ",".join(type_.key), "top": str(MOST_MEMBERS + 1)}
    page = request.read(path, OptionTexts(system, request.options.aliases))
    rows = parse_json(page.get_data())["value"]
    if len(rows) > MOST_MEMBERS:
        raise ValidationError([("", f"There are more than {MOST_MEMBERS} members: filter them.")])
    return [key_of_row(type_, row) for row in rows]


def key_of_row(type_: edm.EntityType, row: Mapping[str, Any]) -> Any:
    """The key of an entity as an answer shows it."""
    return key_of(
        typed_reader(type_.properties[name].type, True)(row[name], name, Problems())
        for name in type_.key
    )


# --- a delta --------------------------------------------------------------------------------------


def write_delta(request: WriteRequest, target: Target) -> Response:
    """Do what a delta payload says, item by item, in their order.

    Raises: MethodNotAllowedError, the body is that of one entity; ValidationError, with the place
        of each problem; what the service of the set raises.
    """
    require_right(target.entity_set, "update", "create", "delete")
    content = request.json()
    if isinstance(content, dict) and "value" not in content:
        message = 'A set is changed by the items of a delta: {"value": [...]}.'
        raise method_error("PATCH", (*READ, "POST"), message)
    items = content["value"] if isinstance(content, dict) else None
    if not isinstance(items, list):
        raise ValidationError([("value", 'must be the items of a delta: {"value": [...]}')])
    if request.odata_version == "4.0":
        raise ValidationError([("OData-Version", "must be 4.01 to change a set")])
    if len(items) > MOST_RELATED:
        raise ValidationError([("value", f"must have at most {MOST_RELATED} items")])
    request.refuse_others(content, "value", of="a delta")
    refuse_conditions(request)
    entity_set = target.entity_set
    reader = request.body_reader
    bodies = [
        reader.entity(item, target.type, f"value[{index}]") for index, item in enumerate(items)
    ]
    with telling_all(lambda: refuse_any(_problems(request, entity_set, bodies))):
        reader.problems.raise_any()
    take_locks(lambda: locks_of_items(request.container, target.type, items))
    minimal = request.preferences.return_ == "minimal"
    entities = []
    for body in bodies:
        key, is_there = _apply(request, entity_set, body)
        if not minimal:  # now, because a later item may remove it
            entities.append((_entity_shape if is_there else _removed)(request, entity_set, key))
    if minimal:
        return nothing_shown(request)
    return _collection(request, entity_set, entities, "/$delta")


def _problems(
    request: WriteRequest, entity_set: edm.EntitySet, bodies: Sequence[EntityBody]
) -> Iterator[Detail]:
    """What is wrong with the values of the items; one that may be there already is a change."""
    alternate = [
        entity_set.type.properties[name].attribute
        for names in entity_set.type.upsert_keys
        for name in names
    ]
    for body in bodies:
        kind = "change" if any(name in body.values for name in alternate) else kind_of(body)
        yield from entity_problems(request.container, entity_set, body, kind)


def _apply(request: WriteRequest, entity_set: edm.EntitySet, body: EntityBody) -> tuple[Any, bool]:
    """Make, change or remove one entity; returns its key, and whether it is there now."""
    key = _existing(request, entity_set, body)
    if body.removed:
        if key is None:
            raise ValidationError([(body.path, "must say which entity is removed")])
        with as_bad_reference(body.path):
            service_of(entity_set, delete=True).delete(
                key, version_of_tag(request.container, body, key)
            )
        return key, False
    if key is None:
        if body.tag is not None:
            raise PreconditionFailedError(f"There is no {body.path} that could have this tag.")
        return request.writer.create(entity_set, body), True
    with as_bad_reference(body.path):
        request.writer.update(
            entity_set, key, body, version=version_of_tag(request.container, body, key)
        )
    return key, True


def _existing(request: WriteRequest, entity_set: edm.EntitySet, body: EntityBody) -> Any | None:
    """The key of the entity that an item names: by its id, its key or an alternate key."""
    type_ = entity_set.type
    if body.reference is not None:
        return _of_reference(request, entity_set, body, body.reference)
    key = body.given_key
    if key is not None:
        own = not any(type_.properties[name].computed for name in type_.key)
        return key if not own or find_version(request.container, type_, key)[0] else None
    key_values = []
    for names in type_.upsert_keys:
        attributes = [type_.properties[name].attribute for name in names]
        if all(body.values.get(attribute) is not None for attribute in attributes):
            key_values.append({name: body.values[name] for name in attributes})
    for find in (find_key, find_key_locked):
        for values in key_values:
            if (known := find(request.container, type_, values)) is not None:
                return known
    return None


def _of_reference(
    request: WriteRequest, entity_set: edm.EntitySet, body: EntityBody, url: str
) -> Any | None:
    """The key of the entity at ``url``; None for one that is made there (Protocol 11.4.12)."""
    with as_bad_reference(body.path):
        target = request.address_at(url)
        if target.entity_set.type is entity_set.type and target.key is None:
            if body.removed or not may_be_made(target):
                raise NotFoundError(f"There is no entity {url}.")
            body.address = target.alternate
            refuse_other_key(body)
            body.values |= target.values
    if target.entity_set.type is not entity_set.type:
        raise ValidationError([(body.path, f"must be one of {entity_set.name}")])
    return target.key


# --- both -----------------------------------------------------------------------------------------


def refuse_conditions(request: WriteRequest, *, any_is_fine: bool = False) -> None:
    """Raise ValidationError where a condition is sent that only one entity can meet.

    Args:
        any_is_fine: entities that are there are changed: ``If-Match: *`` means them all.
    """
    is_any = any_is_fine and request.if_match is not None and request.if_match.any
    names = [
        name
        for name in ("If-Match", "If-None-Match")
        if name in request.http.headers and not (name == "If-Match" and is_any)
    ]
    if names:
        raise ValidationError([(name, "is of one entity: leave it out here") for name in names])


@contextmanager
def as_member(entity_set: edm.EntitySet, key: Any) -> Iterator[None]:
    """Say in an error which member it is about."""
    try:
        yield
    except ApiError as error:
        address = entity_path(entity_set.name, entity_set.type, key)
        error.message = f"{address}: {error.message}"
        raise


def _entity_shape(request: WriteRequest, entity_set: edm.EntitySet, key: Any) -> dict[str, Any]:
    path = entity_path(entity_set.name, entity_set.type, key)
    body: dict[str, Any] = parse_json(request.read(path, OptionTexts({}, {})).get_data())
    return {name: value for name, value in body.items() if not name.endswith("context")}


def _removed(request: WriteRequest, entity_set: edm.EntitySet, key: Any) -> dict[str, Any]:
    address = entity_path(entity_set.name, entity_set.type, key)
    form = Format(version=request.version)
    return {form.control("removed"): {"reason": "deleted"}, form.control("id"): address}


def _collection(
    request: WriteRequest, entity_set: edm.EntitySet, entities: list[dict[str, Any]], kind: str
) -> Response:
    context = f"{request.http.root}$metadata#{entity_set.name}{kind}"
    body = {Format(version=request.version).control("context"): context, "value": entities}
    response = Response(json_text(body), content_type="application/json")
    response.headers["OData-Version"] = request.version
    return with_preference(request, response)
