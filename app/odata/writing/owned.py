"""Entities that live inside their owner's body, addressed one by one: ``Invoices(1)/LineItems(5)``.

The owner's service knows only the whole list, so a write of one of them is a change of the list:
read, altered in one place, handed to the service. The list is in the order of the keys, and the
service keeps that order; the keys themselves may be new afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Response

from app.errors import InvalidQueryError, NotFoundError, ValidationError, refuse_any, telling_all
from app.odata.names import snake
from app.odata.payload.reader import EntityBody
from app.odata.protocol.etags import refuse_tags
from app.odata.syntax.options import OptionTexts, parse_options
from app.odata.writing.answers import no_content, written_entity
from app.odata.writing.conditions import require_current
from app.odata.writing.content import WriteRequest
from app.odata.writing.deep import service_of
from app.odata.writing.problems import member_problems
from app.odata.writing.rows import lock_owner, require_entity
from app.odata.writing.targets import Link, Target
from app.odata.writing.values import change_values, creation_values, kept_item, replacement_values


def write_owned(request: WriteRequest, target: Target, link: Link) -> Response:
    """Add, change or remove one member of an owned collection."""
    if request.http.method == "POST":
        refuse_tags(request.if_match)
        require_entity(request.container, link.entity_set.type, link.key)
        lock_owner(link.entity_set.type, link.key)
        return _add(request, target, link)
    lock_owner(link.entity_set.type, link.key)
    keys = link.related(request.container)
    if target.key not in keys:
        raise NotFoundError(f"There is no such {target.type.name}.")
    require_current(request, target.type, target.key)
    items = [kept_item(target.type, key) for key in keys]
    index = keys.index(target.key)
    if request.http.method == "DELETE":
        del items[index]
        _save(link, items, index)
        return no_content(request.version)
    body = _read(request, target, link, items[index])
    body.address = target.alternate
    single = request.writer.single_values(body)
    if request.http.method == "PUT":
        items[index] |= replacement_values(body, frozenset(single)) | single
    else:
        items[index] |= change_values(body, target.key) | single
    _save(link, items, index)
    return written_entity(request, target, link.related(request.container)[index], body=body)


def _add(request: WriteRequest, target: Target, link: Link) -> Response:
    items = [kept_item(target.type, key) for key in link.related(request.container)]
    body = _read(request, target, link, {})
    added = creation_values(body) | request.writer.single_values(body)
    index = len(items)
    ordered_by = target.type.ordered_by
    if ordered_by is not None and "index" in request.options.system:
        items.sort(key=lambda item: item[ordered_by])
        index, request = place_of_new(request, len(items))
        items.insert(index, added)
        for at, item in enumerate(items, start=1):
            item[ordered_by] = at
    else:
        items.append(added)
    _save(link, items, index)
    key = link.related(request.container)[index]
    return written_entity(request, target, key, created=True, body=body)


def _read(
    request: WriteRequest, target: Target, link: Link, stored: Mapping[str, Any]
) -> EntityBody:
    """The body of a member, of which ``stored`` is there.

    Raises: ValidationError, with every value that is wrong.
    """
    reader = request.body_reader
    body = reader.entity(request.json(), target.type)

    def check() -> None:
        values = {**stored, **creation_values(body)}
        refuse_any(member_problems(link.entity_set.service, link.navigation, values, link.key))

    with telling_all(check):
        reader.problems.raise_any()
    return body


def place_of_new(request: WriteRequest, count: int) -> tuple[int, WriteRequest]:
    """Where ``$index`` wants a new member (Protocol 11.4.2), and the request without it.

    Raises: InvalidQueryError, there is no such place; QueryError, it is no number.
    """
    options = request.options
    index = parse_options(OptionTexts({"index": options.system["index"]}, {})).index
    assert index is not None
    index = index if index >= 0 else count + 1 + index
    if not 0 <= index <= count:
        raise InvalidQueryError(f"$index must be from {-count - 1} to {count}.", position=0)
    return index, replace(request, options=options.without("index"))


def _save(link: Link, items: list[dict[str, Any]], index: int) -> None:
    """Hand the list to the owner's service.

    Raises: ValidationError, its problems named as in the body of the one member at ``index``.
    """
    attribute = snake(link.navigation.name)
    service = service_of(link.entity_set, update=True)
    try:
        service.update(link.key, {attribute: items})
    except ValidationError as error:
        member = f"[{index}]."
        raise ValidationError(
            detail._replace(field=detail.field.partition(member)[2] or detail.field)
            for detail in error.details
        ) from error
