"""Which operation a path names, what it is bound to, and the values of its parameters: text and
model only, nothing is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from math import isfinite
from typing import Any
from urllib.parse import quote

from app.errors import InvalidQueryError, NotFoundError, ValidationError, telling_all
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.payload.values import Problems, typed_reader
from app.odata.syntax import nodes
from app.odata.syntax.literals import literal_text
from app.odata.syntax.nodes import (
    Alias,
    Argument,
    JsonObject,
    Literal,
    NameSegment,
    Node,
    ResourcePath,
    Segment,
    SystemSegment,
)
from app.odata.syntax.options import OptionTexts, parse_aliases, parse_filter
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
        """The overload with these parameters.

        Raises: InvalidQueryError, there is none, with what is missing or unknown.
        """
        if overload := edm.overload_for(self.overloads, arguments):
            return overload
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
    def _bound_name(self) -> re.Pattern[str]:
        """What every path of a bound operation has in it; a namespace may perhaps be left out."""
        names = [f"{self._container.namespace}."]
        if self._container.is_default_namespace:
            names += (each.name for each in self._container.operations if each.bound_to)
        return re.compile(f"/(?:{'|'.join(map(re.escape, names))})")

    def find(self, path: str) -> Call | None:
        """The call that a path, percent-encoded, stands for; None where it is a resource.

        Raises: QueryError, it can be neither.
        """
        first = path.lstrip("/").partition("/")[0].partition("(")[0]
        # A quick look, for nearly all paths name no operation.
        is_bound = "/" in path and self._bound_name.search(path)
        if first not in self._container.imports and not is_bound:
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
            return self._container.imports.get(segment.name, ())
        named = self._container.operations_called(segment.name)
        return tuple(operation for operation in named if operation.bound_to)


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


# --- parameters: from a body, or from the address of a function


def body_arguments(
    operation: edm.Operation, body: Any, *, text_numbers: bool = False
) -> dict[str, Any]:
    """The parameters of an action, as the body gives them.

    Raises: ValidationError, with every parameter that is wrong, unknown or missing.
    """
    if not isinstance(body, dict):
        raise ValidationError([("", "The body must be a JSON object with the parameters.")])
    body_values = {name: value for name, value in body.items() if "@" not in name}
    problems = Problems()
    known = {parameter.name for parameter in operation.parameters}
    for name in body_values:
        if name not in known:
            problems.add_unknown(name, name, known, operation.name)
    values = {
        parameter.name: _read(parameter, body_values[parameter.name], problems, text_numbers)
        for parameter in operation.parameters
        if parameter.name in body_values
    }
    for parameter in operation.parameters:
        if parameter.name not in body_values and not (parameter.nullable or parameter.optional):
            problems.add(parameter.name, "is required")
    if problems.details:
        # The check tells of the rest where it refuses something: what is wrong stays as it came.
        wrong = {re.split(r"[.[]", detail.field)[0] for detail in problems.details}
        read = {name: value for name, value in values.items() if name not in wrong}
        with telling_all(partial(operation.check or _nothing, body_values | read)):
            problems.raise_any()
    return values


def _nothing(_: Mapping[str, Any]) -> None:
    """The check of an operation that has none."""


def body_overload(call: Call, body: Any) -> edm.Operation:
    """The overload of an action that the names in a body mean; one alone is it in any case."""
    if len(call.overloads) == 1:
        return call.overloads[0]
    names = [name for name in body if "@" not in name] if isinstance(body, dict) else []
    try:
        return call.overload(names)
    except InvalidQueryError as error:
        raise ValidationError([("", error.message)]) from error


def url_arguments(call: Call, options: OptionTexts) -> tuple[edm.Operation, dict[str, Any]]:
    """The overload of a function and its parameters, as the address gives them.

    They stand in the parentheses; as ``@name`` or ``name`` in the query where there are none
    (Protocol 11.5.4.1.1).
    Raises: InvalidQueryError, no overload has these; ValidationError, a value is wrong.
    """
    written: dict[str, Node | str] = {}
    for argument in call.arguments or ():
        if argument.name is None:
            raise InvalidQueryError(
                f"Name the parameters of {call.name}.", position=argument.offset
            )
        if argument.name in written:
            raise InvalidQueryError(
                f"{argument.name} must not appear more than once.", position=argument.offset
            )
        written[argument.name] = argument.value
    aliases = parse_aliases(options)
    if not call.arguments:
        names = call.parameter_names
        written |= {name: node for name, node in aliases.items() if name in names}
        written |= {name: text for name, text in options.custom if name in names}
        strange = [name for name, _ in options.custom if name not in names]
        if strange and names:
            raise InvalidQueryError(f"{call.name} has no parameter {strange[0]}.", position=0)
        counts = Counter([*aliases, *(name for name, _ in options.custom)])
        for name in names:
            if counts[name] > 1:
                raise InvalidQueryError(f"{name} must not appear more than once.", position=0)
    overload = call.overload(written)
    problems = Problems()
    values = {}
    for parameter in overload.parameters:
        if parameter.name in written:
            value = _plain(written[parameter.name], parameter, aliases)
            if value is None and parameter.optional:
                continue  # as if it had been left out
            values[parameter.name] = _read(parameter, value, problems)
    problems.raise_any()
    return overload, values


def _read(
    parameter: edm.Parameter, value: Any, problems: Problems, text_numbers: bool = False
) -> Any:
    if value is None:
        if not parameter.nullable:
            problems.add(parameter.name, "must not be null")
        return None
    assert not isinstance(parameter.type, edm.EntityType)  # no operation of ours takes entities
    value_read = typed_reader(parameter.type, text_numbers)(value, parameter.name, problems)
    if (
        parameter.allowed is not None
        and isinstance(value_read, str)
        and value_read not in parameter.allowed
    ):
        problems.add(parameter.name, f"must be one of {', '.join(parameter.allowed)}")
    return value_read


def _plain(node: Node | str, parameter: edm.Parameter, aliases: Mapping[str, Node]) -> Any:
    """What is written in an address as JSON would have it."""
    if isinstance(node, str):
        node = _of_text(node, parameter)
    match node:
        case Alias(name=name):
            if name not in aliases:
                return None
            return _plain(aliases[name], parameter, {})
        case nodes.Collection(items=items):
            return [_plain(item, parameter, aliases) for item in items]
        case JsonObject(members=members):
            return {name: _plain(item, parameter, aliases) for name, item in members}
        case Literal():
            return _of_literal(node)
    raise InvalidQueryError(f"{parameter.name} must be a literal.", position=node.offset)


def _of_text(text: str, parameter: edm.Parameter) -> Node:
    """The value of a query option; a text may stand there without quotes."""
    if parameter.type == edm.STRING and not (len(text) > 1 and text[0] == text[-1] == "'"):
        return Literal(text, "string")
    try:
        return parse_filter(text)
    except QueryError as error:
        raise ValidationError([(parameter.name, error.message)]) from error


def _of_literal(literal: Literal) -> Any:
    value = literal.value
    if value is None or isinstance(value, bool | int | Decimal | str):
        return value
    if isinstance(value, float) and isfinite(value):
        return Decimal(repr(value))
    text = literal_text(value, literal.kind)
    return text.split("'")[1] if "'" in text else text  # without the name of its type
