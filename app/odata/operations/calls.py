"""Which operation a path names, and what it is bound to: text and model only, nothing is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import quote

from app.errors import InvalidQueryError, NotFoundError
from app.odata.model import edm
from app.odata.syntax.nodes import Argument, NameSegment, ResourcePath, Segment, SystemSegment
from app.odata.syntax.path import IN_PATH, PathText, parse_path, read_path


@dataclass(frozen=True)
class Call:
    """A path taken apart.

    ``bound_path`` is the resource before the operation, percent-encoded, empty for an import;
    ``bound_to`` the same as segments. ``arguments`` are those in parentheses, None without any.
    ``rest`` is what follows the operation, such as ``/$count``. ``overloads`` have the name.
    """

    name: str
    bound_path: str
    bound_to: ResourcePath
    arguments: tuple[Argument, ...] | None
    rest: str
    overloads: tuple[edm.Operation, ...]
    offset: int  # of the name, and of what comes after the call, in the path
    end: int

    @property
    def is_action(self) -> bool:
        return self.overloads[0].is_action

    @property
    def is_on_each(self) -> bool:
        """Whether the call is bound to each member of a collection (``/$each``)."""
        last = self.bound_to.segments[-1] if self.bound_to.segments else None
        return isinstance(last, SystemSegment) and last.name == "$each"

    @property
    def parameter_names(self) -> frozenset[str]:
        return frozenset(
            parameter.name for overload in self.overloads for parameter in overload.parameters
        )

    def bound(self, type_: edm.EntityType, *, is_collection: bool) -> Call:
        """The call with only the overloads for what the path leads to.

        Raises: NotFoundError, there is none, or it is not for each of many.
        """
        overloads = tuple(
            overload
            for overload in self.overloads
            if overload.is_bound_to(type_, collection=is_collection)
        )
        if not overloads:
            what = f"a collection of {type_.name}" if is_collection else f"a {type_.name}"
            raise NotFoundError(f"{self.name} cannot be called on {what}.")
        if self.is_on_each and not overloads[0].on_each:
            raise NotFoundError(
                f"{self.name} is called on one {type_.name} at a time, not on $each."
            )
        return replace(self, overloads=overloads)

    def overload(self, arguments: Collection[str]) -> edm.Operation:
        """The overload with exactly these parameters, or the only one that they are enough for.

        Raises: InvalidQueryError, there is none, with what is missing or unknown.
        """
        names = set(arguments)
        for overload in self.overloads:
            if {parameter.name for parameter in overload.parameters} == names:
                return overload
        enough = [overload for overload in self.overloads if overload.takes(names)]
        if len(enough) == 1:
            return enough[0]
        expected = " or ".join(
            replace(overload, name=self.name).signature for overload in self.overloads
        )
        raise InvalidQueryError(
            f"{self.name} does not take these parameters; it is {expected}.", position=self.offset
        )


class Operations:
    """The operations of a container, by their addresses."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container

    @cached_property
    def _imports(self) -> dict[str, tuple[edm.Operation, ...]]:
        unbound = (each for each in self._container.operations if not each.bound_to)
        return _grouped((each.import_name, each) for each in unbound if each.import_name)

    @cached_property
    def _bound(self) -> dict[str, tuple[edm.Operation, ...]]:
        return _grouped((each.name, each) for each in self._container.operations if each.bound_to)

    @cached_property
    def _bound_name(self) -> re.Pattern[str]:
        """What every path of a bound operation has in it; a namespace may perhaps be left out."""
        names = [f"{self._container.namespace}."]
        names += self._bound if self._container.is_default_namespace else ()
        return re.compile(f"/(?:{'|'.join(map(re.escape, names))})")

    def find(self, path: str) -> Call | None:
        """The call that a path, percent-encoded, stands for; None where it is a resource.

        Raises: QueryError, it can be neither.
        """
        first = path.lstrip("/").partition("/")[0].partition("(")[0]
        # A quick look, for nearly all paths name no operation.
        is_bound = self._bound and "/" in path and self._bound_name.search(path)
        if first not in self._imports and not is_bound:
            return None
        text = read_path(path)
        segments = parse_path(text).segments
        for index, segment in enumerate(segments):
            call = self._named(segment, is_first=index == 0)
            if call:
                assert isinstance(segment, NameSegment)
                return _call(text, segments, index, segment, call)
        return None

    def _named(self, segment: Segment, *, is_first: bool) -> tuple[edm.Operation, ...]:
        if not isinstance(segment, NameSegment):
            return ()
        if is_first:
            return self._imports.get(segment.name, ())
        prefix = f"{self._container.namespace}."
        if not segment.name.startswith(prefix) and not self._container.is_default_namespace:
            return ()
        return self._bound.get(segment.name.removeprefix(prefix), ())


def _call(
    text: PathText,
    segments: Sequence[Segment],
    index: int,
    segment: NameSegment,
    overloads: tuple[edm.Operation, ...],
) -> Call:
    end = segments[index + 1].offset if index + 1 < len(segments) else len(text.marked)
    rest = "/" + _encoded(text.marked[end:]) if index + 1 < len(segments) else ""
    if segment.key is not None:
        message = "A key cannot follow the parameters here; use $filter."
        at = segment.key[0].offset if segment.key else segment.offset
        raise InvalidQueryError(message, position=at)
    if rest and overloads[0].is_action:
        raise InvalidQueryError("Nothing can follow an action.", position=end)
    return Call(
        overloads[0].name if index else segment.name,
        _encoded(text.marked[: segment.offset]).strip("/"),
        ResourcePath(tuple(segments[:index])),
        segment.arguments,
        rest,
        overloads,
        segment.offset,
        end,
    )


def _encoded(marked: str) -> str:
    """Decoded text, an encoded slash marked by NUL, as it stands in a URL."""
    return "%2F".join(quote(piece, safe=IN_PATH) for piece in marked.split("\0"))


def _grouped(
    pairs: Iterable[tuple[str, edm.Operation]],
) -> dict[str, tuple[edm.Operation, ...]]:
    groups: dict[str, tuple[edm.Operation, ...]] = {}
    for name, operation in pairs:
        groups[name] = (*groups.get(name, ()), operation)
    return groups
