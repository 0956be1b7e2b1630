"""``If-Match`` and ``If-None-Match`` before a write (Protocol 8.2.4, 8.2.5, 11.4.1.1)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from app.errors import NotFoundError, PreconditionFailedError, refuse_any
from app.odata.model import edm
from app.odata.payload.reader import EntityBody
from app.odata.payload.values import join_path
from app.odata.protocol.etags import refuse_stale
from app.odata.writing.content import WriteRequest
from app.odata.writing.rows import find_key_locked, find_version, require_entity
from app.odata.writing.targets import Target


def version_to_match(request: WriteRequest, type_: edm.EntityType, key: Any | None) -> int | None:
    """The row version that the service must find; None when any will do.

    Raises: PreconditionFailedError; NotFoundError, there is no entity, or a condition names
        versions of nothing.
    """
    if key is None:
        raise NotFoundError(f"There is no such {type_.name}.")
    unless, only = request.if_none_match, request.if_match
    if unless is not None:
        exists, version = find_version(request.container, type_, key)
        if exists and unless.matches(version):
            raise PreconditionFailedError("There is such a record already.")
    if only is None or only.any:
        return None
    if type_.etag is not None and only.version is not None:
        return only.version
    version = require_entity(request.container, type_, key)
    refuse_stale(only, version)
    return version


def require_current(request: WriteRequest, type_: edm.EntityType, key: Any | None) -> None:
    """Check that an entity is there and fulfils the conditions, before something else is changed.

    Raises: NotFoundError; PreconditionFailedError.
    """
    version = require_entity(request.container, type_, key)
    refuse_stale(request.if_match, version)
    if (unless := request.if_none_match) is not None and unless.matches(version):
        raise PreconditionFailedError(f"The {type_.name} is the one that If-None-Match names.")


def is_upsert(request: WriteRequest, target: Target) -> bool:
    """Whether a PATCH or PUT makes the entity that it addresses (Protocol 11.4.4).

    It does where the client gives the key, and no entity has it. A key that the service gives
    cannot be made up. What somebody else makes in this moment is changed: ``target`` then has
    its key.
    Raises: NotFoundError; PreconditionFailedError, only an existing entity was to be changed.
    """
    may_create = may_be_made(target)
    if not target.is_missing and (
        not may_create or find_version(request.container, target.type, target.key)[0]
    ):
        return False
    if not may_create:
        raise NotFoundError(f"There is no such {target.type.name}.")
    if (
        made_meanwhile := find_key_locked(request.container, target.type, target.values)
    ) is not None:
        target.key = made_meanwhile
        return False
    if request.if_match is not None:
        raise PreconditionFailedError(f"There is no such {target.type.name} to change.")
    return True


def may_be_made(target: Target) -> bool:
    """Whether an entity is addressed by a key that its clients give; a blank text is none."""
    is_blank = any(str(value).isspace() or value == "" for value in target.values.values())
    return not is_blank and frozenset(target.values) in _given_keys(target.type)


def refuse_other_key(body: EntityBody) -> None:
    """Raise ValidationError where a new entity would not be found at the address it is sent to.

    One that exists can be given another alternate key; with the next change it has a new address.
    """
    refuse_any(
        (
            join_path(body.path, body.type.by_attribute[attribute].name),
            "must be the one of the address, or left out",
        )
        for attribute, value in body.address.items()
        if body.values.get(attribute, value) != value
    )


@lru_cache(maxsize=256)
def _given_keys(type_: edm.EntityType) -> frozenset[frozenset[str]]:
    """The attributes of each key that clients give."""
    return frozenset(
        frozenset(type_.properties[name].attribute for name in names) for names in type_.upsert_keys
    )
