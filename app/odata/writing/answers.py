"""The answers to writes: the entity as it is now, or 204 with its address.

What a write is told of as an event it is answered with: the entity is read once for both.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from flask import Response

from app.db import transactions
from app.db.types import json_text
from app.errors import ForbiddenError, NotFoundError
from app.http.security import current_caller
from app.odata.model import edm
from app.odata.payload.reader import EntityBody
from app.odata.protocol.etags import format_etag
from app.odata.protocol.negotiation import form_for
from app.odata.protocol.preferences import note_applied
from app.odata.reading.representation import Representation
from app.odata.writing.content import WriteRequest
from app.odata.writing.rows import find_version, held_value
from app.odata.writing.targets import Target, entity_path
from app.permissions import ALL

_NOTE = "shown entity"


def note_shown(representation: Representation) -> None:
    """Remember an entity until something is written that it may show."""
    transactions.note(_NOTE, representation)


def shown_answer(request: WriteRequest, target: Target, key: Any) -> Response | None:
    """The entity as a GET without options shows it; None where it must be read for that."""
    noted: Representation | None = transactions.noted(_NOTE)
    type_ = target.type
    if (
        noted is None
        or noted.key != key
        or noted.entity != type_.name
        or noted.version is None
        or target.link is not None
        or target.is_singleton
        or request.options.system
        or request.options.aliases
        or request.options.custom
        or "Prefer" in request.http.headers
        or not is_plain(request.container, type_)
        or current_caller().rights.get(f"{type_.resource}:read") != ALL
    ):
        return None
    form = form_for(request.http.headers)
    if form.metadata != "minimal" or form.ieee754:
        return None
    context = json_text(f"{request.http.root}$metadata#{target.entity_set.name}/$entity")
    body = (
        f'{{"{form.control("context")}":{context},'
        f'"{form.control("etag")}":"W/\\"{noted.version}\\"",{noted.text[1:]}'
    )
    return Response(
        body.encode(),
        200,
        [
            ("Content-Type", form.content_type),
            ("OData-Version", form.version),
            ("ETag", format_etag(noted.version)),
        ],
    )


@lru_cache(maxsize=64)
def is_plain(container: edm.EntityContainer, type_: edm.EntityType) -> bool:
    """Whether all who may read entities of the type see the same, with the tag and no more."""
    return (
        type_.etag is not None
        and type_.resource is not None
        and type_.visible is None
        and not type_.has_stream
        and not container.derived(type_)
        and all(prop.expression is None or prop.on_request for prop in type_.properties.values())
    )


def written_entity(
    request: WriteRequest,
    target: Target,
    key: Any,
    *,
    created: bool = False,
    body: EntityBody | None = None,
) -> Response:
    """The answer to a write of an entity (Protocol 11.4.1.5, 11.4.2, 11.4.3).

    Args:
        body: what was written: related entities given in it are shown in the answer, too.
    """
    wanted = request.preferences.return_
    if created:
        target = _where_it_is(target, key)
    response = _representation(request, target, key, body) if wanted != "minimal" else None
    if response is None:
        response = no_content(request.version)
        if tag := entity_tag(request.container, target.type, key):
            response.headers["ETag"] = tag
    else:
        response.status_code = 201 if created else 200
    if created or response.status_code == 204:
        address = request.http.root + target_path(target, key)
        if created:
            response.headers["Location"] = address
        response.headers["OData-EntityId"] = address
    return response if wanted is None else with_preference(request, response)


def with_preference(request: WriteRequest, response: Response) -> Response:
    """The answer, and beside what it says already whether it is as ``Prefer: return`` asked."""
    kind = "minimal" if response.status_code == 204 else "representation"
    if request.preferences.return_ == kind:
        note_applied(response.headers, request.preferences.applied("return"))
    return response


def target_path(target: Target, key: Any) -> str:
    """The canonical path of an entity; of one without a set, the path through its owner."""
    link = target.link
    if link is not None and link.navigation.contained:
        owner = entity_path(link.entity_set.name, link.entity_set.type, link.key)
        if not link.navigation.collection:
            return f"{owner}/{link.navigation.name}"
        return f"{owner}/{entity_path(link.navigation.name, target.type, key)}"
    if target.is_singleton:
        return target.entity_set.name
    return entity_path(target.entity_set.name, target.entity_set.type, key)


def _where_it_is(target: Target, key: Any) -> Target:
    """``target`` below the owner that a new entity has: a service may choose another one.

    A comment on a closed ticket is made in a ticket that follows it.
    """
    link = target.link
    if link is None or not link.navigation.contained or link.navigation.owned:
        return target
    if link.navigation.foreign_key is None:
        return target
    owner = held_value(target.type, key, link.navigation.foreign_key)
    return target if owner in (None, link.key) else replace(target, link=replace(link, key=owner))


def no_content(version: str) -> Response:
    """204: it was done, or asked for, and there is nothing to show."""
    response = Response(status=204)
    response.headers["OData-Version"] = version
    return response


def nothing_shown(request: WriteRequest) -> Response:
    """204 to a request that could have asked to see what was done."""
    return with_preference(request, no_content(request.version))


def _representation(
    request: WriteRequest, target: Target, key: Any, body: EntityBody | None
) -> Response | None:
    """The entity as a GET shows it; None where the caller may write it and not read it."""
    if body is None or not body.related:
        answer = shown_answer(request, target, key)
        if answer is not None:
            return answer
    options = request.options
    if body is not None and "expand" not in options.system and (expanded := expansion(body)):
        options = options.having({**options.system, "expand": expanded})
    try:
        return request.read(target_path(target, key), options)
    except (ForbiddenError, NotFoundError):
        return None


def expansion(body: EntityBody) -> str:
    """``LineItems,Contacts($expand=Tasks)``: what a body gave, as $expand (Protocol 11.4.2.2)."""
    parts = []
    for related in body.related:
        items = [item for item in related.items if not item.is_reference]
        if not items:
            continue
        nested = {part for item in items if (part := expansion(item))}
        # Items may differ in depth: the answer goes as deep as the deepest.
        deepest = max(nested, key=len, default="")
        options = f"($expand={deepest})" if deepest else ""
        parts.append(f"{related.navigation.name}{options}")
    return ",".join(dict.fromkeys(parts))


def entity_tag(container: edm.EntityContainer, type_: edm.EntityType, key: Any) -> str | None:
    """The tag that an entity has now; None without one, or where the caller may not read it."""
    if type_.etag is None:
        return None
    try:
        _, version = find_version(container, type_, key)
    except ForbiddenError:
        return None
    return None if version is None else format_etag(version)
