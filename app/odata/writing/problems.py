"""All that is wrong with a body, in one answer: what cannot be read, and what a service refuses.

A service sees only values that could be read, and a write stops at the first entity that is
refused. Then all entities of the body are looked at, without a write: their values, what these
refer to, and rules over several of them (docs/adr/0045).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from app.errors import Detail, ValidationError, refuse_any
from app.odata.model import edm
from app.odata.model.writable import set_of
from app.odata.payload.reader import EntityBody, Related, snake
from app.odata.writing.error_location import at_place
from app.odata.writing.values import creation_values, replacement_values

# What a write does with an entity; a change may leave out any value.
Kind = Literal["creation", "change", "replacement"]


def entity_problems(
    container: edm.EntityContainer,
    entity_set: edm.EntitySet | None,
    body: EntityBody,
    kind: Kind,
    settled_names: Collection[str] = (),
    key: Any | None = None,
) -> Iterator[Detail]:
    """What is wrong with the values of an entity and of all that are within it.

    Args:
        settled_names: the attributes that the place of the entity gives.
        key: of the entity, where the body does not say it.
    """
    if body.removed:
        return
    service = None if entity_set is None else entity_set.service
    foreign_keys = (nav.foreign_key for nav in (related.navigation for related in body.related)
            if nav.foreign_key is not None and not nav.collection)  # fmt: skip
    settled = frozenset((*settled_names, *foreign_keys, *body.refused))
    values = creation_values(body)
    if kind == "replacement":
        try:
            values = replacement_values(body, settled)
        except ValidationError as error:
            yield from error.details
    if isinstance(service, edm.Checking):
        lists = {
            snake(related.navigation.name): [creation_values(item) for item in related.items]
            for related in body.related
            if _is_whole(related)
        }
        unsettled = {name: value for name, value in values.items() if name not in settled}
        about = None if kind == "creation" else body.given_key if key is None else key
        try:
            with at_place(body.type, body.path):
                refuse_any(
                    service.problems(
                        unsettled | lists, partial=kind != "creation", settled=settled, key=about
                    )
                )
        except ValidationError as error:
            yield from error.details
    for related in body.related:
        if not related.navigation.owned:
            yield from _related_problems(container, related)


def member_problems(
    owner: edm.Service | None,
    navigation: edm.NavigationProperty,
    values: Mapping[str, Any],
    key: Any,
) -> Iterator[Detail]:
    """What is wrong with one member of an owned collection, named as in its own body.

    Args:
        owner: the service of the entity that owns it.
        key: of the entity that owns it.
    """
    if isinstance(owner, edm.Checking):
        lists = {snake(navigation.name): [dict(values)]}
        for detail in owner.problems(lists, partial=True, key=key):
            yield detail._replace(field=detail.field.partition("].")[2] or detail.field)


def kind_of(body: EntityBody) -> Kind:
    """What a write does with an entity among others: one without a key is made."""
    return "creation" if body.given_key is None and body.reference is None else "change"


def _related_problems(container: edm.EntityContainer, related: Related) -> Iterator[Detail]:
    nav = related.navigation
    target_set = set_of(container, nav)
    foreign_keys = (nav.foreign_key,) if nav.collection and nav.foreign_key is not None else ()
    for item in related.items:
        if item.reference is None:
            yield from entity_problems(container, target_set, item, kind_of(item), foreign_keys)


def _is_whole(related: Related) -> bool:
    """Whether a body has all values of the members of an owned collection."""
    is_new = not any(item.key or item.reference or item.removed for item in related.items)
    return related.navigation.owned and not related.is_delta and is_new
