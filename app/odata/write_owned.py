"""Entities that live inside their owner's body, addressed one by one: ``Invoices(1)/LineItems(5)``.

The owner's service knows only the whole list, so a write of one of them is a change of the list:
read, altered in one place, handed to the service. The list is in the order of the keys, and the
service keeps that order; the keys themselves may be new afterwards.
"""

from __future__ import annotations

from typing import Any

from flask import Response

from app.errors import NotFoundError, ValidationError
from app.odata.deep_owned import kept_item
from app.odata.deep_relations import service_of
from app.odata.payload import EntityBody, snake
from app.odata.write_answers import no_content, written_entity
from app.odata.write_content import WriteRequest
from app.odata.write_rows import related_keys, require_entity
from app.odata.write_targets import Link, Target
from app.odata.write_values import change_values, creation_values, replacement_values


def write_owned(request: WriteRequest, target: Target, link: Link) -> Response:
    """Add, change or remove one member of an owned collection."""
    if request.method == "POST":
        require_entity(link.entity_set.type, link.key)
        return _add(request, target, link)
    keys = _keys(request, link)
    if target.key not in keys:
        raise NotFoundError(f"There is no such {target.type.name}.")
    items = [kept_item(target.type, key) for key in keys]
    place = keys.index(target.key)
    if request.method == "DELETE":
        del items[place]
        _save(link, items, place)
        return no_content(request)
    body = request.entity(target)
    single = request.writer.single_values(body)
    if request.method == "PUT":
        items[place] |= replacement_values(body, frozenset(single)) | single
    else:
        items[place] |= change_values(body, target.key) | single
    _save(link, items, place)
    return written_entity(request, target, _keys(request, link)[place], body=body)


def _add(request: WriteRequest, target: Target, link: Link) -> Response:
    items = [kept_item(target.type, key) for key in _keys(request, link)]
    body: EntityBody = request.entity(target)
    items.append(creation_values(body) | request.writer.single_values(body))
    _save(link, items, len(items) - 1)
    key = _keys(request, link)[len(items) - 1]
    return written_entity(request, target, key, created=True, body=body)


def _keys(request: WriteRequest, link: Link) -> list[Any]:
    return related_keys(request.container, link.entity_set.type, link.key, link.navigation)


def _save(link: Link, items: list[dict[str, Any]], place: int) -> None:
    """Hand the list to the owner's service.

    Raises: ValidationError, its problems named as in the body of the one member at ``place``.
    """
    attribute = snake(link.navigation.name)
    service = service_of(link.entity_set, update=True)
    try:
        service.update(link.key, {attribute: items})
    except ValidationError as error:
        member = f"[{place}]."
        raise ValidationError(
            detail._replace(field=detail.field.partition(member)[2] or detail.field)
            for detail in error.details
        ) from error
