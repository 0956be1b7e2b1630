"""Which system query options an address takes."""

from __future__ import annotations

from collections.abc import Collection

from app.odata.errors import QueryError, UnsupportedError
from app.odata.reading.resource import Resource
from app.odata.reading.value_json import value_options
from app.odata.syntax.options import OptionTexts
from app.odata.syntax.query_string import (
    COLLECTION_OPTIONS,
    COUNT_OPTIONS,
    ENTITY_OPTIONS,
    METADATA_OPTIONS,
)

_SHAPING = frozenset(("select", "expand"))


def check_allowed(texts: OptionTexts, resource: Resource) -> None:
    """Refuse an option that the address does not take.

    Raises: QueryError; UnsupportedError, changes of it are asked for.
    """
    allowed = _options_of(resource)
    for name in texts.system:
        if name not in allowed:
            raise QueryError(f"${name} is not allowed on this resource", 0, "$" + name)
    if "deltatoken" in texts.system:
        raise UnsupportedError("changes are not tracked", option="$deltatoken")


def _options_of(resource: Resource) -> Collection[str]:
    if resource.ending == "$count":
        return COUNT_OPTIONS
    if resource.ending == "$value":
        return METADATA_OPTIONS
    if resource.kind == "value":
        return value_options(resource.bound)
    allowed = COLLECTION_OPTIONS if resource.kind == "collection" else ENTITY_OPTIONS
    # A reference has nothing that could be selected or expanded (Protocol 11.2.8).
    return frozenset(allowed) - _SHAPING if resource.ending == "$ref" else allowed
