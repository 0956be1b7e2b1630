"""Control information inside an entity: its tag, type, address and links (JSON Format 4.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.odata import edm
from app.odata.binding.values import type_name
from app.odata.reading.bound import ExpandMember, Projection
from app.odata.reading.formats import Format
from app.odata.sql.spelled import Part

# What JSON itself tells: no annotation is needed (JSON Format 4.6.3).
_EVIDENT = frozenset(("Edm.String", "Edm.Boolean", "Edm.Double"))


def entity_control(projection: Projection, format_: Format) -> Iterator[Sequence[Part]]:
    """What stands before the properties: the tag unless ``none``, type and address if ``full``."""
    scope = projection.scope
    type_ = scope.type
    if format_.metadata == "none" or not type_.key:  # what $apply made is no entity
        return
    if format_.metadata == "full":
        namespace = scope.context.container.namespace
        yield [f'"{format_.control("type")}":"#{namespace}.{type_.name}"']
        yield [f'"{format_.control("id")}":"', *projection.address, '"']
    if type_.etag is not None:
        tag = scope.columns[type_.etag]
        yield [f'"{format_.control("etag")}":"W/\\"', tag, '\\""']
    if format_.metadata == "full":
        yield [f'"{format_.control("editLink")}":"', *projection.address, '"']
    if type_.has_stream:
        yield [f'"{format_.control("mediaReadLink")}":"', *projection.address, '/$value"']


def navigation_links(projection: Projection, format_: Format) -> Iterator[Sequence[Part]]:
    """Where related entities and the relations to them are read, if ``full``."""
    if format_.metadata != "full":
        return
    expanded = {
        member.navigation.name for member in projection.members if isinstance(member, ExpandMember)
    }
    for name in projection.scope.type.navigation:
        url = [*projection.address, f"/{name}"]
        yield [f'"{format_.control("associationLink", name)}":"', *url, '/$ref"']
        if name not in expanded:
            yield [f'"{format_.control("navigationLink", name)}":"', *url, '"']


def type_annotation(name: str, type_: edm.EdmType, format_: Format) -> Sequence[Part]:
    """The type of a property whose JSON does not tell it, if ``full``."""
    if format_.metadata != "full" or type_name(type_) in _EVIDENT:
        return ()
    if isinstance(type_, edm.PrimitiveType) and type_ != edm.UNTYPED:
        return [f'"{format_.control("type", name)}":"#{type_.name.removeprefix("Edm.")}"']
    return ()
