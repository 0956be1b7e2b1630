"""All that is wrong with a body, in one answer: what cannot be read, and what a service refuses.

A service sees only values that could be read, and a write stops at the first entity that is
refused. Then all entities of the body are looked at, without a write: their values, what these
refer to, and rules over several of them (docs/adr/0045). Errors of a service are told with the
place in the body that the client sent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from app.errors import (
    ApiError,
    Detail,
    InvalidQueryError,
    MethodNotAllowedError,
    NotFoundError,
    ValidationError,
    refuse_any,
)
from app.odata.model import edm
from app.odata.names import snake
from app.odata.payload.reader import EntityBody, Related
from app.odata.payload.values import join_path
from app.odata.writing.values import creation_values, replacement_values

_FIRST_STEP = re.compile(r"\w+")


class at_place:  # stands in a with statement, as those of contextlib do
    """Name the fields of an error by their places in the body of an entity.

    A service calls the lines of an invoice ``lineItems[0]``, by their places among all that there
    are then; the body has ``LineItems``, perhaps only some of them.
    """

    __slots__ = ("_body",)

    def __init__(self, body: EntityBody) -> None:
        self._body = body

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValidationError):
            raise ValidationError(_moved(self._body, error.details)) from error
        if isinstance(error, ApiError) and any(
            detail.field != "permission" for detail in error.details
        ):
            error.details = _moved(self._body, error.details)


@contextmanager
def as_bad_reference(path: str) -> Iterator[None]:
    """An entity that a body points at and that is not there is a mistake in the body.

    Raises: ValidationError, in place of NotFoundError, of what is wrong with the URL, and of
        MethodNotAllowedError, for the address of the request is another.
    """
    try:
        yield
    except NotFoundError as error:
        raise ValidationError([(path, "points at an entity that does not exist")]) from error
    except MethodNotAllowedError as error:
        raise ValidationError([(path, error.message)]) from error
    except InvalidQueryError as error:
        raise ValidationError([(path, f"must be the URL of an entity: {error.message}")]) from error


def _moved(body: EntityBody, details: tuple[Detail, ...]) -> tuple[Detail, ...]:
    return tuple(detail._replace(field=_place_in(body, detail.field)) for detail in details)


def _place_in(body: EntityBody, field: str) -> str:
    first = _FIRST_STEP.match(field)
    if first is None or first[0] in body.type.properties:
        return join_path(body.path, field)
    name, rest = body.type.folded.get(first[0].lower(), first[0]), field[first.end() :]
    for related in body.related:
        for item in related.items if related.navigation.name == name else ():
            number = f"[{item.position}]"
            if rest.startswith(number):
                return (item.path + rest.removeprefix(number)).removeprefix(".")
    return join_path(body.path, name + rest)


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
            with at_place(body):
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
    target_set = container.set_of(nav)
    foreign_keys = (nav.foreign_key,) if nav.collection and nav.foreign_key is not None else ()
    for item in related.items:
        if item.reference is None:
            yield from entity_problems(container, target_set, item, kind_of(item), foreign_keys)


def _is_whole(related: Related) -> bool:
    """Whether a body has all values of the members of an owned collection."""
    is_new = not any(item.key or item.reference or item.removed for item in related.items)
    return related.navigation.owned and not related.is_delta and is_new
