"""Syntax trees back to text that parses to an equal tree."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from app.odata.syntax import nodes
from app.odata.syntax.lexer import PRECEDENCE, UNARY_PRECEDENCE
from app.odata.syntax.literals import literal_text
from app.odata.syntax.nodes import ExpandItem, Node, QueryOptions, SelectItem, balance

# How tightly an expression holds together: what is looser than its place gets parentheses.
_MEMBERSHIP: t.Final = PRECEDENCE["in"]
_PRIMARY: t.Final = _MEMBERSHIP + 1
# What stands in a query string as it is.
_SAFE: t.Final = "!$'()*,/:;=@"


def query_text(options: QueryOptions) -> str:
    """A query string, percent-encoded, such as ``$filter=a%20eq%201&$top=5``."""
    pairs = [*option_texts(options), *options.custom]
    return "&".join(f"{quote(name, safe='$@')}={quote(text, safe=_SAFE)}" for name, text in pairs)


def option_texts(options: QueryOptions) -> Iterator[tuple[str, str]]:
    """Name (``$filter``, ``@alias``) and text of each option that is given, custom ones apart."""
    for name in ("filter", "apply", "search", "top", "skip"):
        if (node := getattr(options, name)) is not None:
            yield f"${name}", to_text(node)
    for name in ("compute", "orderby", "select", "expand"):
        if items := getattr(options, name):
            yield f"${name}", joined(items)
    if options.count is not None:
        yield "$count", str(options.count).lower()
    for name in ("levels", "index"):
        if (word := getattr(options, name)) is not None:
            yield f"${name}", str(word)
    yield from (("@" + name, to_text(value)) for name, value in options.aliases.items())


def to_text(node: Node) -> str:
    """The text of ``node``; slots are given anew when it is parsed."""
    return _FORMS[type(node)](node)


def joined(items: Iterable[Node], separator: str = ",") -> str:
    return separator.join(map(to_text, items))


def _part(before: str, part: Node | str | Iterable[Node] | None) -> str:
    """A part that may be left out, with what stands before it."""
    if not part:
        return ""
    if isinstance(part, str):
        return before + part
    return before + (to_text(part) if isinstance(part, Node) else joined(part))


def _step(base: Node | None, text: str) -> str:
    return text if base is None else f"{to_text(base)}/{text}"


# --- operators: parentheses only where the parser would read something else


def _level(node: Node) -> int:
    if isinstance(node, nodes.Binary):
        return PRECEDENCE[node.op]
    if isinstance(node, nodes.Unary):
        return UNARY_PRECEDENCE
    return _MEMBERSHIP if isinstance(node, nodes.In) else _PRIMARY


def _at_least(level: int, node: Node) -> str:
    return to_text(node) if _level(node) >= level else f"({to_text(node)})"


def _chain(node: nodes.Binary) -> list[Node]:
    """The operands of a chain of one operator; both sides where the parser joins them otherwise."""
    operands: list[Node] = []
    waiting: list[Node] = [node]
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, nodes.Binary) and operand.op == node.op:
            waiting += [operand.right, operand.left]
        else:
            operands.append(operand)
    offsets = [0] * (len(operands) - 1)
    rebuilt = balance(operands, offsets, lambda left, right, _: nodes.Binary(node.op, left, right))
    return operands if rebuilt == node else [node.left, node.right]


def _binary(node: nodes.Binary) -> str:
    level = PRECEDENCE[node.op]
    if node.op in ("and", "or", "AND", "OR"):
        return f" {node.op} ".join(_at_least(level + 1, part) for part in _chain(node))
    return f"{_at_least(level, node.left)} {node.op} {_at_least(level + 1, node.right)}"


def _unary(node: nodes.Unary) -> str:
    if node.op == "neg":
        return f"-({to_text(node.operand)})"  # -5 would be a literal
    return f"{node.op} {_at_least(UNARY_PRECEDENCE, node.operand)}"


def _in(node: nodes.In) -> str:
    left = _at_least(_MEMBERSHIP, node.left)
    right = node.right
    if isinstance(right, nodes.Collection) and all(
        isinstance(item, nodes.Literal) for item in right.items
    ):
        return f"{left} in ({joined(right.items)})"
    if _level(right) >= _PRIMARY:
        return f"{left} in {to_text(right)}"
    return f"{left} in (({to_text(right)}))"  # one pair of parentheses would begin a list


def _object(node: nodes.JsonObject) -> str:
    members = (f"{json.dumps(name)}:{to_text(value)}" for name, value in node.members)
    return "{" + ",".join(members) + "}"


def _count(node: nodes.Count) -> str:
    options = {"$filter": node.filter, "$search": node.search}
    texts = ";".join(f"{name}={to_text(part)}" for name, part in options.items() if part)
    return _step(node.source, f"$count({texts})" if texts else "$count")


def _case(node: nodes.Case) -> str:
    # The blank keeps 10:20 from being a time of day.
    pairs = (f"{to_text(condition)}: {to_text(value)}" for condition, value in node.branches)
    return f"case({','.join(pairs)})"


# --- $search


def _phrase(node: nodes.SearchPhrase) -> str:
    if not node.text:
        return "''"
    return '"' + node.text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- $select, $expand


def _in_parentheses(options: QueryOptions | None) -> str:
    if options is None:
        return ""
    return f"({';'.join(f'{name}={text}' for name, text in option_texts(options))})"


def _select_item(node: SelectItem) -> str:
    parameters = "" if node.parameters is None else f"({','.join(node.parameters)})"
    return "/".join(node.path) + parameters + _in_parentheses(node.options)


def _expand_item(node: ExpandItem) -> str:
    suffix = "/$ref" if node.ref else "/$count" if node.count_only else ""
    return "/".join(node.path) + suffix + _in_parentheses(node.options)


# --- $apply


def _aggregate_item(node: nodes.AggregateItem) -> str:
    origins = "".join(" " + to_text(origin) for origin in node.origins)
    method, alias = _part(" with ", node.method), _part(" as ", node.alias)
    return to_text(node.expression) + method + origins + alias


_FORMS: t.Final[dict[type[Node], Callable[[t.Any], str]]] = {
    nodes.Binary: _binary,
    nodes.Unary: _unary,
    nodes.In: _in,
    nodes.Literal: lambda node: literal_text(node.value, node.kind, node.type_name),
    nodes.Collection: lambda node: f"[{joined(node.items)}]",
    nodes.JsonObject: _object,
    nodes.TypeName: lambda node: f"Collection({node.name})" if node.is_collection else node.name,
    nodes.It: lambda node: "$it",
    nodes.This: lambda node: "$this",
    nodes.These: lambda node: "$these",
    nodes.Root: lambda node: "$root",
    nodes.Alias: lambda node: "@" + node.name,
    nodes.Member: lambda node: _step(node.base, node.name),
    nodes.TypeCast: lambda node: _step(node.base, node.type_name),
    nodes.Annotation: lambda node: _step(node.base, f"@{node.term}{_part('#', node.qualifier)}"),
    nodes.Argument: lambda node: (f"{node.name}=" if node.name else "") + to_text(node.value),
    nodes.KeyPredicate: lambda node: f"{to_text(node.base)}({joined(node.arguments)})",
    nodes.BoundCall: lambda node: _step(node.base, f"{node.name}({joined(node.arguments)})"),
    nodes.FilterSegment: lambda node: _step(node.base, f"$filter({to_text(node.predicate)})"),
    nodes.Lambda: lambda node: _step(
        node.source, f"{node.op}({_part(f'{node.variable}:', node.predicate)})"
    ),
    nodes.Count: _count,
    nodes.Call: lambda node: f"{node.name}({joined(node.arguments)})",
    nodes.Case: _case,
    nodes.OrderItem: lambda node: to_text(node.expression) + (" desc" if node.descending else ""),
    nodes.ComputeItem: lambda node: f"{to_text(node.expression)} as {node.alias}",
    nodes.SearchTerm: lambda node: "(NOT)" if node.text == "NOT" else node.text,
    nodes.SearchPhrase: _phrase,
    SelectItem: _select_item,
    ExpandItem: _expand_item,
    nodes.Apply: lambda node: joined(node.transformations, "/"),
    nodes.AggregateItem: _aggregate_item,
    nodes.AggregateFrom: lambda node: (
        f"from {joined(node.properties)}{_part(' with ', node.method)}"
    ),
    nodes.AggregateCall: lambda node: f"{to_text(node.source)}/aggregate({to_text(node.item)})",
    nodes.Aggregate: lambda node: f"aggregate({joined(node.items)})",
    nodes.Rollup: lambda node: (
        f"rollup({'$all,' if node.with_total else ''}{joined(node.properties)})"
    ),
    nodes.GroupBy: lambda node: f"groupby(({joined(node.keys)}){_part(',', node.apply)})",
    nodes.OptionTransformation: lambda node: f"{node.option}({_part('', node.value)})",
    nodes.Identity: lambda node: "identity",
    nodes.Concat: lambda node: f"concat({joined(node.sequences)})",
    nodes.TopBottom: lambda node: f"{node.kind}({to_text(node.amount)},{to_text(node.expression)})",
    nodes.NestItem: lambda node: f"{to_text(node.apply)} as {node.alias}",
    nodes.Nest: lambda node: (
        f"{nodes.name_of(node)}({f'{to_text(node.path)},' if node.path else ''}"
        f"{joined(node.items)})"
    ),
    nodes.Join: lambda node: (
        f"{nodes.name_of(node)}({to_text(node.path)} as {node.alias}{_part(',', node.apply)})"
    ),
    nodes.ExpandTransformation: lambda node: (
        f"expand({to_text(node.path)}{_part(',', node.apply)}{_part(',', node.nested)})"
    ),
    nodes.FunctionTransformation: lambda node: f"{node.name}({joined(node.arguments)})",
}
