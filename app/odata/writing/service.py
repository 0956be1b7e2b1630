"""Writes through OData: from the request to the service and back to the answer.

    path -> target -> preconditions -> body -> service (with all related) -> answer

The transaction is the request's: the edge commits it, or rolls everything back on an error.
Source: Protocol 11.4.
"""

from __future__ import annotations

from flask import Response

from app.db.transactions import forget_notes
from app.errors import ValidationError, refuse_any
from app.odata.model import edm
from app.odata.payload.reader import EntityBody
from app.odata.protocol.etags import refuse_tags
from app.odata.protocol.preferences import note_applied
from app.odata.protocol.request import method_error
from app.odata.syntax.options import ENTITY_OPTIONS, METADATA_OPTIONS, parse_aliases, refuse_others
from app.odata.syntax.path import parse_path
from app.odata.writing.answers import no_content, written_entity
from app.odata.writing.collections import is_each, write_delta, write_each
from app.odata.writing.content import WriteRequest, is_upsert, refuse_other_key, version_to_match
from app.odata.writing.deep import held_values, service_of
from app.odata.writing.methods import allowed_methods, require_right
from app.odata.writing.parts import (
    create_media,
    write_bytes,
    write_owned,
    write_property,
    write_reference,
)
from app.odata.writing.problems import Kind
from app.odata.writing.rows import is_of, require_entity
from app.odata.writing.targets import Target, find_plain_target, resolve_target


def write(request: WriteRequest) -> Response:
    """Do what a POST, PATCH, PUT or DELETE asks for.

    Raises: an ApiError or QueryError, after which the transaction must be rolled back.
    """
    forget_notes()
    _ = request.odata_version  # a version that does not exist is refused before anything is done
    response = (
        write_each(request) if is_each(request.http.path) else _write(request, _target(request))
    )
    if request.preferences.handling is not None:
        note_applied(response.headers, request.preferences.applied("handling"))
    return response


def _target(request: WriteRequest) -> Target:
    target = find_plain_target(request.container, request.http.path)
    if target is not None:
        return target
    aliases = parse_aliases(request.options)
    return resolve_target(request.container, parse_path(request.http.path), aliases)


def _write(request: WriteRequest, target: Target) -> Response:
    allowed = allowed_methods(request.container, target)
    if request.http.method not in allowed:
        raise method_error(request.http.method, allowed)
    if request.options.system:
        _refuse_options(request, target)
    if target.ending == "$ref":
        return write_reference(request, target)
    if target.prop is not None and target.prop.type != edm.STREAM:
        return write_property(request, target)
    if target.prop is not None or target.ending == "$value":
        return write_bytes(request, target)
    link = target.link
    if link is not None and link.navigation.owned:
        return write_owned(request, target, link)
    if request.http.method == "POST":
        return _create(request, target)
    if request.http.method == "DELETE":
        return _delete(request, target)
    if target.is_collection:
        return write_delta(request, target)
    return _update(request, target)


def _refuse_options(request: WriteRequest, target: Target) -> None:
    """Raise QueryError where an option could seem to limit a write, and does not.

    Whoever sends ``DELETE Clients(1)?$filter=...`` expects a condition (Protocol 11.2.1).
    """
    allowed = set(METADATA_OPTIONS)
    if target.ending == "$ref":
        allowed |= {"id"} if request.http.method == "DELETE" else set()
    elif request.http.method != "DELETE" and target.prop is None and not target.ending:
        allowed |= ENTITY_OPTIONS
    is_list = target.prop is not None or (target.link is not None and target.link.navigation.owned)
    if request.http.method == "POST" and is_list:
        allowed.add("index")
    refuse_others(request.options, allowed)


def _create(request: WriteRequest, target: Target) -> Response:
    link = target.link
    linked = {} if link is None else held_values(link.navigation, link.key)
    require_right(target.entity_set, "create", values=linked)
    refuse_tags(request.if_match)
    is_linked = link is not None and link.navigation.through is not None
    if link is not None:
        if is_linked:
            require_right(link.entity_set, "link")
        require_entity(request.container, link.entity_set.type, link.key)
    body = None
    if target.type.has_stream and request.media_type != "application/json":
        key = create_media(request, target)
    else:
        with request.entity(target, "creation", linked) as body:
            key = request.writer.create(target.entity_set, body, **linked)
    if link is not None and is_linked:
        request.writer.relate(link, key)
    return written_entity(request, target, key, created=True, body=body)


def _update(request: WriteRequest, target: Target) -> Response:
    require_right(target.entity_set, "update", "create")
    if is_upsert(request, target):
        service_of(target.entity_set, insert=True)
        require_right(target.entity_set, "create")
        with request.entity(target, "creation", target.values) as body:
            body.address = target.alternate
            refuse_other_key(body)
            key = request.writer.create(target.entity_set, body, **target.values)
        return written_entity(request, target, key, created=True, body=body)
    require_right(target.entity_set, "update")
    version = version_to_match(request, target.type, target.key)
    kind: Kind = "replacement" if request.http.method == "PUT" else "change"
    with request.entity(target, kind) as body:
        if body.type is not target.type and not is_of(request.container, body.type, target.key):
            raise ValidationError([("@odata.type", f"is not the type of this {target.type.name}")])
        if request.odata_version == "4.0":
            _refuse_related(body)
        body.address = target.alternate
        request.writer.update(
            target.entity_set, target.key, body, replace=kind == "replacement", version=version
        )
    return written_entity(request, target, target.key, body=body)


def _refuse_related(body: EntityBody) -> None:
    """OData 4.0 changes one entity at a time (Protocol 4.0, 11.4.3).

    Raises: ValidationError, the body holds related entities.
    """
    refuse_any(
        (related.path, "changes related entities: that needs OData-Version 4.01")
        for related in body.related
        if not related.navigation.owned and not all(item.is_reference for item in related.items)
    )


def _delete(request: WriteRequest, target: Target) -> Response:
    require_right(target.entity_set, "delete")
    version = version_to_match(request, target.type, target.key)
    service_of(target.entity_set, delete=True).delete(target.key, version)
    return no_content(request.version)
