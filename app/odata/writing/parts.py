"""What belongs to an entity, written by an address of its own: a property (Protocol 11.4.9), a
member of a collection that it owns, a relation, the bytes of a media entity or a stream property.

The service of an owner knows only the whole list of what it owns, so a write of one member is a
change of the list. It is in the order of the keys, and the service keeps that order; the keys
themselves may be new afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response

from app.errors import (
    ForbiddenError,
    InvalidQueryError,
    NotFoundError,
    NotImplementedInServiceError,
    UnsupportedMediaTypeError,
    ValidationError,
    refuse_any,
    telling_all,
)
from app.odata.binding.paths import parts_of
from app.odata.model import edm
from app.odata.payload.reader import BodyReader, EntityBody, Related
from app.odata.payload.values import join_path
from app.odata.protocol.etags import refuse_tags
from app.odata.syntax.literals import base64url
from app.odata.syntax.options import OptionTexts, parse_options
from app.odata.writing.answers import (
    entity_tag,
    no_content,
    target_path,
    with_preference,
    written_entity,
)
from app.odata.writing.content import WriteRequest, require_current, version_to_match
from app.odata.writing.methods import require_right
from app.odata.writing.problems import as_bad_reference, member_problems
from app.odata.writing.rows import kept_values, lock_owner, require_entity
from app.odata.writing.targets import Link, Target
from app.odata.writing.values import creation_values, kept_items


def write_property(request: WriteRequest, target: Target) -> Response:
    """Set a property, empty it, or add to a collection: 204 with the new entity tag, or the value
    where it is preferred.

    Raises: NotFoundError, there is no entity that could have it.
    """
    prop = target.prop
    assert prop is not None
    owner = target.link if target.link is not None and target.link.navigation.owned else None
    version = None
    if owner is None:
        require_right(target.entity_set, "update")
        version = version_to_match(request, target.type, target.key)
    else:
        _begin_change(request, target, owner)
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
        _empty_rest(prop, body)
    if owner is None:
        request.writer.update(target.entity_set, target.key, body, version=version)
    else:
        body.key = _key_parts(target)
        target.key = request.writer.write_member(owner, body)
    response = _property_answer(request, target, prop)
    if tag := entity_tag(request.container, target.type, target.key):
        response.headers["ETag"] = tag
    return response


def _property_answer(request: WriteRequest, target: Target, prop: edm.Property) -> Response:
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
    request.refuse_others(body, "value", of="a single property")
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


def _empty_rest(prop: edm.Property, body: EntityBody) -> None:
    """Nothing of the complex value that was there stays."""
    if prop.columns is not None:
        for column in prop.columns.values():
            body.values.setdefault(column, None)
    elif prop.attribute in body.partial:
        body.values[prop.attribute] = body.partial.pop(prop.attribute)


# --- members of an owned collection: ``Invoices(1)/LineItems(5)``


def write_owned(request: WriteRequest, target: Target, link: Link) -> Response:
    """Add, change or remove one member of an owned collection: a change of its owner by a delta
    that has only this member.
    """
    _begin_change(request, target, link)
    if request.http.method == "DELETE":
        member = EntityBody(target.type, key=_key_parts(target), removed="deleted")
        request.writer.write_member(link, member)
        return no_content(request.version)
    at, is_new = None, target.is_collection
    if is_new and "index" in request.options.system and target.type.ordered_by is not None:
        at, request = place_of_new(request, len(link.related(request.container)))
    member = _read_member(request, target, link)
    member.key = _key_parts(target)
    replace = request.http.method == "PUT"
    key = request.writer.write_member(link, member, replace=replace, at=at)
    return written_entity(request, target, key, created=is_new, body=member)


def _begin_change(request: WriteRequest, target: Target, owner: Link) -> None:
    """Lock what owns a member that is changed or made, and check the conditions."""
    require_right(owner.entity_set, "update")
    if target.is_collection:
        refuse_tags(request.if_match)
        require_entity(request.container, owner.entity_set.type, owner.key)
    lock_owner(owner.entity_set.type, owner.key)
    if not target.is_collection:
        require_current(request, target.type, target.key)


def _key_parts(target: Target) -> dict[str, Any]:
    """The key of what is addressed, by the names of its parts; empty for a collection."""
    if target.is_collection:
        return {}
    return dict(zip(target.type.key, parts_of(target.key), strict=True))


def _read_member(request: WriteRequest, target: Target, link: Link) -> EntityBody:
    """The body of a member.

    Raises: ValidationError, with every value that is wrong.
    """
    reader = request.body_reader
    body = reader.entity(request.json(), target.type)
    body.address = target.alternate

    def check() -> None:
        is_changed = request.http.method == "PATCH"
        stored = kept_items(target.type, (target.key,)) if is_changed else {}
        values = stored.get(target.key, {}) | creation_values(body)
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


# --- relations: POST, PUT and DELETE of ``$ref`` (Protocol 11.4.6)


def write_reference(request: WriteRequest, target: Target) -> Response:
    link = target.link
    assert link is not None  # a path cannot end in $ref otherwise
    if link.navigation.through is not None:
        require_right(link.entity_set, "link")
    else:
        holder = target if link.navigation.collection else link
        require_right(holder.entity_set, "update")
    require_current(request, link.entity_set.type, link.key)
    if request.http.method == "DELETE":
        _unrelate(request, target, link)
    elif target.is_collection and request.http.method == "PUT":
        request.writer.change_collection(link, _all_related(request, link))
    else:
        item = _reference(request, link, request.json(), "")
        key = request.writer.referred_key(link.navigation, item)
        with as_bad_reference("@odata.id"):
            request.writer.relate(link, key)
    return no_content(request.version)


def _unrelate(request: WriteRequest, target: Target, link: Link) -> None:
    key = target.key
    if target.is_collection:
        url = request.options.system.get("id")
        if url is None:
            raise InvalidQueryError("Say by $id which entity is no longer related.", position=0)
        item = EntityBody(target.type, "$id", reference=url)
        key = request.writer.referred_key(link.navigation, item)
        if key not in link.related(request.container):
            raise NotFoundError(f"{url} is not in {link.navigation.name}.")
    elif key is None:
        return  # none is related, as was asked for
    request.writer.unrelate(link, key)


def _all_related(request: WriteRequest, link: Link) -> Related:
    """The entities that are to be related, and no others (Protocol 4.01, 11.4.6.4)."""
    body = request.json()
    items = body.get("value") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise ValidationError([("value", "must be an array of references")])
    request.refuse_others(body, "value", of="a collection of references")
    references = [
        _reference(request, link, item, f"value[{index}]") for index, item in enumerate(items)
    ]
    return Related(link.navigation, "", references)


def _reference(request: WriteRequest, link: Link, body: Any, path: str) -> EntityBody:
    """``{"@odata.id": "Contacts(5)"}`` as what a body says of an entity."""
    url = body.get("@odata.id", body.get("@id")) if isinstance(body, dict) else None
    if not isinstance(url, str):
        raise ValidationError([(join_path(path, "@odata.id"), "must be the URL of an entity")])
    request.refuse_others(body, of="a reference", path=path)
    type_ = request.container.target(link.navigation)
    return EntityBody(type_, path or "@odata.id", reference=url)


# --- bytes: made by POST, replaced and removed by ``$value``


def create_media(request: WriteRequest, target: Target) -> Any:
    """Make a media entity of the body; returns its key."""
    service: Any = target.entity_set.service
    if not isinstance(service, edm.MediaService):
        raise NotImplementedInServiceError(
            f"The bytes of {target.entity_set.name} are not written through OData."
        )
    name = request.http.headers.get("Slug")
    return service.create_media(
        request.chunks(), request.http.headers.get("Content-Type", ""), name
    )


def write_bytes(request: WriteRequest, target: Target) -> Response:
    """Replace or remove the bytes of a media entity, or of a stream property."""
    is_removed = request.http.method == "DELETE"
    stream = () if target.prop is None else (target.prop.name,)
    require_right(target.entity_set, "update", *(["delete"] if is_removed and not stream else []))
    service: Any = target.entity_set.service  # has the function, or the method is refused
    version = version_to_match(request, target.type, target.key)
    if is_removed:
        remove = service.delete_stream if stream else service.delete_media
        remove(target.key, *stream, version)
    else:
        content_type = request.http.headers.get("Content-Type", "application/octet-stream")
        replace = service.replace_stream if stream else service.replace_media
        replace(target.key, *stream, request.chunks(), content_type, version)
    return no_content(request.version)
