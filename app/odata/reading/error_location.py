"""Where a query asks for what only the database can refuse: results out of range, great depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from app.odata.errors import QueryError
from app.odata.syntax import nodes
from app.odata.syntax.lexer import Limits
from app.odata.syntax.options import OptionTexts, parse_options
from app.odata.syntax.path import PathText, parse_path

_OPERATORS = frozenset(("add", "sub", "mul", "div", "divby", "mod"))
_METHODS = frozenset(("sum", "average"))
# An option of the query string, None for the path, and a node of it with what it stands in.
_Place = tuple[str | None, nodes.Node, int]


def out_of_range(path: PathText, texts: OptionTexts, limits: Limits) -> QueryError:
    """The error that a result is out of range, with the first calculation that may have it."""
    places = [
        (option, node) for option, node, _ in _places(path, texts, limits) if _calculates(node)
    ]
    if not places:
        return QueryError("A value in the query is out of range.")
    option, node = min(
        places, key=lambda location: (location[0] != places[0][0], location[1].offset)
    )
    which = "the result" if len(places) == 1 else "the result here or of a later calculation"
    return QueryError(f"{which} is out of range", node.offset, option)


def too_deep(path: PathText, texts: OptionTexts, limits: Limits) -> QueryError:
    """The error that the database takes no query that is nested so deep, with the deepest part."""
    option, node, _ = max(_places(path, texts, limits), key=lambda location: location[2])
    return QueryError("the query is nested too deep", node.offset, option)


def _calculates(node: nodes.Node) -> bool:
    match node:
        case nodes.Binary(op=op):
            return op in _OPERATORS
        case nodes.Unary(op=op):
            return op == "neg"
        case nodes.AggregateItem(method=method):
            return method in _METHODS
        case nodes.Call(name=name):
            return "." in name
    return isinstance(node, nodes.BoundCall)


def _places(path: PathText, texts: OptionTexts, limits: Limits) -> Iterator[_Place]:
    """Every part of the path and of the options, in the order of the options' fields."""
    for segment in parse_path(path, limits=limits).segments:
        yield from _below(None, segment)
    options = parse_options(texts, limits=limits)
    for name in (field.name for field in fields(options) if field.name != "aliases"):
        for node in nodes.children(nodes.QueryOptions(**{name: getattr(options, name)})):
            yield from _below(f"${name}", node)
    for name, node in options.aliases.items():
        yield from _below(f"@{name}", node)


def _below(option: str | None, root: nodes.Node) -> Iterator[_Place]:
    yield option, root, 0
    yield from ((option, node, depth) for node, depth in nodes.descendants(root))
