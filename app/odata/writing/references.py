"""Relations written by themselves: POST, PUT and DELETE of ``$ref`` (Protocol 11.4.6)."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.errors import (
    InvalidQueryError,
    NotFoundError,
    ValidationError,
)
from app.odata.writing.answers import no_content
from app.odata.writing.conditions import require_current
from app.odata.writing.content import WriteRequest
from app.odata.writing.problems import as_bad_reference
from app.odata.writing.targets import Link, Target


def write_reference(request: WriteRequest, target: Target) -> Response:
    link = target.link
    assert link is not None  # a path cannot end in $ref otherwise
    require_current(request, link.entity_set.type, link.key)
    if request.http.method == "DELETE":
        _unrelate(request, target, link)
    elif target.is_collection and request.http.method == "PUT":
        _make_related(request, link)
    else:
        key = _referred(request, link, request.json(), "")
        with as_bad_reference("@odata.id"):
            request.writer.relate(link, key)
    return no_content(request.version)


def _unrelate(request: WriteRequest, target: Target, link: Link) -> None:
    key = target.key
    if target.is_collection:
        url = request.options.system.get("id")
        if url is None:
            raise InvalidQueryError("Say by $id which entity is no longer related.", position=0)
        key = _key_of(request, link, url, "$id")
        if key not in link.related(request.container):
            raise NotFoundError(f"{url} is not in {link.navigation.name}.")
    elif key is None:
        return  # none is related, as was asked for
    request.writer.unrelate(link, key)


def _make_related(request: WriteRequest, link: Link) -> None:
    """Make exactly these entities related (Protocol 4.01, 11.4.6.4)."""
    body = request.json()
    items = body.get("value") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise ValidationError([("value", "must be an array of references")])
    targets = [
        _referred(request, link, item, f"value[{index}]") for index, item in enumerate(items)
    ]
    before = link.related(request.container)
    for key in before:
        if key not in targets:
            request.writer.unrelate(link, key)
    for key in dict.fromkeys(targets):
        if key not in before:
            request.writer.relate(link, key)


def _referred(request: WriteRequest, link: Link, body: Any, path: str) -> Any:
    """The key of the entity that ``{"@odata.id": "Contacts(5)"}`` points at."""
    url = body.get("@odata.id", body.get("@id")) if isinstance(body, dict) else None
    if not isinstance(url, str):
        id_path = f"{path}.@odata.id" if path else "@odata.id"
        raise ValidationError([(id_path, "must be the URL of an entity")])
    return _key_of(request, link, url, path or "@odata.id")


def _key_of(request: WriteRequest, link: Link, url: str, path: str) -> Any:
    with as_bad_reference(path):
        target = request.entity_at(url)
    if target.entity_set.type.name != link.navigation.target:
        raise ValidationError([(path, f"must point at a {link.navigation.target}")])
    return target.key
